import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { link } from "../parts/form.ts";
import { passkeyForm, withoutPasskeys } from "../parts/passkey.ts";
import { paths } from "../paths.ts";

export type SetupPasskeyView = {
  account: Account;
  /** Creation options of WebAuthn. */
  options: object;
  /** Where the form is sent: by default within the set-up of a second factor, which has other ways. */
  action?: string;
};

/** Creates a passkey. Sends `credential`. */
export function setupPasskeyPage(
  page: Page,
  { account, options, action }: SetupPasskeyView,
): string {
  const { t } = page;
  return layout(
    page,
    { title: t("setupPasskey.title"), lead: t("setupPasskey.text"), scripts: ["passkey.js"] },
    html`${accountLine(account, action === undefined && link(page, paths.loginName, t("common.notYou")))}
${withoutPasskeys(page)}
${passkeyForm(page, { action: action ?? paths.setupPasskey, options, kind: "create", label: t("setupPasskey.submit"), id: "submit" })}
${action === undefined && html`<p class="aside">${link(page, paths.setup, t("common.otherWay"))}</p>`}`,
  );
}
