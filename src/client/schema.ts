/**
 * The schema as a caller needs it: the type and `<Type>Schema` of every message, and the enums, flat.
 *
 * Where two packages declare a name, the second stands in a namespace of its own: `settingsObject`, `userSchemaResource`,
 * `organizationResource`.
 */
export {
  type BadRequest,
  BadRequestSchema,
  type ErrorInfo,
  ErrorInfoSchema,
} from "#gen/google/rpc/error_details_pb.ts";
export * from "#gen/client_schema.ts";
