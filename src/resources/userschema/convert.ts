import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import {
  AuthenticatorType,
  type GetUserSchemaSchema,
  type PatchUserSchema,
  State,
  type UserSchema as UserSchemaMessage,
} from "#gen/idsvc/resources/userschema/v3alpha/user_schema_pb.ts";
import { invalidField } from "../../errors.ts";
import { toInstanceOwnedDetails } from "../object/details.ts";
import { compileDocument, DocumentFlaw } from "./document.ts";
import type { UserSchemaRow } from "./queries.ts";
import { toUserSchema } from "./reader.ts";
import type { UserSchemaConfig } from "./userschema.ts";

/**
 * A new user schema, whose document has proven to be one.
 *
 * @throws INVALID_ARGUMENT USER_SCHEMA_INVALID naming the path in the document
 */
export const toConfig = ({
  type,
  schema = {},
  possibleAuthenticators,
}: UserSchemaMessage): UserSchemaConfig => ({
  type,
  schema: requireDocument(schema),
  possibleAuthenticators: toNames(possibleAuthenticators),
});

/** @throws INVALID_ARGUMENT USER_SCHEMA_INVALID naming the path in the document */
export const toChanges = ({
  type,
  schema,
  possibleAuthenticators,
}: PatchUserSchema): Partial<UserSchemaConfig> => ({
  ...(type === undefined ? {} : { type }),
  ...(schema === undefined ? {} : { schema: requireDocument(schema) }),
  ...(possibleAuthenticators.length === 0
    ? {}
    : { possibleAuthenticators: toNames(possibleAuthenticators) }),
});

function requireDocument(schema: JsonObject): JsonObject {
  try {
    compileDocument(schema, "user_schema.schema");
    return schema;
  } catch (error) {
    if (!(error instanceof DocumentFlaw)) throw error;
    throw invalidField(error.path, "USER_SCHEMA_INVALID", error.message, { cause: error });
  }
}

const authenticators = Object.entries(AuthenticatorType);

// In the order of the enum: the same ways in another order are the same.
const toNames = (types: AuthenticatorType[]): string[] =>
  authenticators.filter(([, type]) => types.includes(type)).map(([name]) => name);

const fromNames = (names: string[]): AuthenticatorType[] =>
  authenticators.filter(([name]) => names.includes(name)).map(([, type]) => type);

export function toGetUserSchema(row: UserSchemaRow): MessageInitShape<typeof GetUserSchemaSchema> {
  const { type, revision, state, schema, possibleAuthenticators } = toUserSchema(row);
  return {
    details: toInstanceOwnedDetails(row),
    state: state === "active" ? State.ACTIVE : State.INACTIVE,
    revision,
    userSchema: {
      type,
      schema,
      possibleAuthenticators: fromNames(possibleAuthenticators),
    },
  };
}
