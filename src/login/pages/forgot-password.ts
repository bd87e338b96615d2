import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field, longestLoginName } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type ForgotPasswordView = { loginName?: string };

/** Asks whose password is to be set anew. Sends `login_name`. */
export function forgotPasswordPage(page: Page, { loginName }: ForgotPasswordView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("forgot.title"), lead: t("forgot.text") },
    html`${form(
      page,
      { action: paths.forgotPassword },
      html`${field(page, { name: "login_name", label: "field.loginName", autocomplete: "username", value: loginName, maxLength: longestLoginName, inputmode: "email", isFirst: true })}
${submit(t("forgot.submit"))}`,
    )}
<p class="aside">${link(page, paths.loginName, t("common.back"))}</p>`,
  );
}
