import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { button, form, link, submit } from "../parts/form.ts";
import { icon } from "../parts/icon.ts";
import { newPassword, type PasswordRules } from "../parts/new-password.ts";
import { personNames } from "../parts/person-names.ts";
import { paths } from "../paths.ts";

export type RegisterView = {
  app?: string;
  organization?: string;
  /** What was typed before. */
  values: { givenName?: string; familyName?: string; email?: string; loginName?: string };
  rules: PasswordRules;
  allowsPassword: boolean;
  /** Then an account can be had without a password: the passkey is made on the next page. */
  allowsPasskey: boolean;
};

/**
 * Asks for what makes an account. Sends `given_name`, `family_name`, `email`, `login_name` and `new_password`, or
 * `passkey` in place of the last.
 */
export function registerPage(page: Page, view: RegisterView): string {
  const { t } = page;
  const { app, organization, values, allowsPassword, allowsPasskey } = view;
  const lead =
    app === undefined
      ? organization && t("loginName.organization", { organization })
      : t("common.to", { app });
  return layout(
    page,
    {
      title: t("register.title"),
      ...(lead ? { lead } : {}),
      scripts: ["login.js"],
    },
    html`${form(
      page,
      { action: paths.register },
      html`<div class="two">${personNames(page, values)}</div>
${field(page, { name: "email", label: "field.email", type: "email", autocomplete: "email", inputmode: "email", value: values.email })}
${field(page, { name: "login_name", label: "field.loginName", autocomplete: "username", value: values.loginName })}
${allowsPassword && newPassword(page, view.rules)}
${allowsPassword && submit(t("register.submit"))}
${
  allowsPasskey &&
  button(html`${icon("key")}${t("register.passkey")}`, {
    name: "passkey",
    value: "true",
    look: allowsPassword ? "plain" : "primary",
    skipsFields: allowsPassword,
    ...(allowsPassword ? {} : { id: "submit" }),
  })
}`,
    )}
<p class="aside">${t("register.haveAccount")} ${link(page, paths.loginName, t("register.signIn"))}</p>`,
  );
}
