import type { Page } from "../page.ts";
import type { Account } from "../parts/account.ts";
import { codePage } from "../parts/code-page.ts";
import type { TrustView } from "../parts/trust.ts";
import { paths } from "../paths.ts";

export type SmsCodeView = {
  account: Account;
  /** As far as it may be shown: `+41 … 12`. */
  phone: string;
  hasOthers: boolean;
  trust?: TrustView | undefined;
};

/** Asks for a code that was sent by text message. Sends `code`, or `resend`. */
export const smsCodePage = (page: Page, { phone, ...view }: SmsCodeView): string =>
  codePage(page, {
    ...view,
    action: paths.smsCode,
    title: page.t("smsCode.title"),
    lead: page.t("smsCode.text", { phone }),
    isSent: true,
  });
