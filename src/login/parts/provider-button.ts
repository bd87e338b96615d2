import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import type { OfferedProvider, ProviderType } from "../ports.ts";
import { button, form } from "./form.ts";
import { icon, type IconName } from "./icon.ts";
import { short } from "./short.ts";
import { paths } from "../paths.ts";

/** A drawn mark of each kind of provider: nobody's trade mark. */
const marks: Readonly<Record<ProviderType, IconName>> = {
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
const markOf = ({ type, markPath }: OfferedProvider): Html =>
  markPath === undefined
    ? icon(marks[type])
    : html`<img class="mark" src="${markPath}" alt="" width="20" height="20">`;

/** Sends `idp`, the id of a provider, to the page that leads there. */
export const providerForm = (page: Page, providers: readonly OfferedProvider[]): Html =>
  form(
    page,
    { action: paths.provider },
    providers.map((provider) =>
      button(
        html`${markOf(provider)}${page.t("loginName.provider", { provider: short(provider.name) })}`,
        { name: "idp", value: provider.id, look: "plain" },
      ),
    ),
  );
