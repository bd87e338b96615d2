import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { isTextKey } from "../../texts/texts.ts";
import { icon } from "./icon.ts";

/** Scopes in words; those that have none by their name. */
export function scopeList({ t }: Page, scopes: readonly string[]): Html {
  const rows = [...new Set(scopes)].map((scope) => {
    const key = `scope.${scope}`;
    const isKnown = scope !== "other" && isTextKey(key);
    return html`<li>${icon("check")}<span>${isKnown ? t(key) : t("scope.other", { scope })}</span></li>`;
  });
  return html`<ul class="scopes">${rows}</ul>`;
}
