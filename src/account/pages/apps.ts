import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { ConsentedAccess } from "#gen/idsvc/resources/consent/v3alpha/consent_pb.ts";
import { html } from "../../html.ts";
import { scopeText } from "../../login/parts/scopes.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, none, press } from "../parts/list.ts";
import { pager, type Parts } from "../parts/pager.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

export type Allowed = {
  id: string;
  app: string;
  scopes: readonly string[];
  access: ConsentedAccess;
  since: Timestamp | undefined;
  lastUsed: Timestamp | undefined;
};

export type AppsView = {
  apps: readonly Allowed[];
  /** The organization of the person. */
  organization: string;
  parts: Parts;
};

/** What the person allowed. Sends `revoke` with the id of one. */
export function appsPage(page: AccountPage, { apps, organization, parts }: AppsView): string {
  const { t } = page;
  const items = apps.map(({ id, app, scopes, access, since, lastUsed }) => ({
    icon: "badge" as const,
    title: app,
    lines: [
      scopes.map((scope) => scopeText(page, scope)).join(" · "),
      accessText(page, access, { app, organization }),
      html`${t("account.since")} ${when(page, since)}`,
      lastUsed === undefined
        ? t("account.never")
        : html`${t("account.lastUsed")} ${when(page, lastUsed)}`,
    ],
    action: press(page, {
      action: accountPaths.apps,
      name: "revoke",
      value: id,
      label: t("account.revoke"),
      about: app,
    }),
  }));
  return accountLayout(
    page,
    { title: t("account.apps"), lead: t("account.appsText") },
    html`${items.length === 0 ? none(t("account.none")) : list(items)}
${pager(page, accountPaths.apps, parts)}`,
  );
}

function accessText(
  { t }: AccountPage,
  access: ConsentedAccess,
  names: { app: string; organization: string },
): string | undefined {
  switch (access) {
    case ConsentedAccess.OWN_ACCOUNT:
      return t("access.own");
    case ConsentedAccess.ORGANIZATION:
      return t("access.organization", names);
    case ConsentedAccess.GIVEN:
      return t("access.instance", names);
    case ConsentedAccess.EVERYTHING:
    case ConsentedAccess.LEGACY:
      return t("access.everything");
    default:
      return undefined;
  }
}
