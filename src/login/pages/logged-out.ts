import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { emblem } from "../parts/emblem.ts";
import { link, outwardLink } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type LoggedOutView = {
  /** Where the application would have people go on; proven to be its own. */
  back?: { app: string; url: string };
};

/** Tells that the sessions have ended. */
export function loggedOutPage(page: Page, { back }: LoggedOutView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("loggedOut.title"), lead: t("loggedOut.text") },
    html`${emblem("check")}
${
  back === undefined
    ? link(page, paths.loginName, t("loggedOut.signIn"), "button plain")
    : outwardLink(back.url, t("loggedOut.back", { app: back.app }), "button primary")
}`,
  );
}
