import { html } from "../../html.ts";
import { form } from "../../login/parts/form.ts";
import { scopeText } from "../../login/parts/scopes.ts";
import { short } from "../../login/parts/short.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage, AllowedApp } from "../own.ts";
import { list, none, pressButton } from "../parts/list.ts";
import type { Parts } from "../../login/parts/pager.ts";
import { pager } from "../parts/pager.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

export const appsOfPage = 10;

export type AppsView = {
  apps: readonly AllowedApp[];
  /** The organization of the person. */
  organization: string;
  parts: Parts;
};

const mostOfScopes = 500;

/** What the person allowed. Sends `revoke` with the id of one. */
export function appsPage(page: AccountPage, { apps, organization, parts }: AppsView): string {
  const { t } = page;
  const items = apps.map(({ id, app: name, scopes, access, since, lastUsed }) => ({
    icon: "badge" as const,
    title: short(name),
    lines: [
      short(scopes.map((scope) => scopeText(page, scope)).join(" · "), mostOfScopes),
      accessText(page, access, { app: short(name), organization: short(organization) }),
      html`${t("account.since")} ${when(page, since)}`,
      lastUsed === undefined
        ? t("account.never")
        : html`${t("account.lastUsed")} ${when(page, lastUsed)}`,
    ],
    action: pressButton({
      name: "revoke",
      value: id,
      label: t("account.revoke"),
      about: short(name),
    }),
  }));
  return accountLayout(
    page,
    { title: t("account.apps"), lead: t("account.appsText") },
    html`${items.length === 0 ? none(t("account.none")) : form(page, { action: accountPaths.apps, class: "items-form" }, list(items))}
${pager(page, accountPaths.apps, parts)}`,
  );
}

function accessText(
  { t }: AccountPage,
  access: AllowedApp["access"],
  names: { app: string; organization: string },
): string | undefined {
  switch (access) {
    case "own":
      return t("access.own");
    case "organization":
      return t("access.organization", names);
    case "given":
      return t("access.instance", names);
    case "everything":
    case "legacy":
      return t("access.everything");
    default:
      return undefined;
  }
}
