import type { Page } from "../page.ts";
import type { Account } from "../parts/account.ts";
import { codePage } from "../parts/code-page.ts";
import { paths } from "../paths.ts";

export type RecoveryCodeView = { account: Account; hasOthers: boolean };

/** Asks for a recovery code. Sends `code`. */
export const recoveryCodePage = (page: Page, view: RecoveryCodeView): string =>
  codePage(page, {
    ...view,
    action: paths.recoveryCode,
    title: page.t("recoveryCode.title"),
    lead: page.t("recoveryCode.text"),
    label: "field.recoveryCode",
    hasLetters: true,
  });
