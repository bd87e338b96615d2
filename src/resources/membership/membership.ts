import type {
  Membership as HeldRoles,
  Permissions,
  ResourceScope,
} from "../../authz/permissions.ts";
import { requireRoles } from "../../authz/roles.ts";
import { failedPrecondition, notFound, permissionDenied } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import type { AnyEvents } from "../../eventstore/event.ts";
import {
  grantMemberEvents,
  instanceMemberEvents,
  type Member,
  type MemberContext,
  type MemberEvent,
  organizationMemberEvents,
  projectMemberEvents,
  systemMemberEvents,
} from "./events.ts";

export type Membership = Omit<Member, "isPending"> & {
  context: MemberContext;
  /** Whether the roles count. */
  isAccepted: boolean;
};

type State = Membership | undefined;

// All sets share the aggregate; which of them names it is all the same.
const events: AnyEvents<MemberEvent> = instanceMemberEvents;

/** A membership: one user, one context, and the roles they hold there. */
export const membership = aggregate(events, undefined as State, evolve);

function evolve(state: State, event: MemberEvent): State {
  switch (event.type) {
    case "system.member.added":
      return begun(event.payload, { type: "system" });
    case "instance.member.added":
      return begun(event.payload, { type: "instance" });
    case "org.member.added": {
      const { organizationId } = event.payload;
      return begun(event.payload, { type: "organization", organizationId });
    }
    case "project.member.added": {
      const { organizationId, projectId } = event.payload;
      return begun(event.payload, { type: "project", organizationId, projectId });
    }
    case "project.grant.member.added": {
      const { organizationId, projectId, grantId } = event.payload;
      return begun(event.payload, { type: "projectGrant", organizationId, projectId, grantId });
    }
    default:
      if (event.type.endsWith(".removed")) return undefined;
      if (state === undefined) return undefined;
      if (event.type.endsWith(".accepted")) return { ...state, isAccepted: true };
      return "roles" in event.payload ? { ...state, roles: event.payload.roles } : state;
  }
}

const begun = ({ userId, roles, isPending }: Member, context: MemberContext): Membership => ({
  ...{ userId, roles, context },
  isAccepted: isPending !== true,
});

/** Makes a user a member of a context. */
export function addMember(
  state: State,
  { context, userId, roles, isPending }: Member & { context: MemberContext },
): MemberEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("MEMBERSHIP_EXISTS_ALREADY", "a membership with this id exists");
  }
  requireRoles(context.type, roles, "membership.roles");
  const member = { userId, roles, ...(isPending === true ? { isPending } : {}) };
  switch (context.type) {
    case "system":
      return [systemMemberEvents.added(member)];
    case "instance":
      return [instanceMemberEvents.added(member)];
    case "organization": {
      const { type: _, ...ofContext } = context;
      return [organizationMemberEvents.added({ ...member, ...ofContext })];
    }
    case "project": {
      const { type: _, ...ofContext } = context;
      return [projectMemberEvents.added({ ...member, ...ofContext })];
    }
    case "projectGrant": {
      const { type: _, ...ofContext } = context;
      return [grantMemberEvents.added({ ...member, ...ofContext })];
    }
  }
}

const eventsOf = ({ type }: MemberContext) =>
  ({
    system: systemMemberEvents,
    instance: instanceMemberEvents,
    organization: organizationMemberEvents,
    project: projectMemberEvents,
    projectGrant: grantMemberEvents,
  })[type];

/** Gives other roles. The same ones are no event and no error. */
export function changeRoles(state: State, roles: string[]): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  requireRoles(state.context.type, roles, "membership.roles");
  if (sameRoles(state.roles, roles)) return [];
  return [eventsOf(state.context).changed({ roles })];
}

export function removeMember(state: State): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  return [eventsOf(state.context).removed({ userId: state.userId })];
}

/** The roles count from now on. @throws FAILED_PRECONDITION MEMBERSHIP_ACCEPTED */
export function acceptMember(state: State): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  if (state.isAccepted) {
    throw failedPrecondition("MEMBERSHIP_ACCEPTED", "the membership is accepted already");
  }
  switch (state.context.type) {
    case "organization":
      return [organizationMemberEvents.accepted({})];
    case "project":
      return [projectMemberEvents.accepted({})];
    case "projectGrant":
      return [grantMemberEvents.accepted({})];
    default:
      return [];
  }
}

/** The membership goes because its user or its context has gone. */
export function cascadeMember(state: State): MemberEvent[] {
  return state === undefined
    ? []
    : [eventsOf(state.context)["cascade.removed"]({ userId: state.userId })];
}

/** The roles among these that are new to the member: what a giver must be allowed to give. */
export const newRoles = (state: State, roles: readonly string[]): string[] =>
  roles.filter((role) => state?.roles.includes(role) !== true);

/** The roles that a change takes from the member. */
export const lostRoles = (state: State, roles: readonly string[]): string[] =>
  (state?.roles ?? []).filter((role) => !roles.includes(role));

const sameRoles = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((role) => b.includes(role));

export const resourceScopeOf = (context: MemberContext): ResourceScope => {
  switch (context.type) {
    case "organization":
      return { type: "organization", id: context.organizationId };
    case "project":
      return { type: "project", id: context.projectId, organizationId: context.organizationId };
    case "projectGrant":
      return { type: "projectGrant", id: context.grantId, organizationId: context.organizationId };
    default:
      return context;
  }
};

/**
 * Refuses to give roles with permissions that the giver does not cover in the context (J2).
 *
 * @throws PERMISSION_DENIED ROLE_NOT_GRANTABLE naming the first such role
 */
export function requireMayGive(
  permissions: Permissions,
  context: MemberContext,
  roles: readonly string[],
): void {
  const beyond = uncovered(permissions, context, roles);
  if (beyond === undefined) return;
  throw permissionDenied(
    "ROLE_NOT_GRANTABLE",
    `${beyond} gives more than the caller has in this context: nobody gives what they do not have`,
    { metadata: { role: beyond } },
  );
}

/**
 * Refuses to take roles with permissions that the caller does not cover in the context (J2).
 *
 * @throws PERMISSION_DENIED ROLE_NOT_REVOCABLE naming the first such role
 */
export function requireMayTake(
  permissions: Permissions,
  context: MemberContext,
  roles: readonly string[],
): void {
  const beyond = uncovered(permissions, context, roles);
  if (beyond === undefined) return;
  throw permissionDenied(
    "ROLE_NOT_REVOCABLE",
    `${beyond} gives more than the caller has in this context: only who covers a role takes it away`,
    { metadata: { role: beyond } },
  );
}

const uncovered = (permissions: Permissions, context: MemberContext, roles: readonly string[]) =>
  roles.find((role) => !permissions.covers(asMembership({ context, roles: [role] })));

/** The membership as those see it who judge permissions. */
export const asMembership = ({
  context,
  roles,
}: Pick<Membership, "context" | "roles">): HeldRoles => ({ ...keyOf(context), roles });

function keyOf(context: MemberContext): Omit<HeldRoles, "roles"> {
  const { type: contextType } = context;
  switch (context.type) {
    case "organization": {
      const { organizationId } = context;
      return { contextType, contextId: organizationId, organizationId };
    }
    case "project":
      return { contextType, contextId: context.projectId, organizationId: context.organizationId };
    case "projectGrant":
      return { contextType, contextId: context.grantId, organizationId: context.organizationId };
    default:
      return { contextType, contextId: "" };
  }
}

export const membershipNotFound = () =>
  notFound("MEMBERSHIP_NOT_FOUND", "the membership does not exist");
