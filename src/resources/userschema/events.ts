import type { JsonObject } from "@bufbuild/protobuf";
import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";

/** What a user schema says: a JSON Schema of the data of its users, and how they may prove who they are. */
export type UserSchemaConfig = {
  type: string;
  schema: JsonObject;
  possibleAuthenticators: string[];
};

/** Facts about a user schema. `revision` comes with every new `schema`, one above the one before. */
export const userSchemaEvents = defineEvents("user_schema", {
  created: payload<UserSchemaConfig & { revision: number }>(),
  updated: payload<Partial<UserSchemaConfig> & { revision?: number }>(),
  deactivated: payload<Record<string, never>>(),
  reactivated: payload<Record<string, never>>(),
  deleted: payload<{ type: string }>(),
});

export type UserSchemaEvent = EventOf<typeof userSchemaEvents>;
