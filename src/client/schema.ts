/**
 * The schema as a caller needs it: the type and `<Type>Schema` of every message, and the enums, flat.
 *
 * A name that two packages declare does not compile here; the later package is then exported under its own name.
 */
export {
  type BadRequest,
  BadRequestSchema,
  type ErrorInfo,
  ErrorInfoSchema,
} from "#gen/google/rpc/error_details_pb.ts";
export * from "#gen/idsvc/object/v3alpha/object_pb.ts";
export * from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
export * from "#gen/idsvc/resources/action/v3alpha/execution_pb.ts";
export * from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/action/v3alpha/target_pb.ts";
export * from "#gen/idsvc/resources/event/v3alpha/event_pb.ts";
export * from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
export * from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
export * from "#gen/idsvc/resources/userschema/v3alpha/query_pb.ts";
export * as userSchemaResource from "#gen/idsvc/resources/userschema/v3alpha/user_schema_pb.ts";
export * from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
export * from "#gen/idsvc/settings/feature/v3alpha/feature_pb.ts";
export * from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
export * as settingsObject from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
