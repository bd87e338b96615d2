import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { type DomainError, internal, invalidArgument, invalidField } from "../../errors.ts";
import { fieldsByName, isObject, valueViolation } from "./json.ts";
import { percentDecode } from "./path-template.ts";

const maxParameters = 1000;
const maxDepth = 16;

/** The way from a message to one of its fields, through singular messages. */
export type FieldPath = readonly DescField[];

/** Which request fields the body and the path of the URL hold, so that a query parameter may not set them. */
export type Placement = {
  /** All fields, none, or the one top-level field that is the body. */
  body: "all" | "none" | DescField;
  /** The fields that the variables of the path fill, by name in the spelling of the schema. */
  variables: ReadonlyMap<string, FieldPath>;
};

/**
 * Resolves a dotted name in either spelling. Undefined when a step does not exist, or goes through a list, a map, a
 * scalar or a well-known type that JSON writes as one value.
 */
export function resolveFieldPath(desc: DescMessage, dotted: string): FieldPath | undefined {
  const steps = dotted.split(".");
  if (steps.length > maxDepth) return undefined;
  const path: DescField[] = [];
  let message: DescMessage | undefined = desc;
  for (const step of steps) {
    const field: DescField | undefined = message && fieldsByName(message).get(step);
    if (field === undefined) return undefined;
    path.push(field);
    message = isStep(field) ? field.message : undefined;
  }
  return path;
}

/** Writes a field path in the spelling of the schema. */
export function printFieldPath(path: FieldPath): string {
  return path.map((field) => field.name).join(".");
}

/** Whether one parameter can hold the field, or one element of it. */
export function isParameter(field: DescField): boolean {
  if (field.fieldKind === "map") return false;
  const message = field.message;
  return message === undefined || scalarTexts.has(message.typeName) || isWrapperDesc(message);
}

/**
 * Places the parameters of a query into the JSON of a request.
 *
 * Both spellings are accepted, repeated parameters fill lists, enums come by name or number. At most 1000 parameters,
 * names of at most 16 steps.
 * @param query the text behind the question mark, as it came
 * @throws MALFORMED_QUERY, TOO_MANY_QUERY_PARAMETERS, UNKNOWN_QUERY_PARAMETER, INVALID_QUERY_PARAMETER,
 *   REPEATED_QUERY_PARAMETER, QUERY_PARAMETER_IN_BODY, QUERY_PARAMETER_IN_PATH
 */
export function placeQuery(
  root: JsonObject,
  desc: DescMessage,
  query: string,
  placement: Placement,
): void {
  if (query === "") return;
  const pairs = query.split("&");
  if (pairs.length > maxParameters) {
    const message = `a query has at most ${maxParameters} parameters`;
    throw invalidArgument("TOO_MANY_QUERY_PARAMETERS", message);
  }
  for (const pair of pairs) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const typed = decode(equals < 0 ? pair : pair.slice(0, equals));
    const text = decode(equals < 0 ? "" : pair.slice(equals + 1));
    placeParameter(root, desc, typed, text, placement);
  }
}

/**
 * Places what the path of the URL says into the JSON of a request, over anything the body says about the same field:
 * the path is what was routed, logged and authorized.
 * @throws INVALID_PATH_PARAMETER when the text does not fit the type of the field
 */
export function placePathVariables(
  root: JsonObject,
  { variables }: Placement,
  captured: readonly (readonly [name: string, text: string])[],
): void {
  for (const [name, text] of captured) {
    const path = variables.get(name);
    const field = path?.at(-1);
    if (!path || !field) throw internal("UNBOUND_PATH_VARIABLE", `no field is bound to ${name}`);
    const holder = holderOf(root, path);
    if (!holder) continue; // the body has something else where a message belongs, which its reader refuses
    // Deleting makes the object a slow one: only what is there.
    if (field.jsonName in holder) delete holder[field.jsonName];
    holder[field.name] = convert(path, field, text, "INVALID_PATH_PARAMETER");
  }
}

// What decides that a name with dots ends: JSON writes these as one text.
const scalarTexts: ReadonlySet<string> = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

function isStep(field: DescField): field is DescField & { fieldKind: "message" } {
  return field.fieldKind === "message" && !hasCustomJsonRepresentation(field.message);
}

function decode(raw: string): string {
  const text = percentDecode(raw.includes("+") ? raw.replaceAll("+", "%20") : raw);
  if (text !== undefined) return text;
  throw invalidArgument(
    "MALFORMED_QUERY",
    "the query is not percent-encoded UTF-8; encode names and values each on their own",
  );
}

function placeParameter(
  root: JsonObject,
  desc: DescMessage,
  typed: string,
  text: string,
  placement: Placement,
): void {
  const path = resolveFieldPath(desc, typed);
  const [first, last] = [path?.[0], path?.at(-1)];
  if (!path || !first || !last || !isParameter(last)) throw unknown(desc, typed, placement);
  if (placement.body === "all" || placement.body === first) {
    throw refuse("QUERY_PARAMETER_IN_BODY", typed, "send it in the body, not in the query");
  }
  const name = printFieldPath(path);
  if (placement.variables.has(name)) {
    throw refuse("QUERY_PARAMETER_IN_PATH", typed, "the path sets it already; leave it out here");
  }
  const holder = holderOf(root, path);
  if (!holder) throw unknown(desc, typed, placement);
  const value = convert(path, last, text, "INVALID_QUERY_PARAMETER");
  const earlier = holder[last.name];
  if (last.fieldKind !== "list") {
    if (earlier !== undefined) throw refuse("REPEATED_QUERY_PARAMETER", typed, "send it once");
    holder[last.name] = value;
  } else if (Array.isArray(earlier)) {
    earlier.push(value);
  } else {
    holder[last.name] = [value];
  }
}

/** The object that holds the last field of the path, made where it is missing. */
function holderOf(root: JsonObject, path: FieldPath): JsonObject | undefined {
  let holder = root;
  for (const field of path.slice(0, -1)) {
    const key = Object.hasOwn(holder, field.jsonName) ? field.jsonName : field.name;
    const inner = Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (inner !== undefined && inner !== null && !isObject(inner)) return undefined;
    holder = inner ?? (holder[key] = emptyObject());
  }
  return holder;
}

/** A JSON object that inherits nothing, so that no name in it means more than it says. */
export function emptyObject(): JsonObject {
  return Object.create(null);
}

function convert(path: FieldPath, field: DescField, text: string, reason: string): JsonValue {
  const value = toJsonValue(field, text);
  const violation = valueViolation(field, value, { ignoreUnknownFields: false });
  if (violation) throw invalidField(printFieldPath(path), reason, violation.description);
  return value;
}

function toJsonValue(field: DescField, text: string): JsonValue {
  const isBool =
    field.scalar === ScalarType.BOOL || field.message?.typeName === "google.protobuf.BoolValue";
  if (isBool && (text === "true" || text === "false")) return text === "true";
  if (field.enum && /^-?[0-9]{1,10}$/.test(text)) return Number(text);
  return text;
}

function unknown(desc: DescMessage, typed: string, placement: Placement): DomainError {
  const names = desc.fields
    .filter((field) => placement.body !== field)
    .flatMap(acceptedNames)
    .filter((name) => !placement.variables.has(name));
  const accepted = placement.body === "all" || names.length === 0 ? "none" : names.join(", ");
  return refuse("UNKNOWN_QUERY_PARAMETER", typed, `no such parameter; accepted: ${accepted}`);
}

function acceptedNames(field: DescField): string[] {
  if (!isStep(field)) return isParameter(field) ? [field.name] : [];
  return field.message.fields
    .filter((inner) => isStep(inner) || isParameter(inner))
    .map((inner) => `${field.name}.${inner.name}${isStep(inner) ? ".*" : ""}`);
}

function refuse(reason: string, typed: string, problem: string): DomainError {
  return invalidField(
    typed.length > 100 ? `${typed.slice(0, 100)}…` : typed,
    reason,
    `query parameter: ${problem}`,
  );
}
