import type { JsonObject } from "@bufbuild/protobuf";
import { begin, on, type Projection, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { instant, int, int64, json, optionalJson, table, text } from "../../storage/table.ts";
import { instanceEvents } from "../instance/index.ts";
import { builtInSchemas } from "./built-in.ts";
import { userSchemaEvents } from "./events.ts";

export const userSchemas = table(
  "user_schemas",
  {
    instanceId: text(),
    id: text(),
    type: text(),
    typeFolded: text(),
    state: text(),
    revision: int(),
    /** Nothing for a built-in schema: what it says is part of the service. */
    schema: optionalJson<JsonObject>(),
    possibleAuthenticators: json<string[]>(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [{ columns: ["instanceId", "creationDate", "id"] }],
    countedBy: "instanceId",
  },
);

const row = ({ instanceId, aggregateId }: { instanceId: string; aggregateId: string }) => ({
  instanceId,
  id: aggregateId,
});

const stored = on(userSchemaEvents, {
  "user_schema.created": (event) => [
    insertRow(userSchemas, {
      ...begin(event),
      ...event.payload,
      typeFolded: caseFold(event.payload.type),
      state: "active",
    }),
  ],
  "user_schema.updated": (event) => {
    const { type } = event.payload;
    const folded = type === undefined ? {} : { typeFolded: caseFold(type) };
    return [updateRows(userSchemas, row(event), { ...event.payload, ...folded, ...touch(event) })];
  },
  "user_schema.deactivated": (event) => [
    updateRows(userSchemas, row(event), { state: "inactive", ...touch(event) }),
  ],
  "user_schema.reactivated": (event) => [
    updateRows(userSchemas, row(event), { state: "active", ...touch(event) }),
  ],
  "user_schema.deleted": (event) => [deleteRows(userSchemas, row(event))],
});

/** The built-in schemas come with the instance, so that they are found, sorted and counted like all others. */
const builtIn = on(instanceEvents, {
  "instance.added": (event) =>
    [...builtInSchemas.values()].map(({ id, type, state, revision, possibleAuthenticators }) =>
      insertRow(userSchemas, {
        ...begin(event),
        id,
        type,
        typeFolded: caseFold(type),
        state,
        revision,
        possibleAuthenticators,
      }),
    ),
  "instance.removed": ({ instanceId }) => [deleteRows(userSchemas, { instanceId })],
});

export const userSchemaProjection: Projection = projection(
  "user_schemas",
  [userSchemas],
  builtIn,
  stored,
);
