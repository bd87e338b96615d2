import { requireRoles } from "../../authz/roles.ts";
import { failedPrecondition } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type InstanceMemberEvent, instanceMemberEvents, type Member } from "./events.ts";

/** A membership: one user, one context, and the roles he holds there. */
export const membership = aggregate(
  instanceMemberEvents,
  undefined as Member | undefined,
  (_, event) => event.payload,
);

/** Makes a user a member of the instance. */
export function addInstanceMember(
  state: Member | undefined,
  member: Member,
): InstanceMemberEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("MEMBERSHIP_EXISTS_ALREADY", "a membership with this id exists");
  }
  requireRoles("instance", member.roles, "membership.roles");
  return [instanceMemberEvents.added(member)];
}
