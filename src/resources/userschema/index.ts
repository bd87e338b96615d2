import type { Module } from "../../projection/module.ts";
import { userSchemaEvents } from "./events.ts";
import { userSchemaProjection } from "./projection.ts";

export type { UserSchema } from "./built-in.ts";
export { readableData, requireData } from "./data.ts";
export type { Actor } from "./permission.ts";
export { requireSchema, schemaById } from "./reader.ts";
export { userSchemaInactive, userSchemaNotFound } from "./userschema.ts";

/** User schemas: what the data of users looks like, and who may read and write it (resources, User schemas). */
export const userSchemaModule: Module = {
  events: [userSchemaEvents],
  projections: [userSchemaProjection],
};
