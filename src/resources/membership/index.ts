import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { instanceMemberEvents, membershipClaim } from "./events.ts";
import { membershipProjection } from "./projection.ts";

export { addInstanceMember, membership } from "./membership.ts";
export { membershipReader } from "./queries.ts";

export const membershipModule: Module = {
  events: [instanceMemberEvents],
  projections: [membershipProjection],
  claimErrors: {
    [membershipClaim]: () =>
      alreadyExists("MEMBERSHIP_EXISTS", "the user is a member of this context already"),
  },
};
