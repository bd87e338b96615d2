import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { codePage } from "../parts/code-page.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type EmailLoginView = {
  account: Account;
  /** A code was sent, if there is anybody to send it to; without that the page offers to send one. */
  isSent: boolean;
  allowsPassword: boolean;
};

/** A code by mail in the place of the password. Whether there is such an account, it does not tell. Sends `send`, `code` or `resend`. */
export function emailLoginPage(page: Page, view: EmailLoginView): string {
  const { t } = page;
  const { account, isSent, allowsPassword } = view;
  const title = t("emailLogin.title");
  const action = paths.emailLogin;
  const below =
    allowsPassword &&
    html`<p class="aside">${link(page, paths.password, t("emailLogin.password"))}</p>`;
  if (isSent) {
    return codePage(page, { action, title, account, isSent, lead: t("emailLogin.text"), below });
  }
  return layout(
    page,
    { title, lead: t("emailLogin.ask") },
    html`${accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${form(page, { action }, submit(t("forgot.submit"), { name: "send", value: "true" }))}
${below}`,
  );
}

/** What the link of such a mail shows in another browser than the one that the log-in was begun in: it uses nothing up. */
export const emailLinkElsewherePage = (page: Page, code: string | undefined): string =>
  layout(
    page,
    {
      title: page.t("emailLogin.elsewhereTitle"),
      lead: page.t("emailLogin.elsewhere"),
    },
    html`${code !== undefined && html`<p class="code-shown">${code}</p>`}
<p>${page.t("emailLogin.warning")}</p>
<p class="aside">${link(page, paths.begin, page.t("emailLogin.here"))}</p>`,
  );
