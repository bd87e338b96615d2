import type { MemberContext, Permissions } from "../../authz/permissions.ts";
import { requireRoles } from "../../authz/roles.ts";
import { failedPrecondition, notFound, permissionDenied } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import type { AnyEvents } from "../../eventstore/event.ts";
import { type Member, type MemberEvent, memberEvents } from "./events.ts";
import { asMembership, contextFrom, type ContextIds } from "./member-context.ts";

export type Membership = Omit<Member, "isPending"> & {
  context: MemberContext;
  /** Whether the roles count. */
  isAccepted: boolean;
};

type State = Membership | undefined;

// All sets share the aggregate; which of them names it is all the same.
const events: AnyEvents<MemberEvent> = memberEvents.instance;

/** A membership: one user, one context, and the roles they hold there. */
export const membership = aggregate(events, undefined as State, evolve);

function evolve(state: State, event: MemberEvent): State {
  switch (event.type) {
    case "system.member.added":
      return begun("system", event.payload);
    case "instance.member.added":
      return begun("instance", event.payload);
    case "org.member.added":
      return begun("organization", event.payload);
    case "project.member.added":
      return begun("project", event.payload);
    case "project.grant.member.added":
      return begun("projectGrant", event.payload);
    default:
      if (state === undefined || event.type.endsWith(".removed")) return undefined;
      if (event.type.endsWith(".accepted")) return { ...state, isAccepted: true };
      return "roles" in event.payload ? { ...state, roles: event.payload.roles } : state;
  }
}

const begun = (type: MemberContext["type"], { userId, roles, isPending, ...ids }: Begun) => ({
  userId,
  roles,
  context: contextFrom(type, ids),
  isAccepted: isPending !== true,
});

type Begun = Member & ContextIds;

/** Makes a user a member of a context. */
export function addMember(
  state: State,
  { context, userId, roles, isPending }: Member & { context: MemberContext },
): MemberEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("MEMBERSHIP_EXISTS_ALREADY", "a membership with this id exists");
  }
  requireRoles(context.type, roles, "membership.roles");
  const { type, ...ids } = context;
  return [memberEvents[type].added({ userId, roles, ...(isPending && { isPending }), ...ids })];
}

/** Gives other roles. The same ones are no event and no error. */
export function changeRoles(state: State, roles: string[]): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  requireRoles(state.context.type, roles, "membership.roles");
  if (sameRoles(state.roles, roles)) return [];
  return [memberEvents[state.context.type].changed({ roles })];
}

export function removeMember(state: State): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  return [memberEvents[state.context.type].removed({ userId: state.userId })];
}

/** The roles count from now on. @throws FAILED_PRECONDITION MEMBERSHIP_ACCEPTED */
export function acceptMember(state: State): MemberEvent[] {
  if (state === undefined) throw membershipNotFound();
  if (state.isAccepted) {
    throw failedPrecondition("MEMBERSHIP_ACCEPTED", "the membership is accepted already");
  }
  const { context } = state;
  return "organizationId" in context ? [memberEvents[context.type].accepted({})] : [];
}

/** The membership goes because its user or its context has gone. */
export function cascadeMember(state: State): MemberEvent[] {
  return state === undefined
    ? []
    : [memberEvents[state.context.type]["cascade.removed"]({ userId: state.userId })];
}

/** The roles among these that are new to the member: what a giver must be allowed to give. */
export const newRoles = (state: State, roles: readonly string[]): string[] =>
  roles.filter((role) => state?.roles.includes(role) !== true);

/** The roles that a change takes from the member. */
export const lostRoles = (state: State, roles: readonly string[]): string[] =>
  (state?.roles ?? []).filter((role) => !roles.includes(role));

const sameRoles = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((role) => b.includes(role));

type Judged = [permissions: Permissions, context: MemberContext, roles: readonly string[]];

/**
 * Refuses to give roles with permissions that the giver does not cover in the context (J2).
 *
 * @throws PERMISSION_DENIED ROLE_NOT_GRANTABLE naming the first such role
 */
export function requireMayGive(...judged: Judged): void {
  const role = uncovered(...judged);
  if (role === undefined) return;
  const why = `${beyond(role)}: nobody gives what they do not have`;
  throw permissionDenied("ROLE_NOT_GRANTABLE", why, { metadata: { role } });
}

/**
 * Refuses to take roles with permissions that the caller does not cover in the context (J2).
 *
 * @throws PERMISSION_DENIED ROLE_NOT_REVOCABLE naming the first such role
 */
export function requireMayTake(...judged: Judged): void {
  const role = uncovered(...judged);
  if (role === undefined) return;
  const why = `${beyond(role)}: only who covers a role takes it away`;
  throw permissionDenied("ROLE_NOT_REVOCABLE", why, { metadata: { role } });
}

const beyond = (role: string) => `${role} gives more than the caller has in this context`;

const uncovered = (...[permissions, context, roles]: Judged) =>
  roles.find((role) => !permissions.covers(asMembership({ context, roles: [role] })));

export const membershipNotFound = () =>
  notFound("MEMBERSHIP_NOT_FOUND", "the membership does not exist");
