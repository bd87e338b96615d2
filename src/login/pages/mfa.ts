import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { html, type Html } from "../../html.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { choice, choices } from "../parts/choice.ts";
import { button, form, link } from "../parts/form.ts";
import type { IconName } from "../parts/icon.ts";
import { paths } from "../paths.ts";

export type Factor = "totp" | "passkey" | "email" | "sms" | "recovery";

/** Recovery codes stand in for a factor, and are none. */
export const isBesideMailbox = (factor: Factor): boolean =>
  factor !== "email" && factor !== "recovery";

const factorIcons: Record<Factor, IconName> = {
  totp: "phone",
  passkey: "key",
  email: "mail",
  sms: "message",
  recovery: "lifebuoy",
};

export type MfaView = {
  account: Account;
  factors: readonly Factor[];
  /** The application asks for a passkey; whoever cannot use theirs goes on without. */
  isPasskeyAsked?: boolean;
};

/** The factors to choose from. Each sends `factor`. */
export const factorChoices = ({ t }: Page, factors: readonly Factor[]): Html =>
  choices(
    factors.map((factor) =>
      choice({
        icon: factorIcons[factor],
        title: t(`mfa.${factor}`),
        hint: t(`mfa.${factor}Hint`),
        name: "factor",
        value: factor,
      }),
    ),
  );

/**
 * Lets choose a second factor. Sends `factor`, or `without` for no passkey: choosing may send a message, so it is no link.
 */
export function mfaPage(page: Page, view: MfaView): string {
  const { t } = page;
  const { account, factors, isPasskeyAsked = false } = view;
  return layout(
    page,
    { title: t("mfa.title"), lead: leadOf(page, view) },
    html`${accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${form(
  page,
  { action: paths.mfa },
  html`${factorChoices(page, factors)}${isPasskeyAsked && button(t("mfa.withoutPasskey"), { name: "without", value: "passkey", look: "quiet" })}`,
)}`,
  );
}

function leadOf({ t, cancel }: Page, { isPasskeyAsked }: MfaView): string {
  if (cancel !== undefined) return t("account.stepUp");
  return t(isPasskeyAsked ? "mfa.passkeyAsked" : "mfa.text");
}
