import { defineEvents, type EventOf, hold, payload, release } from "../../eventstore/event.ts";
import type { MemberContext } from "../../authz/permissions.ts";
import { claimOf, contextFrom, type ContextIds } from "./member-context.ts";

export const membershipClaim = "membership";

/** `isPending` where the roles do not count until the membership is accepted. */
export type Member = { userId: string; roles: string[]; isPending?: true };
type Removed = { userId: string };

const lifeOf = (type: MemberContext["type"]) => ({
  added: payload<Member & ContextIds>({
    claims: (member) => [hold(membershipClaim, claimOf(contextFrom(type, member), member.userId))],
  }),
  changed: payload<{ roles: string[] }>(),
  removed: payload<Removed>({ claims: () => [release(membershipClaim)] }),
  /** It went with its user or its context. */
  "cascade.removed": payload<Removed>({ claims: () => [release(membershipClaim)] }),
});

// A user of another organization can be named below the instance.
const awaited = (type: MemberContext["type"]) => ({
  ...lifeOf(type),
  /** Its roles count from now on. */
  accepted: payload<Record<string, never>>(),
});

const aggregateType = "membership";

/** Facts about the members of each kind of context: users and the roles they hold there. */
export const memberEvents = {
  system: defineEvents("system.member", lifeOf("system"), aggregateType),
  instance: defineEvents("instance.member", lifeOf("instance"), aggregateType),
  organization: defineEvents("org.member", awaited("organization"), aggregateType),
  project: defineEvents("project.member", awaited("project"), aggregateType),
  projectGrant: defineEvents("project.grant.member", awaited("projectGrant"), aggregateType),
};

export type MemberEvent = EventOf<(typeof memberEvents)[keyof typeof memberEvents]>;
