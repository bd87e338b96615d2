import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { field } from "./field.ts";

/** What a password must have; the settings of passwords, without the lists of common ones. */
export type PasswordRules = {
  minLength: number;
  requiresUppercase: boolean;
  requiresLowercase: boolean;
  requiresNumber: boolean;
  requiresSymbol: boolean;
};

/** The field `new_password` with what it must have. */
export function newPassword(page: Page, rules: PasswordRules, isFirst = false): Html {
  const { t } = page;
  const needs = [
    t("policy.length", { count: rules.minLength }),
    rules.requiresUppercase && t("policy.uppercase"),
    rules.requiresLowercase && t("policy.lowercase"),
    rules.requiresNumber && t("policy.number"),
    rules.requiresSymbol && t("policy.symbol"),
  ].filter((need) => need !== false);
  return html`${field(page, {
    name: "new_password",
    label: "field.newPassword",
    type: "password",
    autocomplete: "new-password",
    describedBy: "password-rules",
    isFirst,
  })}
<div class="rules" id="password-rules"><p>${t("policy.title")}</p><ul>${needs.map((need) => html`<li>${need}</li>`)}</ul></div>`;
}
