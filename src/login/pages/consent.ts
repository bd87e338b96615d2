import { html, type Html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { accessChoice, type AccessView } from "../parts/access.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { button, form, link, outwardLink, submit } from "../parts/form.ts";
import { icon } from "../parts/icon.ts";
import { scopeList } from "../parts/scopes.ts";
import { paths } from "../paths.ts";

export type ConsentView = {
  app: string;
  /** The organization that the app belongs to, and where the browser goes back to. */
  organization: string;
  host: string;
  account: Account;
  scopes: readonly string[];
  /** How far the app may act for the person in the administration, where it asks for that. */
  access: AccessView;
  policyUri?: string;
  termsUri?: string;
};

/** Asks whether an application may have what it asks for. Sends `consent`: `allow` or `deny`, and `access`. */
export function consentPage(page: Page, view: ConsentView): string {
  const { t } = page;
  const { app, organization, host, account, scopes, access } = view;
  return layout(
    page,
    { title: t("consent.title", { app }), lead: t("consent.text", { app }) },
    html`${accountLine(account, link(page, paths.accounts, t("common.notYou")))}
${scopeList(page, scopes)}
<p class="aside">${t("consent.origin", { app, organization, host })}</p>
${form(
  page,
  { action: paths.consent },
  html`${accessChoice(page, app, access)}<div class="two">${button(t("consent.deny"), { name: "consent", value: "deny", look: "plain" })}${submit(html`${icon("check")}${t("consent.allow")}`, { name: "consent", value: "allow" })}</div>`,
)}
${terms(page, view)}`,
  );
}

function terms({ t }: Page, { policyUri, termsUri }: ConsentView): Html | undefined {
  if (policyUri === undefined && termsUri === undefined) return undefined;
  return html`<p class="aside spread">${policyUri !== undefined && outwardLink(policyUri, t("consent.policy"))} ${termsUri !== undefined && outwardLink(termsUri, t("consent.terms"))}</p>`;
}
