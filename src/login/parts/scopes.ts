import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { isTextKey } from "../../texts/texts.ts";
import { short } from "./short.ts";

// What all of a list together take, of which a request may hold a hundred.
const mostOfScopes = 6_000;

/** Scopes in words; those that have none by their name. */
export function scopeList(page: Page, scopes: readonly string[]): Html {
  const all = [...new Set(scopes)];
  const most = mostOfScopes / all.length;
  const rows = all.map((scope) => html`<li>${scopeText(page, short(scope, most))}</li>`);
  return html`<ul class="scopes">${rows}</ul>`;
}

/** One scope in words. */
export function scopeText({ t }: Page, scope: string): string {
  const key = `scope.${scope}`;
  const isKnown = scope !== "other" && isTextKey(key);
  return isKnown ? t(key) : t("scope.other", { scope });
}
