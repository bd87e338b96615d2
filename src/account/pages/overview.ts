import { html } from "../../html.ts";
import { accountLine } from "../../login/parts/account.ts";
import { icon } from "../../login/parts/icon.ts";
import { paths } from "../../login/paths.ts";
import { accountLayout, sections } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { way } from "../parts/list.ts";

/** What there is of an account, and the ways out of it. */
export function overviewPage(page: AccountPage): string {
  const { t, account } = page;
  const rows = sections.map(({ path, icon: sign, title, hint }) =>
    way({ path, icon: sign, title: t(title), hint: t(hint) }),
  );
  return accountLayout(
    page,
    { title: t("account.title"), lead: t("account.text") },
    html`${accountLine(account, html`<a class="link" href="${paths.accounts}">${t("account.switch")}</a>`)}
<ul class="choices">${rows}</ul>
<a class="button plain" href="${paths.logout}">${icon("leave")}${t("logout.submit")}</a>`,
  );
}
