import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { form, signInLink, submit } from "../parts/form.ts";
import { newPassword, type PasswordRules } from "../parts/new-password.ts";
import { paths } from "../paths.ts";

export type RecoverView = { userId: string; code: string; rules: PasswordRules };

/**
 * What the link of `idsvc recover` opens. For whom it is, it does not tell. Nothing is spent before the form is sent. Sends
 * `user_id`, `code` and `new_password`.
 */
export function recoverPage(page: Page, { userId, code, rules }: RecoverView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("recover.title"), lead: t("recover.text"), scripts: ["login.js"] },
    html`${form(
      page,
      { action: paths.recover },
      html`<input type="hidden" name="user_id" value="${userId}">
<input type="hidden" name="code" value="${code}">
${newPassword(page, rules, { isFirst: true })}
${submit(t("reset.submit"))}`,
    )}
${signInLink(page)}`,
  );
}
