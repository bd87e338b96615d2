import { html, type Html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { button, form, link, submit } from "../parts/form.ts";
import { newPassword, type PasswordRules } from "../parts/new-password.ts";
import { passkeyForm, withoutPasskeys } from "../parts/passkey.ts";
import { paths } from "../paths.ts";

export type RegisterAccountView = {
  /** The address, which is proven. */
  email: string;
} & (
  | {
      asked: "password";
      /** Only where the address cannot be the login name; with what was typed before. */
      loginName?: string | undefined;
      rules: PasswordRules;
    }
  | { asked: "name"; loginName: string }
  /** Where passwords are not allowed: creation options of WebAuthn where passkeys are, and whether codes by mail are. */
  | { asked: "wayIn"; passkey: object | undefined; allowsEmail: boolean }
);

/**
 * Asks for what makes an account of a proven address. Sends `new_password`, with `login_name` where the page asks for it; or
 * `login_name` alone; or `credential`, or `by` with the value `email`.
 */
export function registerAccountPage(page: Page, view: RegisterAccountView): string {
  const { t } = page;
  return layout(
    page,
    {
      title: t("register.title"),
      lead: t("register.confirmed", { address: view.email }),
      scripts: view.asked === "wayIn" ? ["passkey.js"] : ["login.js"],
    },
    view.asked === "wayIn" ? waysIn(page, view) : fields(page, view),
  );
}

function fields(page: Page, view: Exclude<RegisterAccountView, { asked: "wayIn" }>): Html {
  const { t } = page;
  const { email, loginName } = view;
  return form(
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
${view.asked === "password" && newPassword(page, view.rules, { isFirst: loginName === undefined, isFirstEver: true })}
${submit(t(view.asked === "password" ? "register.submit" : "common.continue"))}`,
  );
}

function waysIn(
  page: Page,
  { passkey, allowsEmail }: Extract<RegisterAccountView, { asked: "wayIn" }>,
): Html {
  const { t } = page;
  const action = paths.registerAccount;
  return html`${
    passkey !== undefined &&
    html`${!allowsEmail && withoutPasskeys(page)}
${passkeyForm(page, {
  action,
  options: passkey,
  kind: "create",
  label: t("setupPasskey.submit"),
  fields: html`<p>${t("setupPasskey.text")}</p>`,
})}`
  }
${passkey !== undefined && allowsEmail && html`<p class="or with-script"><span>${t("common.or")}</span></p>`}
${
  allowsEmail &&
  form(
    page,
    { action },
    html`<p>${t("register.byEmail")}</p>
${button(t("register.submit"), { name: "by", value: "email", look: passkey === undefined ? "primary" : "plain" })}`,
  )
}
<p class="aside"><span>${t("register.haveAccount")}</span> ${link(page, paths.loginName, t("register.signIn"))}</p>`;
}
