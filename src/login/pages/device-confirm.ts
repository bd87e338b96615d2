import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { accessChoice, type AccessView } from "../parts/access.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { button, form, link, submit } from "../parts/form.ts";
import { scopeList } from "../parts/scopes.ts";
import { paths } from "../paths.ts";

export type DeviceConfirmView = {
  app: string;
  organization: string;
  account: Account;
  userCode: string;
  scopes: readonly string[];
  access: AccessView;
};

/** Asks whether a device may sign in. Sends `consent`: `allow` or `deny`, and `access`. */
export function deviceConfirmPage(page: Page, view: DeviceConfirmView): string {
  const { t } = page;
  const { app, organization, account, userCode, scopes, access } = view;
  return layout(
    page,
    { title: t("deviceConfirm.title"), lead: t("deviceConfirm.text", { app }) },
    html`<p class="device-code">${userCode}</p>
${accountLine(account, link(page, paths.accounts, t("common.notYou")))}
${scopeList(page, scopes)}
<p class="aside">${t("consent.organization", { app, organization })}</p>
${form(
  page,
  { action: paths.deviceConfirm },
  html`${accessChoice(page, app, access)}<div class="two">${button(t("deviceConfirm.deny"), { name: "consent", value: "deny", look: "plain" })}${submit(t("deviceConfirm.allow"), { name: "consent", value: "allow" })}</div>`,
)}`,
  );
}
