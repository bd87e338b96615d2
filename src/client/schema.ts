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
export * from "#gen/idsvc/resources/domain/v3alpha/domain_pb.ts";
export * from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
export * from "#gen/idsvc/resources/domain/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/project_grant_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/role_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/user_grant_pb.ts";
export * from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
export * from "#gen/idsvc/resources/instance/v3alpha/instance_pb.ts";
export * from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
export * from "#gen/idsvc/resources/instance/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
export * from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
export * from "#gen/idsvc/resources/membership/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
export * as organizationResource from "#gen/idsvc/resources/org/v3alpha/organization_pb.ts";
export * from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
export * from "#gen/idsvc/resources/org/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/project/v3alpha/project_pb.ts";
export * from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
export * from "#gen/idsvc/resources/project/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
export * from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
export * from "#gen/idsvc/resources/user/v3alpha/metadata_pb.ts";
export * from "#gen/idsvc/resources/user/v3alpha/query_pb.ts";
export * from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
export * from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
export * from "#gen/idsvc/resources/userschema/v3alpha/query_pb.ts";
export * as userSchemaResource from "#gen/idsvc/resources/userschema/v3alpha/user_schema_pb.ts";
export * from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
export * from "#gen/idsvc/settings/feature/v3alpha/feature_pb.ts";
export * from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
export * as settingsObject from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
export * from "#gen/idsvc/settings/password/v3alpha/password_pb.ts";
export * from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
