import type { Deps } from "../../projection/module.ts";
import { grantKinds } from "./grants.ts";
import type { Kind } from "./kind.ts";
import { linkKinds } from "./links.ts";
import { memberKinds } from "./members.ts";
import { organizationKinds } from "./organizations.ts";
import { projectKinds } from "./projects.ts";
import { userKinds } from "./users.ts";

export type RankedKind = Kind & { rank: number };

/**
 * All kinds of records by name, in the order in which they are imported: whatever a record refers to comes before it,
 * wherever it stood in what was received. What has no resource here has no kind, and is refused.
 */
export function importKinds(deps: Deps): ReadonlyMap<string, RankedKind> {
  const all = [
    ...organizationKinds(deps),
    ...projectKinds(deps),
    ...userKinds(deps),
    ...linkKinds(deps),
    ...grantKinds(deps),
    ...memberKinds(deps),
  ];
  const order = [
    "org",
    "domains",
    "passwordComplexityPolicy",
    "loginPolicy",
    "lockoutPolicy",
    "projects",
    "projectRoles",
    "oidcApps",
    "apiApps",
    "appKeys",
    "projectGrants",
    "humanUsers",
    "machineUsers",
    "machineKeys",
    "userMetadata",
    "userLinks",
    "userGrants",
    "orgMembers",
    "projectMembers",
    "projectGrantMembers",
  ];
  return new Map(all.map((each) => [each.name, { ...each, rank: order.indexOf(each.name) }]));
}

/** Of kinds that are not known: they come last, to be refused. */
export const lastRank = 1_000;
