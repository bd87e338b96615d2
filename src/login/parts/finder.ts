import { caseFold } from "../../storage/case-fold.ts";
import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { field } from "./field.ts";
import { button, hiddenFields } from "./form.ts";

/** Asks for a part of a name: a form that leads to its own page with `name` in the address. */
export const finder = (page: Page, path: string, name: string): Html =>
  html`<form class="form" method="get" action="${path}" role="search">${hiddenFields(page)}
${field(page, { name: "name", label: "find.name", autocomplete: "off", value: name, isOptional: true })}
${button(page.t("find.submit"), { look: "plain" })}
</form>`;

/** Those whose name holds a text, whatever the case of its letters. */
export function named<T extends { name: string }>(all: readonly T[], text: string): readonly T[] {
  const wanted = caseFold(text.trim());
  return wanted === "" ? all : all.filter(({ name }) => caseFold(name).includes(wanted));
}
