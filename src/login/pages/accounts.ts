import { attributes, html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountText, shortAccount } from "../parts/account.ts";
import { form, link } from "../parts/form.ts";
import { icon } from "../parts/icon.ts";
import { paths } from "../paths.ts";

export type AccountsView = {
  app?: string;
  /** Sessions of this browser; `id` is what comes back. */
  accounts: readonly (Account & { id: string; isSignedIn: boolean })[];
};

/** Lets choose among the sessions of this browser. Sends `session`, or `remove`, with the id of one. */
export function accountsPage(page: Page, { app, accounts }: AccountsView): string {
  const { t } = page;
  const rows = accounts.map(({ id, isSignedIn, ...whole }) => {
    const account = shortAccount(whole);
    const state = t(isSignedIn ? "accounts.signedIn" : "accounts.signedOut");
    const remove = attributes({
      type: "submit",
      class: "remove",
      name: "remove",
      value: id,
      "aria-label": t("accounts.remove", { account: account.loginName }),
    });
    return html`<li class="pair"><button ${attributes({ type: "submit", class: "choice", name: "session", value: id })}>${accountText(account, html`<span class="${isSignedIn ? "state on" : "state"}">${state}</span>`)}</button><button ${remove}>${icon("remove")}</button></li>`;
  });
  return layout(
    page,
    {
      title: t("accounts.title"),
      ...(app === undefined ? {} : { lead: t("common.to", { app }) }),
    },
    html`${form(page, { action: paths.accounts }, html`<ul class="choices">${rows}</ul>`)}
${link(page, paths.loginName, html`${icon("plus")}${t("accounts.other")}`, "button plain")}`,
  );
}
