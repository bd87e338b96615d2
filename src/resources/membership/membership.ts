import type { Permissions, Place } from "../../authz/permissions.ts";
import { requireGrantable, requireRoles } from "../../authz/roles.ts";
import { failedPrecondition, notFound } from "../../errors.ts";
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

export type Membership = Member & { context: MemberContext };

type State = Membership | undefined;

// All sets share the aggregate; which of them names it is all the same.
const events: AnyEvents<MemberEvent> = instanceMemberEvents;

/** A membership: one user, one context, and the roles he holds there. */
export const membership = aggregate(events, undefined as State, evolve);

function evolve(state: State, event: MemberEvent): State {
  switch (event.type) {
    case "system.member.added":
      return { ...event.payload, context: { type: "system" } };
    case "instance.member.added":
      return { ...event.payload, context: { type: "instance" } };
    case "org.member.added": {
      const { userId, roles, ...place } = event.payload;
      return { userId, roles, context: { type: "organization", ...place } };
    }
    case "project.member.added": {
      const { userId, roles, ...place } = event.payload;
      return { userId, roles, context: { type: "project", ...place } };
    }
    case "project.grant.member.added": {
      const { userId, roles, ...place } = event.payload;
      return { userId, roles, context: { type: "projectGrant", ...place } };
    }
    default:
      if (event.type.endsWith(".removed")) return undefined;
      return state === undefined || !("roles" in event.payload)
        ? state
        : { ...state, roles: event.payload.roles };
  }
}

/** Makes a user a member of a context. */
export function addMember(state: State, { userId, roles, context }: Membership): MemberEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("MEMBERSHIP_EXISTS_ALREADY", "a membership with this id exists");
  }
  requireRoles(context.type, roles, "membership.roles");
  const member = { userId, roles };
  switch (context.type) {
    case "system":
      return [systemMemberEvents.added(member)];
    case "instance":
      return [instanceMemberEvents.added(member)];
    case "organization": {
      const { type: _, ...place } = context;
      return [organizationMemberEvents.added({ ...member, ...place })];
    }
    case "project": {
      const { type: _, ...place } = context;
      return [projectMemberEvents.added({ ...member, ...place })];
    }
    case "projectGrant": {
      const { type: _, ...place } = context;
      return [grantMemberEvents.added({ ...member, ...place })];
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
export function changeRoles(
  state: State,
  roles: string[],
  others: { isOwner: boolean },
): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  requireRoles(state.context.type, roles, "membership.roles");
  if (sameRoles(state.roles, roles)) return [];
  if (!roles.includes(lastingRole)) requireOtherOwner(state, others);
  return [eventsOf(state.context).changed({ roles })];
}

export function removeMember(state: State, others: { isOwner: boolean }): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  requireOtherOwner(state, others);
  return [eventsOf(state.context).removed({ userId: state.userId })];
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

export const lastingRole = "IAM_OWNER";

function requireOtherOwner({ roles, context }: Membership, others: { isOwner: boolean }) {
  if (context.type !== "instance" || !roles.includes(lastingRole)) return;
  if (others.isOwner) return;
  throw failedPrecondition(
    "LAST_OWNER",
    "the instance would be without an IAM_OWNER: make somebody else one first",
  );
}

const sameRoles = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((role) => b.includes(role));

export const placeOf = (context: MemberContext): Place => {
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

/** Refuses to give roles with permissions that the giver lacks in the context (resources, Memberships). */
export const requireMayGive = (
  permissions: Permissions,
  context: MemberContext,
  roles: readonly string[],
): void =>
  requireGrantable(context.type, roles, (permission) =>
    permissions.holds(permission, placeOf(context)),
  );

export const membershipNotFound = () =>
  notFound("MEMBERSHIP_NOT_FOUND", "the membership does not exist");
