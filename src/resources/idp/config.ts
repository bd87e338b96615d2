import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import {
  type IdpConfigs,
  type IdpType,
  type ProviderType,
  providerTypes,
} from "./provider-types.ts";

// A configuration is kept as the JSON of its message with all its fields, so that equal ones are equal texts.
const spelled = { useProtoFieldName: true, alwaysEmitImplicit: true };

/** A configuration as it was stored, as its message. It holds no secret. */
export function configOf<T extends IdpType>(type: T, stored: JsonObject): IdpConfigs[T] {
  const schema: DescMessage = providerTypes[type].config;
  // What an older build stored may have fields that are gone.
  return fromJson(schema, stored, { ignoreUnknownFields: true }) as IdpConfigs[T];
}

/** The fields that a message of a configuration gives, by their names in the schema. */
export const givenFields = (schema: DescMessage, message: MessageShape<DescMessage>): JsonObject =>
  objectOf(toJson(schema, message, { useProtoFieldName: true }));

/** A new configuration as it is stored, with what counts where a field is empty; its secret is left out. */
export function newConfig<C extends DescMessage>(
  { config: schema, secret, defaults = {} }: ProviderType<C>,
  wanted: MessageShape<C>,
): JsonObject {
  const given = givenFields(schema, wanted);
  return canonical(schema, without(secret, { ...defaults, ...given }));
}

/** A configuration with the changes of a patch; lists that are empty change nothing. */
export function patchedConfig(
  { config: schema, patch: patchSchema, secret }: ProviderType,
  stored: JsonObject,
  patch: MessageShape<DescMessage>,
): JsonObject {
  const given = givenFields(patchSchema, patch);
  return canonical(schema, merge(schema, stored, without(secret, given)));
}

/** The field by which the secret would be sent elsewhere, or less protected, than before. */
export const changedSecretBound = (
  { secretBoundFields }: ProviderType,
  before: JsonObject,
  after: JsonObject,
): string | undefined =>
  secretBoundFields.find((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));

/** A stored configuration with its fields in the order of the schema: a database may have turned them round. */
export const orderedConfig = (type: IdpType, stored: JsonObject): JsonObject =>
  canonical(providerTypes[type].config, stored);

function canonical(schema: DescMessage, config: JsonObject): JsonObject {
  const read = fromJson(schema, config, { ignoreUnknownFields: true });
  return objectOf(toJson(schema, read, spelled));
}

function merge(schema: DescMessage, stored: JsonObject, given: JsonObject): JsonObject {
  const merged = { ...stored };
  for (const field of schema.fields) {
    const value = given[field.name];
    if (value === undefined) continue;
    // Of a choice only the member that was given last counts.
    for (const { name } of field.oneof?.fields ?? []) delete merged[name];
    merged[field.name] = mergedField(field, stored[field.name], value);
  }
  return merged;
}

function mergedField(field: DescField, stored: JsonValue | undefined, given: JsonValue): JsonValue {
  if (field.fieldKind !== "message" || !isObject(stored) || !isObject(given)) return given;
  return merge(field.message, stored, given);
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function objectOf(value: JsonValue): JsonObject {
  if (!isObject(value)) throw new Error("the JSON of a message is an object");
  return value;
}

function without(secret: string | undefined, config: JsonObject): JsonObject {
  if (secret === undefined) return config;
  const { [secret]: _, ...others } = config;
  return others;
}
