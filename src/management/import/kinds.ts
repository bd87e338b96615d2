import type { UserDeps } from "../../resources/user/index.ts";
import { appKinds } from "./apps.ts";
import { grantKinds } from "./grants.ts";
import { idpKinds } from "./idps.ts";
import type { Kind } from "./kind.ts";
import { linkKinds } from "./links.ts";
import { memberKinds, type MemberPorts } from "./members.ts";
import { messageKinds, messageLists } from "./messages.ts";
import { organizationKinds } from "./organizations.ts";
import { policyKinds } from "./policies.ts";
import type { ManagedSettings } from "../policy-names.ts";
import { projectKind } from "./projects.ts";
import { userKinds } from "./users.ts";

export type RankedKind = Kind & { rank: number };

/**
 * All kinds of records by name, in the order in which they are imported: whatever a record refers to comes before it,
 * wherever it stood in what was received. What has no resource here has no kind, and is refused.
 */
export function importKinds(
  deps: UserDeps,
  managed: ManagedSettings & MemberPorts,
): ReadonlyMap<string, RankedKind> {
  const all = [
    ...organizationKinds(deps),
    ...policyKinds(managed),
    ...messageKinds(),
    ...idpKinds(deps),
    projectKind(deps),
    ...appKinds(deps),
    ...userKinds(deps, managed),
    ...linkKinds(deps),
    ...grantKinds(deps),
    ...memberKinds(deps, managed),
  ];
  const order = [
    "org",
    "domains",
    "passwordComplexityPolicy",
    "loginPolicy",
    "lockoutPolicy",
    "secondFactors",
    "multiFactors",
    "labelPolicy",
    "loginTexts",
    ...messageLists,
    "oidcIdps",
    "jwtIdps",
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

const byHand: ReadonlyMap<string, string> = new Map([
  [
    "actions",
    "scripts of actions do not run here: put what they do behind a target, and set an execution",
  ],
  [
    "triggerActions",
    "triggers of actions are executions here: set them for the targets that you make",
  ],
  ["privacyPolicy", "links to policies are of apps here (policy_uri, tos_uri): set them there"],
  [
    "domainPolicy",
    "what domains must prove is set for the instance here: validate_org_domains of its login settings",
  ],
  [
    "iamPolicy",
    "what domains must prove is set for the instance here: validate_org_domains of its login settings",
  ],
  [
    "idps",
    "an organization may use all providers of its instance unless it deactivates one: set its state policy",
  ],
]);

/** Why records of a kind are refused, and what to do instead. */
export const whyUnsupported = (name: string): string =>
  byHand.get(name) ?? "records of this kind have no resource here: make what they are for by hand";
