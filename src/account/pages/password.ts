import { html } from "../../html.ts";
import { field } from "../../login/parts/field.ts";
import { form, submit } from "../../login/parts/form.ts";
import { newPassword, type PasswordRules } from "../../login/parts/new-password.ts";
import { paths } from "../../login/paths.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { accountPaths } from "../paths.ts";

export type PasswordView = { hasPassword: boolean; rules: PasswordRules };

/** Changes the password: the form sends `password` (the current password) and `new_password`. A user without a password sets one with a code. */
export function passwordPage(page: AccountPage, { hasPassword, rules }: PasswordView): string {
  const { t, account } = page;
  const shape = { title: t("field.password"), parent: accountPaths.security };
  if (!hasPassword) {
    return accountLayout(
      page,
      { ...shape, lead: t("account.noPassword") },
      html`<a class="button primary" href="${paths.forgotPassword}">${t("reset.title")}</a>`,
    );
  }
  return accountLayout(
    page,
    { ...shape, lead: t("account.passwordText"), scripts: ["login.js"] },
    form(
      page,
      { action: accountPaths.password },
      html`<input type="text" autocomplete="username" value="${account.loginName}" hidden readonly>
${field(page, { name: "password", label: "field.currentPassword", type: "password", autocomplete: "current-password" })}
${newPassword(page, rules)}
${submit(t("reset.submit"))}`,
    ),
  );
}
