import { html } from "../../html.ts";
import type { OfferedProvider } from "../ports.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field, longestLoginName } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { passkeyForm } from "../parts/passkey.ts";
import { providerForm } from "../parts/provider-button.ts";
import { paths } from "../paths.ts";

/** With more the page is longer than a desk; the others have a page of their own. */
export const mostProviders = 8;

export type LoginNameView = {
  /** What stands in the field: `login_hint`, or what was typed. */
  loginName?: string;
  /** The application that waits. */
  app?: string;
  /** The organization that the login is bound to. */
  organization?: string;
  /** False where nobody may log in by name. */
  allowsLoginName: boolean;
  allowsRegister: boolean;
  /** Request options of WebAuthn for any passkey of this host; without them none is offered. */
  passkeyOptions?: object;
  providers: readonly OfferedProvider[];
  /** There are others, on a page of their own. */
  hasMoreProviders?: boolean;
};

/**
 * Asks who logs in. Sends `login_name` to itself, `credential` to the page of passkeys, `idp` to that of providers.
 */
export function loginNamePage(page: Page, view: LoginNameView): string {
  const { t } = page;
  const { app, organization, passkeyOptions, providers } = view;
  const byName =
    view.allowsLoginName &&
    form(
      page,
      { action: paths.loginName },
      html`${field(page, {
        name: "login_name",
        label: "field.loginName",
        autocomplete: "username webauthn",
        value: view.loginName,
        maxLength: longestLoginName,
        inputmode: "email",
        isFirst: true,
      })}
${submit(t("common.continue"))}`,
    );
  const byPasskey =
    passkeyOptions !== undefined &&
    passkeyForm(page, {
      action: paths.passkey,
      options: passkeyOptions,
      kind: "get",
      label: t("loginName.passkey"),
      look: "plain",
      isConditional: view.allowsLoginName,
    });
  const byProvider =
    providers.length > 0 &&
    html`${providerForm(page, providers)}
${view.hasMoreProviders && link(page, paths.providers, t("loginName.more"), "button quiet")}`;
  const lead = html`${app !== undefined && t("common.to", { app })}${organization !== undefined && html`<span class="organization">${t("loginName.organization", { organization })}</span>`}`;
  const hasOthers = passkeyOptions !== undefined || providers.length > 0;
  return layout(
    page,
    {
      title: t("loginName.title"),
      ...(app !== undefined || organization !== undefined ? { lead } : {}),
      scripts: ["passkey.js"],
    },
    html`${byName}
${byName && hasOthers && html`<p class="${providers.length > 0 ? "or" : "or with-script"}"><span>${t("common.or")}</span></p>`}
${hasOthers && html`<div class="ways">${byPasskey}${byProvider}</div>`}
${view.allowsRegister && html`<p class="aside"><span>${t("loginName.noAccount")}</span> ${link(page, paths.register, t("loginName.register"))}</p>`}`,
  );
}
