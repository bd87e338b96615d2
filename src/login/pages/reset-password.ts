import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { button, form, link, submit } from "../parts/form.ts";
import { newPassword, type PasswordRules } from "../parts/new-password.ts";
import { paths } from "../paths.ts";

export type ResetPasswordView = {
  loginName: string;
  rules: PasswordRules;
  /** From the link in the mail. */
  code?: string;
};

/**
 * Sets a new password by a code, and looks the same whether there is such an account. Sends `login_name`, `code` and
 * `new_password`, or `resend`.
 */
export function resetPasswordPage(
  page: Page,
  { loginName, rules, code }: ResetPasswordView,
): string {
  const { t } = page;
  return layout(
    page,
    { title: t("reset.title"), lead: t("reset.text"), scripts: ["login.js"] },
    html`${form(
      page,
      { action: paths.resetPassword },
      html`<input type="hidden" name="login_name" value="${loginName}">
<input type="text" autocomplete="username" value="${loginName}" hidden readonly>
${field(page, { name: "code", label: "field.code", autocomplete: "one-time-code", value: code, maxLength: 40, isCode: true, isFirst: code === undefined })}
${newPassword(page, rules, { isFirst: code !== undefined })}
${submit(t("reset.submit"))}
${button(t("common.resend"), { name: "resend", value: "true", look: "quiet" })}`,
    )}
<p class="aside">${link(page, paths.loginName, t("common.back"))}</p>`,
  );
}
