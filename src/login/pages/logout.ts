import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine, shortAccount } from "../parts/account.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type LogoutView = { accounts: readonly Account[] };

/** Asks before all sessions of the browser end. The form alone says yes. */
export function logoutPage(page: Page, { accounts }: LogoutView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("logout.title"), lead: t("logout.text") },
    html`<div class="stack">${accounts.map((account) => accountLine(shortAccount(account)))}</div>
${form(page, { action: paths.logout }, submit(t("logout.submit")))}
${link(page, paths.account, t("logout.stay"), "button quiet")}`,
  );
}
