import { attributes, html, type Html, type Value } from "../html.ts";
import { layout, type Shape } from "../login/layout.ts";
import { icon, type IconName } from "../login/parts/icon.ts";
import { paths } from "../login/paths.ts";
import type { TextKey } from "../texts/texts.ts";
import type { AccountPage } from "./own.ts";
import { accountPaths } from "./paths.ts";

export type Section = { path: string; icon: IconName; title: TextKey; hint: TextKey };

/** What there is of an account. */
export const sections: readonly Section[] = (
  [
    ["profile", "person"],
    ["contact", "mail"],
    ["security", "shield"],
    ["sessions", "device"],
    ["apps", "badge"],
    ["history", "clock"],
    ["organizations", "building"],
    ["data", "file"],
  ] as const
).map(([name, sign]) => ({
  path: accountPaths[name],
  icon: sign,
  title: `account.${name}`,
  hint: `account.${name}Hint`,
}));

/** A page of an account. Beside it stands what else there is; where there is no room, a way back. */
export function accountLayout(
  page: AccountPage,
  { parent = accountPaths.overview, ...shape }: Shape & { parent?: string },
  content: Value,
): string {
  const own = { ...shape, isWide: true, nav: navigation(page, parent) };
  return layout(page, { ...own, styles: ["account.css"] }, content);
}

function navigation(page: AccountPage, parent: string): Html {
  const { t, path } = page;
  const isIn = (section: string) => path === section || path.startsWith(`${section}/`);
  const entries = [
    { path: accountPaths.overview, icon: "mark" as const, isHere: path === accountPaths.overview },
    ...sections.map((each) => ({ ...each, isHere: isIn(each.path) })),
  ].map((each) => {
    const current = each.isHere ? (path === each.path ? "page" : "true") : undefined;
    const label = "title" in each ? t(each.title) : t("account.title");
    return html`<li><a ${attributes({ href: each.path, "aria-current": current })}>${icon(each.icon)}<span>${label}</span></a></li>`;
  });
  const back = path !== accountPaths.overview && backTo(page, parent);
  return html`<nav class="aside-nav" aria-label="${t("account.title")}"><ul>${entries}<li><a href="${paths.logout}">${icon("leave")}<span>${t("logout.submit")}</span></a></li></ul>${back}</nav>`;
}

const backTo = ({ t }: AccountPage, parent: string) => {
  const label =
    parent === accountPaths.passkeys
      ? "account.passkeys"
      : (sections.find(({ path }) => path === parent)?.title ?? "account.title");
  return html`<a class="back" href="${parent}">${icon("next")}<span>${t(label)}</span></a>`;
};
