import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { form, submit } from "../parts/form.ts";
import { newPassword, type PasswordRules } from "../parts/new-password.ts";
import { paths } from "../paths.ts";

export type RegisterAccountView = {
  /** The address, which is proven. */
  email: string;
  /** Only where the address cannot be the login name; with what was typed before. */
  loginName?: string | undefined;
  rules: PasswordRules;
};

/** Asks for what makes an account of a proven address. Sends `new_password`, and `login_name` where the page asks for it. */
export function registerAccountPage(page: Page, view: RegisterAccountView): string {
  const { t } = page;
  const { email, loginName, rules } = view;
  return layout(
    page,
    {
      title: t("register.title"),
      lead: t("register.confirmed", { address: email }),
      scripts: ["login.js"],
    },
    form(
      page,
      { action: paths.registerAccount },
      html`${
        loginName === undefined
          ? html`<input type="hidden" name="username" value="${email}" autocomplete="username">`
          : field(page, {
              name: "login_name",
              label: "field.loginName",
              autocomplete: "username",
              value: loginName,
              isFirst: true,
            })
      }
${newPassword(page, rules, { isFirst: loginName === undefined, isFirstEver: true })}
${submit(t("register.submit"))}`,
    ),
  );
}
