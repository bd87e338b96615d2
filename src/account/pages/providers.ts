import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { html } from "../../html.ts";
import { button, form } from "../../login/parts/form.ts";
import { icon } from "../../login/parts/icon.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, none, press } from "../parts/list.ts";
import { pager, type Parts } from "../parts/pager.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

const action = accountPaths.providers;

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
  parts: Parts;
};

/** Accounts at providers. Sends `remove` with the id of a provider, or `link` with that of one. */
export function providersPage(page: AccountPage, view: ProvidersView): string {
  const { links, offered, parts } = view;
  const { t } = page;
  const items = links.map(({ idpId, provider, username, since, isSuspended }) => ({
    icon: "branch" as const,
    title: provider,
    lines: [
      html`<bdi>${username}</bdi>`,
      since && html`${t("account.since")} ${when(page, since)}`,
      isSuspended && t("account.suspended"),
    ],
    action: press(page, {
      action,
      name: "remove",
      value: idpId,
      label: t("account.remove"),
      about: provider,
    }),
  }));
  const more = offered.map(({ id, name }) =>
    button(html`${icon("plus")}${t("account.link", { provider: name })}`, {
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
    html`${items.length === 0 ? none(t("account.none")) : list(items)}
${pager(page, action, parts)}
${more.length > 0 && form(page, { action }, more)}`,
  );
}
