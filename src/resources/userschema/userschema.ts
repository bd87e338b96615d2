import { failedPrecondition, notFound } from "../../errors.ts";
import { aggregate, changedFields, isEmpty } from "../../eventstore/aggregate.ts";
import { sameJson } from "./json.ts";
import { type UserSchemaConfig, type UserSchemaEvent, userSchemaEvents } from "./events.ts";

export type UserSchemaState = "active" | "inactive";

type Stored = UserSchemaConfig & { revision: number; state: UserSchemaState };

type State = Stored | undefined;

export const userSchema = aggregate(userSchemaEvents, undefined as State, evolve);

function evolve(state: State, event: UserSchemaEvent): State {
  if (event.type === "user_schema.created") return { ...event.payload, state: "active" };
  if (state === undefined) return undefined;
  switch (event.type) {
    case "user_schema.updated":
      return { ...state, ...event.payload };
    case "user_schema.deactivated":
      return { ...state, state: "inactive" };
    case "user_schema.reactivated":
      return { ...state, state: "active" };
    case "user_schema.deleted":
      return undefined;
    default:
      return event satisfies never;
  }
}

export function createUserSchema(state: State, config: UserSchemaConfig): UserSchemaEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("USER_SCHEMA_EXISTS", "a user schema with this id exists");
  }
  return [userSchemaEvents.created({ ...config, revision: 1 })];
}

/**
 * A patch that changes nothing is no event and no error; another schema is the next revision. Users who were made with
 * an earlier revision stay as they are until they are changed.
 *
 * @throws FAILED_PRECONDITION USER_SCHEMA_INACTIVE, since an inactive schema is read-only
 */
export function patchUserSchema(state: State, patch: Partial<UserSchemaConfig>): UserSchemaEvent[] {
  if (state === undefined) throw userSchemaNotFound();
  const { schema, ...rest } = patch;
  const isNew = schema !== undefined && !sameJson(schema, state.schema);
  const changes: Partial<UserSchemaConfig> = {
    ...changedFields<UserSchemaConfig>(state, rest),
    ...(isNew ? { schema } : {}),
  };
  if (isEmpty(changes)) return [];
  if (state.state === "inactive") throw userSchemaInactive();
  const revision = isNew ? { revision: state.revision + 1 } : {};
  return [userSchemaEvents.updated({ ...changes, ...revision })];
}

export function deactivateUserSchema(state: State): UserSchemaEvent[] {
  if (state === undefined) throw userSchemaNotFound();
  if (state.state === "inactive") {
    throw failedPrecondition("USER_SCHEMA_INACTIVE", "the user schema is inactive already");
  }
  return [userSchemaEvents.deactivated({})];
}

export function reactivateUserSchema(state: State): UserSchemaEvent[] {
  if (state === undefined) throw userSchemaNotFound();
  if (state.state === "active") {
    throw failedPrecondition("USER_SCHEMA_ACTIVE", "the user schema is active already");
  }
  return [userSchemaEvents.reactivated({})];
}

export function deleteUserSchema(state: State): UserSchemaEvent[] {
  if (state === undefined) throw userSchemaNotFound();
  return [userSchemaEvents.deleted({ type: state.type })];
}

export const userSchemaNotFound = () =>
  notFound("USER_SCHEMA_NOT_FOUND", "the user schema does not exist");

export const userSchemaInactive = () =>
  failedPrecondition(
    "USER_SCHEMA_INACTIVE",
    "the user schema is inactive: neither it nor its users can be changed until it is reactivated",
  );

export const userSchemaInUse = () =>
  failedPrecondition(
    "USER_SCHEMA_IN_USE",
    "the user schema has users: move them to another schema or delete them first",
  );

export const userSchemaBuiltIn = (id: string) =>
  failedPrecondition(
    "USER_SCHEMA_BUILT_IN",
    `the user schema ${id} is part of the service and cannot be changed or deleted: create another one`,
    { metadata: { id } },
  );
