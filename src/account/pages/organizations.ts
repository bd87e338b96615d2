import { html } from "../../html.ts";
import { short } from "../../login/parts/short.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { accountPaths } from "../paths.ts";
import type { Parts } from "../../login/parts/pager.ts";
import { pager } from "../parts/pager.ts";
import { list, none, section } from "../parts/list.ts";

export const rowsOfPage = 8;

export type OrganizationsView = {
  /** The organization that the account belongs to. */
  home: string;
  /** What the person administers, each with the names of roles. */
  memberships: readonly { place: string; roles: readonly string[] }[];
  /** Roles in projects, each granted by an organization. */
  grants: readonly { project: string; organization: string; roles: readonly string[] }[];
  parts: Parts;
};

const mostOfRoles = 200;

/** Where the person belongs, and what they may do there. */
export function organizationsPage(page: AccountPage, view: OrganizationsView): string {
  const { t } = page;
  const administers = view.memberships.map(({ place, roles }) => ({
    icon: "badge" as const,
    title: short(place),
    lines: [short(roles.join(", "), mostOfRoles)],
  }));
  const granted = view.grants.map(({ project, organization, roles }) => ({
    icon: "branch" as const,
    title: short(project),
    lines: [short(organization), short(roles.join(", "), mostOfRoles)],
  }));
  return accountLayout(
    page,
    { title: t("account.organizations"), lead: t("account.organizationsText") },
    html`${section(t("account.home"), list([{ icon: "building", title: view.home }]))}
${section(t("account.administers"), administers.length === 0 ? none(t("account.none")) : list(administers))}
${section(t("account.roles"), granted.length === 0 ? none(t("account.none")) : list(granted))}
${pager(page, accountPaths.organizations, view.parts)}`,
  );
}
