import { html, type Value } from "../../html.ts";
import type { IconName } from "../../login/parts/icon.ts";
import type { TextKey } from "../../texts/texts.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { way } from "../parts/list.ts";
import { accountPaths } from "../paths.ts";

export type SecurityView = {
  hasPassword: boolean;
  passkeys: number;
  hasAuthenticator: boolean;
  /** Undefined where there are none. */
  recoveryCodes: number | undefined;
  providers: number;
};

/** All ways to sign in, and how many there are of each. */
export function securityPage(page: AccountPage, view: SecurityView): string {
  const { t } = page;
  const isOn = (on: boolean) => t(on ? "account.on" : "account.off");
  const countOf = (count: number) => (count === 0 ? t("account.off") : count);
  const { recoveryCodes: codes } = view;
  const rows: [path: string, icon: IconName, title: TextKey, state: Value][] = [
    [accountPaths.password, "lock", "field.password", isOn(view.hasPassword)],
    [accountPaths.passkeys, "key", "account.passkeys", countOf(view.passkeys)],
    [accountPaths.authenticator, "phone", "mfa.totp", isOn(view.hasAuthenticator)],
    [
      accountPaths.recoveryCodes,
      "lifebuoy",
      "account.recoveryCodes",
      codes === undefined ? t("account.off") : t("account.codesLeft", { count: codes }),
    ],
    [accountPaths.providers, "branch", "account.providers", countOf(view.providers)],
  ];
  return accountLayout(
    page,
    { title: t("account.security"), lead: t("account.securityText") },
    html`<ul class="choices">${rows.map(([path, icon, title, hint]) => way({ path, icon, title: t(title), hint }))}</ul>`,
  );
}
