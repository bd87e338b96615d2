import type { JsonObject } from "@bufbuild/protobuf";
import { failedPrecondition } from "../../errors.ts";
import type { Recorded } from "../../eventstore/event.ts";
import { begin, on } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow } from "../../storage/row-change.ts";
import { instanceEvents } from "../instance/index.ts";
import { field } from "../object/fields.ts";
import { defineResource, type ResourceConfig } from "../object/resource.ts";
import { builtInSchemas } from "./built-in.ts";
import { sameJson } from "../object/same-json.ts";

/** A JSON Schema of the data of its users, and how they may prove who they are. Without a schema in its row it is built in. */
export const userSchemas = defineResource({
  name: "user_schema",
  events: "user_schema",
  verbs: { added: "created", changed: "updated", removed: "deleted" },
  ownTexts: true,
  table: "user_schemas",
  owner: "instance",
  states: true,
  fields: {
    type: field.text({ folded: true }),
    /** Comes with every new schema, one above the one before. */
    revision: field.int({}),
    schema: field.optionalJson<JsonObject>()({ same: sameJson }),
    possibleAuthenticators: field.json<string[]>()({}),
  },
  kept: ["type"],
  // The built-in schemas come with the instance, so that they are found, sorted and counted like all others.
  also: (rows) => [
    on(instanceEvents, {
      "instance.added": (event: Recorded) =>
        [...builtInSchemas.values()].map(({ id, type, state, revision, possibleAuthenticators }) =>
          insertRow(rows, {
            ...begin(event),
            id,
            type,
            state,
            revision,
            possibleAuthenticators,
            typeFolded: caseFold(type),
          }),
        ),
      "instance.removed": ({ instanceId }) => [deleteRows(rows, { instanceId })],
    }),
  ],
  indexes: [{ columns: ["instanceId", "creationDate", "id"] }],
});

export type UserSchemaConfig = Omit<ResourceConfig<typeof userSchemas>, "revision">;
type State = typeof userSchemas.aggregate.initial;

export const createUserSchema = (state: State, config: UserSchemaConfig) =>
  userSchemas.add(state, { ...config, revision: 1 });

/**
 * Another schema is the next revision. Users who were made with an earlier revision stay as they are until they are changed.
 *
 * @throws FAILED_PRECONDITION USER_SCHEMA_INACTIVE, since an inactive schema is read-only
 */
export function patchUserSchema(state: State, patch: Partial<UserSchemaConfig>) {
  const now = userSchemas.require(state);
  const changed = userSchemas.patch(state, patch);
  if (changed.length > 0 && now.state === "inactive") throw userSchemaInactive();
  const isNew = patch.schema !== undefined && !sameJson(patch.schema, now.schema);
  return isNew ? userSchemas.patch(state, { ...patch, revision: now.revision + 1 }) : changed;
}

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
