import { defineEvents, type EventOf, hold, payload, release } from "../../eventstore/event.ts";

export const membershipClaim = "membership";

/** Where roles are held. Below the instance, the organization tells who owns the membership. */
export type MemberContext =
  | { type: "system" }
  | { type: "instance" }
  | { type: "organization"; organizationId: string }
  | { type: "project"; projectId: string; organizationId: string }
  | { type: "projectGrant"; grantId: string; projectId: string; organizationId: string };

/** `isPending` where the roles do not count until the membership is accepted. */
export type Member = { userId: string; roles: string[]; isPending?: true };
type OrganizationMember = Member & { organizationId: string };
type ProjectMember = OrganizationMember & { projectId: string };
type GrantMember = ProjectMember & { grantId: string };

type Changed = { roles: string[] };
type Removed = { userId: string };

// One membership for a user in a context (C4).
const lifeOf = <M extends Member>(contextKey: (member: M) => string) => ({
  added: payload<M>({
    claims: (member) => [hold(membershipClaim, `${contextKey(member)}/${member.userId}`)],
  }),
  changed: payload<Changed>(),
  removed: payload<Removed>({ claims: () => [release(membershipClaim)] }),
  /** It went with its user or its context. */
  "cascade.removed": payload<Removed>({ claims: () => [release(membershipClaim)] }),
});

// A user of another organization can be named below the instance.
const awaited = <M extends Member>(contextKey: (member: M) => string) => ({
  ...lifeOf(contextKey),
  /** Its roles count from now on. */
  accepted: payload<Record<string, never>>(),
});

const aggregateType = "membership";

/** Facts about the members of each kind of context: users and the roles they hold there. */
export const systemMemberEvents = defineEvents(
  "system.member",
  lifeOf<Member>(() => "system"),
  aggregateType,
);
export const instanceMemberEvents = defineEvents(
  "instance.member",
  lifeOf<Member>(() => "instance"),
  aggregateType,
);
export const organizationMemberEvents = defineEvents(
  "org.member",
  awaited<OrganizationMember>(({ organizationId }) => `org/${organizationId}`),
  aggregateType,
);
export const projectMemberEvents = defineEvents(
  "project.member",
  awaited<ProjectMember>(({ projectId }) => `project/${projectId}`),
  aggregateType,
);
export const grantMemberEvents = defineEvents(
  "project.grant.member",
  awaited<GrantMember>(({ grantId }) => `grant/${grantId}`),
  aggregateType,
);

export type MemberEvent =
  | EventOf<typeof systemMemberEvents>
  | EventOf<typeof instanceMemberEvents>
  | EventOf<typeof organizationMemberEvents>
  | EventOf<typeof projectMemberEvents>
  | EventOf<typeof grantMemberEvents>;
