import { html, type Html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { button, form, link, outwardLink, submit } from "../parts/form.ts";
import { icon } from "../parts/icon.ts";
import { scopeList } from "../parts/scopes.ts";
import { paths } from "../paths.ts";

export type ConsentView = {
  app: string;
  account: Account;
  scopes: readonly string[];
  policyUri?: string;
  termsUri?: string;
};

/** Asks whether an application may have what it asks for. Sends `consent`: `allow` or `deny`. */
export function consentPage(page: Page, view: ConsentView): string {
  const { t } = page;
  const { app, account, scopes } = view;
  return layout(
    page,
    { title: t("consent.title", { app }), lead: t("consent.text", { app }) },
    html`${accountLine(account, link(page, paths.accounts, t("common.notYou")))}
${scopeList(page, scopes)}
${form(
  page,
  { action: paths.consent },
  html`<div class="two">${button(t("consent.deny"), { name: "consent", value: "deny", look: "plain" })}${submit(html`${icon("check")}${t("consent.allow")}`, { name: "consent", value: "allow" })}</div>`,
)}
${terms(page, view)}`,
  );
}

function terms({ t }: Page, { policyUri, termsUri }: ConsentView): Html | undefined {
  if (policyUri === undefined && termsUri === undefined) return undefined;
  return html`<p class="aside spread">${policyUri !== undefined && outwardLink(policyUri, t("consent.policy"))} ${termsUri !== undefined && outwardLink(termsUri, t("consent.terms"))}</p>`;
}
