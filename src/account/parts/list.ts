import { attributes, html, type Html, type Value } from "../../html.ts";
import type { Page } from "../../login/page.ts";
import { form } from "../../login/parts/form.ts";
import { icon, type IconName } from "../../login/parts/icon.ts";

export type Item = {
  icon: IconName;
  title: Value;
  /** What else there is to say of it, a line each. */
  lines?: readonly Value[];
  /** What stands at its end. */
  action?: Value;
};

/** Things of an account, and what can be done to each. */
export const list = (items: readonly Item[]): Html =>
  html`<ul class="items">${items.map(
    ({ icon: sign, title, lines = [], action }) =>
      html`<li><span class="sign">${icon(sign)}</span><span class="line"><span class="who"><span class="name">${title}</span>${lines.filter((line) => line !== undefined && line !== false && line !== "").map((line) => html`<span class="login">${line}</span>`)}</span>${action}</span></li>`,
  )}</ul>`;

export type Press = { action: string } & PressButton;

type PressButton = {
  name: string;
  value: string;
  label: Value;
  /** What it is about, for those who do not see where it stands. */
  about?: string;
};

/** A small form that is one button. */
export const press = (page: Page, { action, ...shape }: Press): Html =>
  form(page, { action, class: "press" }, pressButton(shape));

/** The button alone, where many of a list share a form. */
export const pressButton = ({ name, value, label, about }: PressButton): Html =>
  html`<button ${attributes({ type: "submit", class: "button plain small", name, value })}>${label}${about !== undefined && html`<span class="hidden"> ${about}</span>`}</button>`;

/** A row that leads to a page. */
export const way = (shape: { path: string; icon: IconName; title: Value; hint?: Value }): Html =>
  html`<li><a class="choice" href="${shape.path}"><span class="sign">${icon(shape.icon)}</span><span class="who"><span class="name">${shape.title}</span>${shape.hint !== undefined && html`<span class="login">${shape.hint}</span>`}</span>${icon("next")}</a></li>`;

/** A part of a page, with a title of its own. */
export const section = (title: Value, content: Value): Html =>
  html`<section class="part"><h2>${title}</h2>${content}</section>`;

/** Where there is nothing to show. */
export const none = (text: Value): Html => html`<p class="small">${text}</p>`;
