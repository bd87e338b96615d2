import { attributes, html, type Html, type Value } from "../../html.ts";
import { icon, type IconName } from "./icon.ts";

export type Choice = {
  icon: IconName;
  title: Value;
  hint?: Value;
  /** What the form sends when it is chosen. */
  name: string;
  value: string;
};

/** A row to press that sends its form. */
export const choice = (shape: Choice): Html =>
  html`<li><button ${attributes({ type: "submit", class: "choice", name: shape.name, value: shape.value })}>
<span class="sign">${icon(shape.icon)}</span><span class="who"><span class="name">${shape.title}</span>${shape.hint !== undefined && html`<span class="login">${shape.hint}</span>`}</span>${icon("next")}
</button></li>`;

export const choices = (rows: readonly Value[]): Html => html`<ul class="choices">${rows}</ul>`;
