import { attributes, html } from "../../html.ts";
import type { Page } from "../page.ts";
import { codePage } from "../parts/code-page.ts";
import { field } from "../parts/field.ts";
import { button, form } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type VerifyEmailView = {
  address: string;
  /** From the link in the mail. */
  code?: string;
  /** Another address can be given; with what was typed there. */
  other?: string;
};

/**
 * Asks for the code that proves an e-mail address. Sends `code`, or `resend`; or the address in its place as `email`, by a form
 * of its own.
 */
export const verifyEmailPage = (page: Page, { address, code, other }: VerifyEmailView): string =>
  codePage(page, {
    action: paths.verifyEmail,
    title: page.t("verify.title"),
    lead: page.t("verify.text", { address }),
    code,
    hasLetters: true,
    isSent: true,
    below: other !== undefined && otherAddress(page, other),
  });

const otherAddress = (page: Page, other: string) => {
  const isWrong = page.problems?.some((problem) => problem.field === "email");
  return html`<details ${attributes({ class: "other", open: isWrong })}><summary>${page.t("verify.wrongAddress")}</summary>
${form(
  page,
  { action: paths.verifyEmail },
  html`${field(page, { name: "email", label: "field.email", type: "email", autocomplete: "email", inputmode: "email", value: other })}
${button(page.t("verify.sendThere"), { look: "plain" })}`,
)}</details>`;
};
