import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { html } from "../../html.ts";
import { finder } from "../../login/parts/finder.ts";
import { button, form } from "../../login/parts/form.ts";
import { icon } from "../../login/parts/icon.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { short } from "../../login/parts/short.ts";
import { isPart, pager, type Parts } from "../../login/parts/pager.ts";
import { list, none, pressButton } from "../parts/list.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

const action = accountPaths.providers;

export const providersOfPage = 8;

export type ProvidersView = {
  links: readonly {
    idpId: string;
    provider: string;
    username: string;
    since: Timestamp | undefined;
    isSuspended: boolean;
  }[];
  /** Those that can be linked. */
  offered: readonly { id: string; name: string }[];
  /** What the names of those are to hold. */
  name: string;
  parts: Parts;
};

/** The address of a part of the page. */
export function providersPart(from: number, name: string): string {
  const query = new URLSearchParams({
    ...(name && { name }),
    ...(from > 0 && { from: `${from}` }),
  });
  return query.size === 0 ? action : `${action}?${query}`;
}

/** Accounts at providers. Sends `remove` with the id of a provider, or `link` with that of one. */
export function providersPage(page: AccountPage, view: ProvidersView): string {
  const { links, offered, name, parts } = view;
  const { t } = page;
  const to = (from: number) => providersPart(from, name);
  const items = links.map(({ idpId, provider, username, since, isSuspended }) => ({
    icon: "branch" as const,
    title: short(provider),
    lines: [
      html`<bdi>${short(username)}</bdi>`,
      since && html`${t("account.since")} ${when(page, since)}`,
      isSuspended && t("account.suspended"),
    ],
    action: pressButton({
      name: "remove",
      value: idpId,
      label: t("account.remove"),
      about: short(provider),
    }),
  }));
  const more = offered.map(({ id, name: provider }) =>
    button(html`${icon("plus")}${t("account.link", { provider: short(provider) })}`, {
      name: "link",
      value: id,
      look: "plain",
    }),
  );
  return accountLayout(
    page,
    {
      title: t("account.providers"),
      lead: t("account.providersText"),
      parent: accountPaths.security,
    },
    html`${items.length === 0 ? none(t("account.none")) : form(page, { action, class: "items-form" }, list(items))}
${(isPart(parts) || name !== "") && finder(page, action, name)}
${more.length > 0 ? form(page, { action }, more) : name !== "" && none(t("find.none"))}
${pager(parts, to, { before: t("find.previous"), after: t("find.next") })}`,
  );
}
