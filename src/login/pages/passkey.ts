import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { link } from "../parts/form.ts";
import { passkeyForm, withoutPasskeys } from "../parts/passkey.ts";
import { trustChoice, type TrustView } from "../parts/trust.ts";
import { paths } from "../paths.ts";

export type PasskeyView = {
  account?: Account;
  /** A passkey stands for all of the login, a security key for its second step. */
  kind: "passkey" | "securityKey";
  /** Request options of WebAuthn. */
  options: object;
  /** Where another way is chosen. */
  otherWay?: "loginName" | "mfaChoice";
  trust?: TrustView | undefined;
};

/** Asks for a passkey or security key. Sends `credential`. */
export function passkeyPage(page: Page, view: PasskeyView): string {
  const { t } = page;
  const { account, options, otherWay, trust } = view;
  const isPasskey = view.kind === "passkey";
  return layout(
    page,
    {
      title: t(isPasskey ? "passkey.title" : "passkey.keyTitle"),
      lead: t(isPasskey ? "passkey.text" : "passkey.keyText"),
      scripts: ["passkey.js"],
    },
    html`${account !== undefined && accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${withoutPasskeys(page)}
${passkeyForm(page, { action: paths.passkey, options, kind: "get", label: t("common.continue"), id: "submit", fields: trust && trustChoice(page, trust) })}
${otherWay !== undefined && html`<p class="aside">${link(page, paths[otherWay], t("common.otherWay"))}</p>`}`,
  );
}
