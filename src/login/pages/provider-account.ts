import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { button, form, link } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type ProviderAccountView = {
  provider: string;
  /** What the user is called there. */
  account?: string;
  /** An account here seems to be theirs. */
  hasCandidate: boolean;
  allowsLink: boolean;
  allowsCreate: boolean;
};

/** Asks what to do with an account of a provider that nobody here has. Sends `link` or `create`. */
export function providerAccountPage(page: Page, view: ProviderAccountView): string {
  const { t } = page;
  const { provider, account, hasCandidate, allowsLink, allowsCreate } = view;
  const named = account === undefined ? provider : `${provider} (${account})`;
  return layout(
    page,
    {
      title: t("providerAccount.title"),
      lead: t(hasCandidate ? "providerAccount.candidate" : "providerAccount.text", {
        provider: named,
      }),
    },
    html`${form(
      page,
      { action: paths.providerAccount },
      html`${
        allowsLink && button(t("providerAccount.link"), { name: "do", value: "link", id: "submit" })
      }
${
  allowsCreate &&
  button(t("loginName.register"), {
    name: "do",
    value: "create",
    look: allowsLink ? "plain" : "primary",
    ...(allowsLink ? {} : { id: "submit" }),
  })
}`,
    )}
<p class="aside">${link(page, paths.loginName, t("common.otherWay"))}</p>`,
  );
}
