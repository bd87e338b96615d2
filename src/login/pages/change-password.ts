import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { field } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { newPassword, type PasswordRules } from "../parts/new-password.ts";
import { paths } from "../paths.ts";

export type ChangePasswordView = {
  account: Account;
  /** Too old, or an owner demands it. */
  why: "expired" | "required";
  /** False right after it was typed. */
  asksCurrent: boolean;
  rules: PasswordRules;
};

/** A password that must be changed before the login goes on. Sends `new_password`, and `password` if it is asked. */
export function changePasswordPage(page: Page, view: ChangePasswordView): string {
  const { t } = page;
  const { account, asksCurrent } = view;
  return layout(
    page,
    { title: t("change.title"), lead: t(`change.${view.why}`), scripts: ["login.js"] },
    html`${accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${form(
  page,
  { action: paths.changePassword },
  html`<input type="text" autocomplete="username" value="${account.loginName}" hidden readonly>
${asksCurrent && field(page, { name: "password", label: "field.currentPassword", type: "password", autocomplete: "current-password", isFirst: true })}
${newPassword(page, view.rules, { isFirst: !asksCurrent })}
${submit(t("reset.submit"))}`,
)}`,
  );
}
