import type { Page } from "../page.ts";
import type { Account } from "../parts/account.ts";
import { codePage } from "../parts/code-page.ts";
import type { TrustView } from "../parts/trust.ts";
import { paths } from "../paths.ts";

export type TotpView = { account: Account; hasOthers: boolean; trust?: TrustView | undefined };

/** Asks for the code of an authenticator app. Sends `code`. */
export const totpPage = (page: Page, view: TotpView): string =>
  codePage(page, {
    ...view,
    action: paths.totp,
    title: page.t("totp.title"),
    lead: page.t("totp.text"),
  });
