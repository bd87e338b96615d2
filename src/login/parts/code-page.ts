import { html, type Value } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import type { TextKey } from "../../texts/texts.ts";
import { paths } from "../paths.ts";
import { type Account, accountLine } from "./account.ts";
import { field } from "./field.ts";
import { trustChoice, type TrustView } from "./trust.ts";
import { button, form, link, submit } from "./form.ts";

export type CodeShape = {
  action: string;
  /** What is sent beside the code. */
  fields?: Value;
  title: string;
  lead: Value;
  account?: Account;
  label?: TextKey;
  /** Codes that are not digits alone. */
  hasLetters?: boolean;
  code?: string | undefined;
  /** Offers to send another code: the same form with `resend`. */
  isSent?: boolean;
  /** There are other factors to choose from. */
  hasOthers?: boolean;
  /** The browser can be trusted from now on. */
  trust?: TrustView | undefined;
  /** What stands below the form. */
  below?: Value;
};

/** A page that asks for one code. Sends `code`, or `resend` where codes are sent. */
export function codePage(page: Page, shape: CodeShape): string {
  const { t } = page;
  const { account, isSent, hasOthers, below } = shape;
  return layout(
    page,
    { title: shape.title, lead: shape.lead },
    html`${account !== undefined && accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${form(
  page,
  { action: shape.action },
  html`${shape.fields}${field(page, {
    name: "code",
    label: shape.label ?? "field.code",
    autocomplete: "one-time-code",
    inputmode: shape.hasLetters ? "text" : "numeric",
    value: shape.code,
    maxLength: 40,
    isCode: true,
    isFirst: true,
  })}
${shape.trust && trustChoice(page, shape.trust)}
${submit(t("common.continue"))}
${isSent && button(t("common.resend"), { name: "resend", value: "true", look: "quiet" })}`,
)}
${hasOthers && html`<p class="aside">${link(page, paths.mfaChoice, t("common.otherWay"))}</p>`}
${below}`,
  );
}
