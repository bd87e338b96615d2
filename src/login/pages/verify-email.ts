import type { Page } from "../page.ts";
import { codePage } from "../parts/code-page.ts";
import { paths } from "../paths.ts";

export type VerifyEmailView = {
  address: string;
  /** From the link in the mail. */
  code?: string;
};

/** Asks for the code that proves an e-mail address. Sends `code`, or `resend`. */
export const verifyEmailPage = (page: Page, { address, code }: VerifyEmailView): string =>
  codePage(page, {
    action: paths.verifyEmail,
    title: page.t("verify.title"),
    lead: page.t("verify.text", { address }),
    code,
    hasLetters: true,
    isSent: true,
  });
