import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { isTextKey } from "../../texts/texts.ts";
import { icon } from "./icon.ts";

/** Scopes in words; those that have none by their name. */
export function scopeList(page: Page, scopes: readonly string[]): Html {
  const rows = [...new Set(scopes)].map(
    (scope) => html`<li>${icon("check")}<span>${scopeText(page, scope)}</span></li>`,
  );
  return html`<ul class="scopes">${rows}</ul>`;
}

/** One scope in words. */
export function scopeText({ t }: Page, scope: string): string {
  const key = `scope.${scope}`;
  const isKnown = scope !== "other" && isTextKey(key);
  return isKnown ? t(key) : t("scope.other", { scope });
}
