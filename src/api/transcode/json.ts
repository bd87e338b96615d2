import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  type Registry,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type FieldViolation, invalidArgument } from "../../errors.ts";

export type ReadOptions = {
  /** Old exports carry fields that are gone; everywhere else an unknown field is a mistake of the caller. */
  ignoreUnknownFields: boolean;
  /** Where the types of `google.protobuf.Any` are found. */
  registry?: Registry | undefined;
};

export type WriteOptions = {
  /** The spelling of field names: as in the schema, or lowerCamelCase. */
  jsonNames: "proto" | "lowerCamel";
  registry?: Registry | undefined;
};

/**
 * Reads a message from JSON, or says which field is wrong and what belongs there.
 *
 * Stricter than protobuf-es where that reads what no other reader does: integers as `"0x10"` or `" 1 "`, durations with
 * text behind the unit, unknown enum names under `ignoreUnknownFields`. Depth is the concern of `parseStrictJson`.
 * @throws INVALID_JSON_FIELD, UNKNOWN_FIELD with the full path of the field in the spelling of the schema
 */
export function readMessage<Desc extends DescMessage>(
  desc: Desc,
  json: JsonValue,
  options: ReadOptions,
): MessageShape<Desc> {
  const violation = messageViolation(desc, json, options);
  if (violation) throw refused(violation);
  try {
    return fromJson(desc, json, options);
  } catch (cause) {
    throw refused({ ...wrong(send(`a JSON object, a ${desc.name}`, json, "object")), cause });
  }
}

/** The name of the form that a message, or one field of it, has as JSON (see `writtenAs`). */
export const jsonForm = (jsonNames: WriteOptions["jsonNames"], field?: DescField): string =>
  field === undefined ? `json ${jsonNames}` : `json ${jsonNames} ${field.name}`;

/** Writes a message as JSON: zero values of fields without presence included, 64-bit integers as strings. */
export function writeMessage<Desc extends DescMessage>(
  desc: Desc,
  message: MessageShape<Desc>,
  { jsonNames, registry }: WriteOptions,
): JsonValue {
  const useProtoFieldName = jsonNames === "proto";
  return toJson(desc, message, { alwaysEmitImplicit: true, useProtoFieldName, registry });
}

/** What is wrong with a JSON value; `field` is the path from the value that was looked at, empty for itself. */
export type JsonViolation = FieldViolation & { reason: string; cause?: unknown };

const fieldTables = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

/** The fields of a message by both spellings of their names. */
export function fieldsByName(desc: DescMessage): ReadonlyMap<string, DescField> {
  let table = fieldTables.get(desc);
  if (!table) {
    table = new Map(
      desc.fields.flatMap((field) => [
        [field.name, field],
        [field.jsonName, field],
      ]),
    );
    fieldTables.set(desc, table);
  }
  return table;
}

/** Whether the value is a JSON object, not null and not a list. */
export function isObject(json: JsonValue | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** What is wrong with the JSON of one value: of a singular field, or of one element of a list or map. */
export function valueViolation(
  field: DescField,
  json: JsonValue,
  options: ReadOptions,
): JsonViolation | undefined {
  if (field.message) return messageViolation(field.message, json, options);
  const problem =
    field.enum === undefined
      ? scalarProblem(field.scalar, json)
      : isEnumValue(field.enum, json)
        ? undefined
        : send(`one of ${field.enum.values.map((value) => value.name).join(", ")}`, json, "string");
  return problem === undefined ? undefined : wrong(problem);
}

function messageViolation(
  desc: DescMessage,
  json: JsonValue,
  options: ReadOptions,
): JsonViolation | undefined {
  if (hasCustomJsonRepresentation(desc)) return wellKnownViolation(desc, json, options);
  if (!isObject(json)) return wrong(send(`a JSON object, a ${desc.name}`, json));
  const table = fieldsByName(desc);
  const seen = new Map<string, string>();
  for (const key of Object.keys(json)) {
    const field = table.get(key);
    const value = json[key];
    if (value === undefined) continue;
    if (field === undefined) {
      if (options.ignoreUnknownFields) continue;
      return { field: clip(key), reason: "UNKNOWN_FIELD", description: unknownField(desc) };
    }
    const violation = slotViolation(seen, field, value) ?? fieldViolation(field, value, options);
    if (violation) return within(field.name, violation);
  }
  return undefined;
}

// A field has one value, under one of its spellings; a oneof has one member.
function slotViolation(
  seen: Map<string, string>,
  field: DescField,
  json: JsonValue,
): JsonViolation | undefined {
  if (seen.has(field.name)) return wrong(`send it once, as ${field.name} or as ${field.jsonName}`);
  seen.set(field.name, field.name);
  if (field.oneof === undefined || (json === null && field.fieldKind === "scalar")) {
    return undefined;
  }
  // A oneof and a field can not share a name, so one map holds both.
  const other = seen.get(field.oneof.name);
  seen.set(field.oneof.name, field.name);
  return other === undefined
    ? undefined
    : wrong(`${other} is set too; send only one of ${namesOf(field.oneof.fields)}`);
}

function fieldViolation(
  field: DescField,
  json: JsonValue,
  options: ReadOptions,
): JsonViolation | undefined {
  if (json === null) return undefined; // null is an absent field; whether it may be absent is a rule of the schema
  if (field.fieldKind === "list") return listViolation(field, json, options);
  if (field.fieldKind === "map") return mapViolation(field, json, options);
  return valueViolation(field, json, options);
}

function listViolation(field: DescField, json: JsonValue, options: ReadOptions) {
  if (!Array.isArray(json)) {
    return wrong(send(`a JSON array of ${elementName(field)}`, json));
  }
  for (const [index, element] of json.entries()) {
    const violation = valueViolation(field, element, options);
    if (violation) return within(`[${index}]`, violation);
  }
  return undefined;
}

function mapViolation(
  field: DescField & { fieldKind: "map" },
  json: JsonValue,
  options: ReadOptions,
) {
  if (!isObject(json)) {
    return wrong(send(`a JSON object of ${elementName(field)} by key`, json));
  }
  for (const [key, value] of Object.entries(json)) {
    const isBoolKey = field.mapKey === ScalarType.BOOL && (key === "true" || key === "false");
    const problem = isBoolKey ? undefined : scalarProblem(field.mapKey, key);
    const violation = problem ? wrong(`key: ${problem}`) : valueViolation(field, value, options);
    if (violation) return within(`["${clip(key)}"]`, violation);
  }
  return undefined;
}

const duration = /^-?[0-9]{1,12}(?:\.[0-9]{1,9})?s$/;
const largestDurationSeconds = 315_576_000_000; // ten thousand years, the limit of the type

function isDuration(json: JsonValue): boolean {
  const isText = typeof json === "string" && duration.test(json);
  return isText && Math.abs(Number(json.slice(0, -1))) <= largestDurationSeconds;
}

const wellKnownForms: ReadonlyMap<string, string> = new Map([
  ["google.protobuf.Timestamp", 'a date and time such as "2006-01-02T15:04:05Z"'],
  ["google.protobuf.Duration", 'seconds such as "1.5s"'],
  ["google.protobuf.FieldMask", "lowerCamelCase field paths, separated by commas"],
  ["google.protobuf.Any", "a JSON object with a known @type"],
  ["google.protobuf.Struct", "a JSON object"],
  ["google.protobuf.ListValue", "a JSON array"],
]);

function wellKnownViolation(
  desc: DescMessage,
  json: JsonValue,
  options: ReadOptions,
): JsonViolation | undefined {
  if (isWrapperDesc(desc)) {
    const problem = scalarProblem(desc.fields[0]?.scalar, json);
    return problem === undefined ? undefined : wrong(problem);
  }
  const refuse = () =>
    wrong(send(wellKnownForms.get(desc.typeName) ?? "a JSON value", json, "string"));
  if (desc.typeName === "google.protobuf.Duration") return isDuration(json) ? undefined : refuse();
  try {
    fromJson(desc, json, options);
    return undefined;
  } catch (cause) {
    return { ...refuse(), cause };
  }
}

function isEnumValue(desc: DescEnum, json: JsonValue): boolean {
  if (typeof json === "string") {
    return desc.values.some((value) => value.name === json || value.jsonName === json);
  }
  if (json === null) return desc.typeName === "google.protobuf.NullValue";
  if (typeof json !== "number") return false;
  // A number without a name is for the rules of the schema to refuse (`defined_only`), as over gRPC.
  return desc.open ? int32.fits(json) : desc.values.some((value) => value.number === json);
}

type IntegerRange = { name: string; fits: (json: JsonValue) => boolean };

const int32 = integer(-(2n ** 31n), 2n ** 31n - 1n);
const uint32 = integer(0n, 2n ** 32n - 1n);
const int64 = integer(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = integer(0n, 2n ** 64n - 1n);
// Bounded, because the time to make a bigint of a text grows faster than the text.
const integerText = /^-?[0-9]{1,20}$/;

function integer(min: bigint, max: bigint): IntegerRange {
  const fits = (json: JsonValue) => {
    if (typeof json === "number") return Number.isInteger(json) && json >= min && json <= max;
    if (typeof json !== "string" || !integerText.test(json)) return false;
    const value = BigInt(json);
    return value >= min && value <= max;
  };
  return { name: `a whole number from ${min} to ${max}`, fits };
}

const decimalText = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const namedFloats: ReadonlySet<JsonValue> = new Set(["NaN", "Infinity", "-Infinity"]);

function isFloat(json: JsonValue, largest: number): boolean {
  if (namedFloats.has(json)) return true;
  const isNumber = typeof json === "number" || (typeof json === "string" && decimalText.test(json));
  return isNumber && Math.abs(Number(json)) <= largest;
}

const largestFloat = (2 - 2 ** -23) * 2 ** 127;
const base64 = /^([A-Za-z0-9+/_-]*)={0,2}$/;

function isBase64(json: JsonValue): boolean {
  const digits = typeof json === "string" ? base64.exec(json)?.[1] : undefined;
  return digits !== undefined && digits.length % 4 !== 1;
}

function scalarProblem(scalar: ScalarType | undefined, json: JsonValue): string | undefined {
  const range = ({ fits, name }: IntegerRange) =>
    fits(json) ? undefined : send(name, json, "number", "string");
  switch (scalar) {
    case ScalarType.STRING:
      if (typeof json !== "string") return send("a string", json);
      return json.isWellFormed() ? undefined : "send text without half surrogate pairs";
    case ScalarType.BOOL:
      return typeof json === "boolean" ? undefined : send("true or false", json);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return range(int32);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return range(uint32);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return range(int64);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return range(uint64);
    case ScalarType.DOUBLE:
      return isFloat(json, Number.MAX_VALUE) ? undefined : send("a number", json, "number");
    case ScalarType.FLOAT:
      return isFloat(json, largestFloat) ? undefined : send("a 32-bit float", json, "number");
    case ScalarType.BYTES:
      return isBase64(json) ? undefined : send("base64 text", json, "string");
    case undefined:
      return undefined;
  }
}

function wrong(description: string): JsonViolation {
  return { field: "", reason: "INVALID_JSON_FIELD", description };
}

function within(step: string, violation: JsonViolation): JsonViolation {
  const dot = violation.field === "" || violation.field.startsWith("[") ? "" : ".";
  return { ...violation, field: `${step}${dot}${violation.field}` };
}

function refused({ field, reason, description, cause }: JsonViolation) {
  const message = field === "" ? description : `${field}: ${description}`;
  const violations = [{ field, reason, description }];
  return invalidArgument(reason, message, { violations, cause });
}

// Names the kind of what was sent, unless it is a right one; never the value, which may be a secret.
function send(expected: string, json: JsonValue, ...rightKinds: string[]): string {
  const kind = Array.isArray(json) ? "list" : json === null ? "null" : typeof json;
  if (rightKinds.includes(kind)) return `send ${expected}`;
  const article = kind === "null" ? "" : kind === "object" ? "an " : "a ";
  return `send ${expected}, not ${article}${kind}`;
}

function elementName(field: DescField): string {
  return field.message?.name ?? field.enum?.name ?? "values";
}

function unknownField(desc: DescMessage): string {
  const accepted = desc.fields.length === 0 ? "none" : namesOf(desc.fields);
  return `${desc.name} has no such field; accepted: ${accepted}`;
}

function namesOf(fields: readonly DescField[]): string {
  return fields.map((field) => field.name).join(", ");
}

function clip(key: string): string {
  return key.length > 100 ? `${key.slice(0, 100)}…` : key;
}
