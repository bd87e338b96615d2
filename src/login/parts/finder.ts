import { caseFold } from "../../storage/case-fold.ts";
import { attributes, html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { button, hiddenFields } from "./form.ts";

/** Asks for a part of a name: a form that leads to its own page with `name` in the address. */
export const finder = (page: Page, path: string, name: string): Html =>
  html`<form class="form" method="get" action="${path}" role="search">${hiddenFields(page)}
<div class="field"><label for="name">${page.t("find.name")}</label>
<div class="control"><input ${attributes({ id: "name", name: "name", type: "text", class: "input", value: name, autocomplete: "off", maxlength: 200 })}></div></div>
${button(page.t("find.submit"), { look: "plain" })}
</form>`;

/** Those whose name holds a text, whatever the case of its letters. */
export function named<T extends { name: string }>(all: readonly T[], text: string): readonly T[] {
  const wanted = caseFold(text.trim());
  return wanted === "" ? all : all.filter(({ name }) => caseFold(name).includes(wanted));
}
