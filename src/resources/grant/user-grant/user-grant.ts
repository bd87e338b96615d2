import { failedPrecondition, notFound } from "../../../errors.ts";
import { aggregate } from "../../../eventstore/aggregate.ts";
import { sameKeys, withoutKeys } from "../role/role.ts";
import { type UserGrantConfig, type UserGrantEvent, userGrantEvents } from "./events.ts";

export type UserGrant = UserGrantConfig & { state: "active" | "inactive" };

type State = UserGrant | undefined;

export const userGrant = aggregate(userGrantEvents, undefined as State, evolve);

function evolve(state: State, event: UserGrantEvent): State {
  if (event.type === "user.grant.added") return { ...event.payload, state: "active" };
  if (state === undefined) return undefined;
  switch (event.type) {
    case "user.grant.changed":
    case "user.grant.cascade.changed":
      return { ...state, roleKeys: event.payload.roleKeys };
    case "user.grant.deactivated":
      return { ...state, state: "inactive" };
    case "user.grant.reactivated":
      return { ...state, state: "active" };
    case "user.grant.removed":
    case "user.grant.cascade.removed":
      return undefined;
    default:
      return event satisfies never;
  }
}

export function addUserGrant(state: State, config: UserGrantConfig): UserGrantEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("USER_GRANT_ID_USED", "a user grant with this id exists");
  }
  return [userGrantEvents.added(config)];
}

/** Gives other roles. The same ones are no event and no error. */
export function changeUserRoles(state: State, roleKeys: string[]): UserGrantEvent[] {
  if (state === undefined) throw userGrantNotFound();
  const { projectId, projectGrantId } = state;
  return sameKeys(state.roleKeys, roleKeys)
    ? []
    : [userGrantEvents.changed({ projectId, projectGrantId, roleKeys })];
}

/** The project or the project grant lost roles. What is left may be nothing: the grant itself stays. */
export function loseUserRoles(state: State, lost: readonly string[]): UserGrantEvent[] {
  if (state === undefined) return [];
  const { projectId, projectGrantId } = state;
  const roleKeys = withoutKeys(state.roleKeys, lost);
  return roleKeys.length === state.roleKeys.length
    ? []
    : [userGrantEvents["cascade.changed"]({ projectId, projectGrantId, roleKeys })];
}

export function deactivateUserGrant(state: State): UserGrantEvent[] {
  if (state === undefined) throw userGrantNotFound();
  if (state.state === "inactive") {
    throw failedPrecondition("USER_GRANT_INACTIVE", "the user grant is inactive already");
  }
  return [userGrantEvents.deactivated({})];
}

export function activateUserGrant(state: State): UserGrantEvent[] {
  if (state === undefined) throw userGrantNotFound();
  if (state.state === "active") {
    throw failedPrecondition("USER_GRANT_ACTIVE", "the user grant is active already");
  }
  return [userGrantEvents.reactivated({})];
}

export function removeUserGrant(state: State): UserGrantEvent[] {
  if (state === undefined) throw userGrantNotFound();
  const { userId, projectId, projectGrantId } = state;
  return [userGrantEvents.removed({ userId, projectId, projectGrantId })];
}

/** The user grant goes because its user, its project or its project grant has gone. */
export function cascadeUserGrant(state: State): UserGrantEvent[] {
  if (state === undefined) return [];
  const { userId, projectId, projectGrantId } = state;
  return [userGrantEvents["cascade.removed"]({ userId, projectId, projectGrantId })];
}

export const userGrantNotFound = () =>
  notFound("USER_GRANT_NOT_FOUND", "the user grant does not exist");
