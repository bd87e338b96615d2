import type { Page } from "../page.ts";
import type { Account } from "../parts/account.ts";
import { codePage } from "../parts/code-page.ts";
import type { TrustView } from "../parts/trust.ts";
import { paths } from "../paths.ts";

export type EmailCodeView = {
  account: Account;
  /** As far as it may be shown: `a…@example.com`. */
  address: string;
  hasOthers: boolean;
  trust?: TrustView | undefined;
};

/** Asks for a code that was sent by e-mail. Sends `code`, or `resend`. */
export const emailCodePage = (page: Page, { address, ...view }: EmailCodeView): string =>
  codePage(page, {
    ...view,
    action: paths.emailCode,
    title: page.t("emailCode.title"),
    lead: page.t("emailCode.text", { address }),
    isSent: true,
  });
