import { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "USER_SCHEMA_NOT_FOUND";
const schema = { type: "object", properties: { name: { type: "string", maxLength: 200 } } };
const newSchema = ({ make, name }: World) => make("/user_schemas", { type: name(), schema });
const inactive = async (world: World) => {
  const id = await newSchema(world);
  await world.act(`/user_schemas/${id}/_deactivate`);
  return id;
};

export const userSchemaSamples: Record<string, Sample> = ofService(UserSchemaService.typeName, {
  CreateUserSchema: {
    valid: ({ name }) => ({ user_schema: { type: name(), schema } }),
    invalid: { request: { user_schema: { type: "", schema } }, field: "user_schema.type" },
    unknown: undefined,
    writes: true,
  },
  PatchUserSchema: {
    valid: async (world) => ({
      id: await newSchema(world),
      user_schema: {
        type: world.name(),
        possible_authenticators: ["AUTHENTICATOR_TYPE_PASSWORD"],
      },
    }),
    invalid: { request: { id: "1", user_schema: { type: tooLong } }, field: "user_schema.type" },
    unknown: { request: { id: "404", user_schema: { type: "x" } }, reason: unknown },
    writes: true,
  },
  DeactivateUserSchema: onId(unknown, newSchema),
  ReactivateUserSchema: onId(unknown, inactive),
  DeleteUserSchema: onId(unknown, newSchema),
  GetUserSchema: onId(unknown, () => "human", false),
  SearchUserSchemas: {
    valid: () => ({
      sorting_column: "USER_SCHEMA_FIELD_NAME_TYPE",
      filters: [{ in_ids: { ids: ["human", "machine"] } }],
    }),
    invalid: {
      request: { filters: [{ type_filter: { type: tooLong } }] },
      field: "filters[0].type_filter.type",
    },
    unknown: undefined,
    writes: false,
  },
});
