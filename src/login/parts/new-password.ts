import { attributes, html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { field } from "./field.ts";
import { icon } from "./icon.ts";

/** What a password must have; the settings of passwords, without the lists of common ones. */
export type PasswordRules = {
  minLength: number;
  requiresUppercase: boolean;
  requiresLowercase: boolean;
  requiresNumber: boolean;
  requiresSymbol: boolean;
};

export type NewPasswordShape = {
  isFirst?: boolean;
  /** It takes the place of no other. */
  isFirstEver?: boolean;
};

/** The field `new_password` with what it must have; a script ticks what a password that is being typed has. */
export function newPassword(page: Page, rules: PasswordRules, shape: NewPasswordShape = {}): Html {
  const { t } = page;
  const needs = [
    rule("length", t("policy.length", { count: rules.minLength }), rules.minLength),
    rules.requiresUppercase && rule("uppercase", t("policy.uppercase")),
    rules.requiresLowercase && rule("lowercase", t("policy.lowercase")),
    rules.requiresNumber && rule("number", t("policy.number")),
    rules.requiresSymbol && rule("symbol", t("policy.symbol")),
  ];
  return html`${field(page, {
    name: "new_password",
    label: shape.isFirstEver ? "field.password" : "field.newPassword",
    type: "password",
    autocomplete: "new-password",
    describedBy: "password-rules",
    isFirst: shape.isFirst ?? false,
  })}
<div class="rules" id="password-rules"><p>${t("policy.title")}</p><ul data-rules-of="new-password">${needs}</ul></div>`;
}

const rule = (name: string, text: string, least?: number) =>
  html`<li ${attributes({ "data-rule": name, "data-least": least })}>${icon("check")}<span>${text}</span></li>`;
