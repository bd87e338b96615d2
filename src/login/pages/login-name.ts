import { html, type Html } from "../../html.ts";
import { type IdpType, markPath, type OfferedIdp } from "../../resources/idp/index.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { button, form, link, submit } from "../parts/form.ts";
import { icon, type IconName } from "../parts/icon.ts";
import { passkeyForm } from "../parts/passkey.ts";
import { paths } from "../paths.ts";

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
  providers: readonly OfferedIdp[];
};

/** A drawn mark of each kind of provider: nobody's trade mark. */
const marks: Readonly<Record<IdpType, IconName>> = {
  oidc: "badge",
  oauth: "badge",
  jwt: "badge",
  ldap: "building",
  directory_a: "building",
  saml: "building",
  forge_a: "branch",
  forge_a_es: "branch",
  forge_b: "branch",
  forge_b_self_hosted: "branch",
  social_a: "person",
  social_b: "person",
};

/** The mark that its operator has given, else the drawn one. */
const markOf = ({ id, type, markDigest }: OfferedIdp): Html =>
  markDigest === undefined
    ? icon(marks[type])
    : html`<img class="mark" src="${markPath(markDigest, id)}" alt="" width="20" height="20">`;

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
    form(
      page,
      { action: paths.provider },
      providers.map((provider) =>
        button(html`${markOf(provider)}${t("loginName.provider", { provider: provider.name })}`, {
          name: "idp",
          value: provider.id,
          look: "plain",
        }),
      ),
    );
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
