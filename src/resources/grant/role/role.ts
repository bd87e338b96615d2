import { failedPrecondition, invalidField, notFound } from "../../../errors.ts";
import { aggregate, changedFields, isEmpty, type Patch } from "../../../eventstore/aggregate.ts";
import { type RoleConfig, type RoleEvent, roleEvents } from "./events.ts";

type State = RoleConfig | undefined;

export const role = aggregate(roleEvents, undefined as State, evolve);

function evolve(state: State, event: RoleEvent): State {
  switch (event.type) {
    case "project.role.added":
      return event.payload;
    case "project.role.changed":
      return state && { ...state, ...event.payload };
    case "project.role.removed":
      return undefined;
    default:
      return event satisfies never;
  }
}

export function addRole(state: State, config: RoleConfig): RoleEvent[] {
  if (state !== undefined) throw failedPrecondition("ROLE_EXISTS", "a role with this id exists");
  return [roleEvents.added(config)];
}

/** A patch that changes nothing is no event and no error. */
export function patchRole(
  state: State,
  patch: Patch<Pick<RoleConfig, "displayName" | "group">>,
): RoleEvent[] {
  if (state === undefined) throw roleNotFound();
  const changes = changedFields<Pick<RoleConfig, "displayName" | "group">>(state, patch);
  return isEmpty(changes) ? [] : [roleEvents.changed(changes)];
}

/** The key goes with the event, so that it can be read in a history. */
export function removeRole(state: State): RoleEvent[] {
  if (state === undefined) throw roleNotFound();
  return [roleEvents.removed({ key: state.key })];
}

export const roleNotFound = () => notFound("ROLE_NOT_FOUND", "the role does not exist");

/** Refuses keys that are not among the ones there are. */
export function requireKeys(
  wanted: readonly string[],
  available: readonly string[],
  field: string,
  place: string,
): void {
  const known = new Set(available);
  const wrong = wanted.find((key) => !known.has(key));
  if (wrong === undefined) return;
  throw invalidField(field, "ROLE_KEY_UNKNOWN", `"${wrong}" is no role of ${place}`, {
    metadata: { role_key: wrong },
  });
}

export const sameKeys = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((key) => b.includes(key));

export const withoutKeys = (keys: readonly string[], lost: readonly string[]): string[] =>
  keys.filter((key) => !lost.includes(key));
