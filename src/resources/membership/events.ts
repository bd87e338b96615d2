import { defineEvents, type EventOf, hold, payload } from "../../eventstore/event.ts";

export const membershipClaim = "membership";

export type Member = { userId: string; roles: string[] };

const memberClaim = ({ userId }: Member) => [hold(membershipClaim, `instance/${userId}`)];

/** Facts about the members of an instance: users and the roles they hold on it. */
export const instanceMemberEvents = defineEvents(
  "instance.member",
  { added: payload<Member>({ claims: memberClaim }) },
  "membership",
);

export type InstanceMemberEvent = EventOf<typeof instanceMemberEvents>;
