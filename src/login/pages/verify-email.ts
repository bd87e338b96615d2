import { attributes, html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { codePage } from "../parts/code-page.ts";
import { field } from "../parts/field.ts";
import { button, form, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type VerifyEmailView = {
  address: string;
  /** A code was sent there; without one the page offers to send it. */
  isSent: boolean;
  /** The log-in can go on without the proof. */
  canSkip?: boolean;
  /** From the link in the mail. */
  code?: string;
  /** Another address can be given; with what was typed there. */
  other?: string;
};

/**
 * Asks for the code that proves an e-mail address, once one was sent. Sends `code`, or `resend`, or `skip`; or the address in its
 * place as `email`, by a form of its own.
 */
export function verifyEmailPage(page: Page, view: VerifyEmailView): string {
  const { address, isSent, canSkip = false, code, other } = view;
  const { t } = page;
  const title = t("verify.title");
  const skip = canSkip && skipForm(page);
  if (!isSent) {
    const send = submit(t("forgot.submit"), { name: "resend", value: "true" });
    return layout(
      page,
      { title, lead: t("verify.ask", { address }) },
      html`${form(page, { action: paths.verifyEmail }, send)}${skip}`,
    );
  }
  return codePage(page, {
    action: paths.verifyEmail,
    title,
    code,
    isSent,
    lead: t("verify.text", { address }),
    hasLetters: true,
    below: html`${other !== undefined && otherAddress(page, other)}${skip}`,
  });
}

const skipForm = (page: Page) =>
  form(
    page,
    { action: paths.verifyEmail },
    button(page.t("setup.skip"), { name: "skip", value: "true", look: "quiet" }),
  );

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
