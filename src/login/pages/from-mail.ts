import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { codePage } from "../parts/code-page.ts";
import { form, signInLink, submit } from "../parts/form.ts";
import { withoutPasskeys } from "../parts/passkey.ts";
import { paths } from "../paths.ts";

const hidden = (name: string, value: string) =>
  html`<input type="hidden" name="${name}" value="${value}">`;

/**
 * What the link of a mail opens that asks for the proof of an address: the code is sent by a button, for there are programs
 * that follow every link in a mail. Sends `user_id` and `code`.
 */
export const confirmEmailPage = (page: Page, { userId, code }: { userId: string; code: string }) =>
  codePage(page, {
    action: paths.confirmEmail,
    title: page.t("verify.title"),
    lead: page.t("verify.confirm"),
    fields: hidden("user_id", userId),
    code,
    hasLetters: true,
    below: signInLink(page),
  });

export type PasskeyInvitation = { userId: string; codeId: string; code: string };

/**
 * What the link of a mail opens that invites to create a passkey. For whom, it does not tell before the code is spent. Sends
 * `user_id`, `code_id` and `code`.
 */
export function invitedPasskeyPage(page: Page, asked: PasskeyInvitation): string {
  const { t } = page;
  return layout(
    page,
    { title: t("setupPasskey.title"), lead: t("setupPasskey.text"), scripts: ["passkey.js"] },
    html`${withoutPasskeys(page)}
${form(
  page,
  { action: paths.registerPasskey },
  html`${hidden("user_id", asked.userId)}${hidden("code_id", asked.codeId)}${hidden("code", asked.code)}
${submit(t("setupPasskey.submit"))}`,
)}
${signInLink(page)}`,
  );
}
