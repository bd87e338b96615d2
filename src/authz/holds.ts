import { type DomainError, permissionDenied } from "../errors.ts";
import type { Membership, Permissions, ResourceScope } from "./permissions.ts";
import { userGranting } from "./roles.ts";

/** Which hold on users a method gives or takes; in the words of the option `holds`. */
export type HoldKind =
  | "takeOver"
  | "giveBack"
  | "shutOut"
  | "removeFactor"
  | "usersOfOrganization"
  | "usersOfProvider"
  | "everybody";

/** A user whom a request holds, and how; by default as the method says. */
export type Held = { userId: string; kind?: "takeOver" | "shutOut" };

/** What a user may do: what the memberships that count give, and the user grants that count (decision 0087). */
export type Power = {
  /** The user's own organization. */
  organizationId: string;
  memberships: readonly Membership[];
  /** Where each of the user grants would be given. */
  grants: readonly (readonly ResourceScope[])[];
};

/** Whether everything that the user may do is among what the caller covers. */
export const coversUser = (permissions: Permissions, { memberships, grants }: Power): boolean =>
  memberships.every((membership) => permissions.covers(membership)) &&
  grants.every((resourceScopes) =>
    resourceScopes.some((resourceScope) => permissions.holds(userGranting, resourceScope)),
  );

/** What counts of a user's power for keeping them out: what they hold at the instance, at their organization and below. */
const atHome = (power: Power): Power => ({
  ...power,
  memberships: power.memberships.filter(
    ({ contextType, organizationId }) =>
      contextType === "instance" || organizationId === power.organizationId,
  ),
});

/** @throws PERMISSION_DENIED USER_OUTRANKS_CALLER */
export function requireCover(
  permissions: Permissions,
  power: Power,
  kind: "takeOver" | "shutOut",
): void {
  if (coversUser(permissions, kind === "shutOut" ? atHome(power) : power)) return;
  throw userOutranksCaller();
}

/** Whether the caller covers the owners of the instance, and with them everybody in it. */
export const coversEverybody = (permissions: Permissions): boolean =>
  permissions.covers({ contextType: "instance", contextId: "", roles: ["IAM_OWNER"] });

export const userOutranksCaller = (): DomainError =>
  permissionDenied(
    "USER_OUTRANKS_CALLER",
    "the user may do what the caller may not: only the user, or somebody who may do all of it, can do this",
  );
