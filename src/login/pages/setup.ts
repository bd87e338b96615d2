import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { type Account, accountLine } from "../parts/account.ts";
import { button, form, link } from "../parts/form.ts";
import { paths } from "../paths.ts";
import { type Factor, factorChoices } from "./mfa.ts";

export type SetupView = {
  account: Account;
  factors: readonly Exclude<Factor, "recovery">[];
  /** They own the instance: they are told why, and to have a second owner. */
  isOwner?: boolean;
  /** False where a second factor is demanded. */
  canSkip: boolean;
};

/** Lets choose a second factor to set up. Sends `factor`, or `skip`. */
export function setupPage(
  page: Page,
  { account, factors, isOwner = false, canSkip }: SetupView,
): string {
  const { t } = page;
  return layout(
    page,
    { title: t("setup.title"), lead: t(isOwner ? "setup.ownerText" : "setup.text") },
    html`${accountLine(account, link(page, paths.loginName, t("common.notYou")))}
${form(
  page,
  { action: paths.setup },
  html`${factorChoices(page, factors)}${canSkip && button(t("setup.skip"), { name: "skip", value: "true", look: "quiet" })}`,
)}`,
  );
}
