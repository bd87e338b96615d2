import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { link } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type SignedInView = { account: Account };

/** The end of a login for which no application waits. */
export function signedInPage(page: Page, { account }: SignedInView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("signedIn.title"), lead: t("signedIn.text") },
    html`${accountLine(account)}
<div class="two">${link(page, paths.accounts, t("signedIn.switch"), "button plain")}${link(page, paths.logout, t("logout.submit"), "button plain")}</div>`,
  );
}
