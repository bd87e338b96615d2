import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { field } from "../parts/field.ts";
import { button, form, link, submit } from "../parts/form.ts";
import { icon } from "../parts/icon.ts";
import { paths } from "../paths.ts";

export type PasswordView = {
  account: Account;
  allowsReset: boolean;
  /** A code by mail will do as well. */
  allowsEmail: boolean;
  /** Browsers say whether they make passkeys by themselves. */
  preparesPasskeys: boolean;
};

/** Which a script sets to `true` in browsers that make passkeys by themselves. */
export const preparesPasskeysField = "prepares_passkeys";

/** Asks for the password of who was named. Sends `password`; `send` to the page of codes by mail. */
export function passwordPage(page: Page, view: PasswordView): string {
  const { account, allowsReset, allowsEmail, preparesPasskeys } = view;
  const { t } = page;
  return layout(
    page,
    {
      title: t("password.title"),
      scripts: ["login.js", ...(preparesPasskeys ? (["passkey.js"] as const) : [])],
    },
    html`${accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${form(
  page,
  { action: paths.password },
  html`<input type="text" autocomplete="username" value="${account.loginName}" hidden readonly>
${field(page, { name: "password", label: "field.password", type: "password", autocomplete: "current-password", isFirst: true })}
${preparesPasskeys && html`<input type="hidden" name="${preparesPasskeysField}" value="" data-prepares-passkeys>`}
${submit(t("password.submit"))}`,
)}
${allowsEmail && form(page, { action: paths.emailLogin }, button(html`${icon("mail")}${t("password.byEmail")}`, { name: "send", value: "true", look: "plain" }))}
${allowsReset && html`<p class="aside">${link(page, paths.forgotPassword, t("password.forgot"))}</p>`}`,
  );
}
