import type { UserDeps } from "../user/index.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { memberEvents, membershipClaim } from "./events.ts";
import { ownerConcerns } from "./concerns.ts";
import { lastOwnerStays } from "./last-owner.ts";
import { membershipAuthorize, membershipHandlers } from "./handlers.ts";
import { ownerWarningEvents, sweepOwnerWarnings } from "./owner-warnings.ts";
import { membershipProjection } from "./projection.ts";
import { membershipsGoAlong, removeContentsOfMemberships } from "./remove-memberships.ts";

export { managedMembers, memberMaker } from "./managed.ts";
export { memberships } from "./projection.ts";
export { linkHolders } from "./link-holders.ts";
export { membershipReader } from "./queries.ts";
export { powerReader } from "./power.ts";

/**
 * Memberships: who administers what.
 * @param grantEnds the types of events that end a project grant, and the memberships in it
 */
export const membershipModule = (grantEnds: readonly string[]): Module<UserDeps> => ({
  events: [...Object.values(memberEvents), ownerWarningEvents],
  projections: [membershipProjection],
  claimErrors: {
    [membershipClaim]: () =>
      alreadyExists("MEMBERSHIP_EXISTS", "the user is a member of this context already"),
  },
  concerns: ownerConcerns,
  reactions: (parts) => [membershipsGoAlong(parts, grantEnds)],
  invariants: ({ db }) => [lastOwnerStays({ db })],
  services: (deps) => [
    service(MembershipService, membershipHandlers(deps), membershipAuthorize(deps)),
  ],
  sweeps: (deps) => [sweepOwnerWarnings(deps)],
  contents: removeContentsOfMemberships,
});
