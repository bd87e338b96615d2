import { createRequire } from "node:module";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type * as Formats from "typebox/format";
import type * as Schemas from "typebox/schema";
import { below, type Flaw } from "./json.ts";

/**
 * The validator, loaded when the first data is checked: it takes longer to load than all else the service needs at
 * start.
 */
const load = createRequire(import.meta.url);
const validator = (): typeof Schemas => load("typebox/schema");
const formats = (): typeof Formats => load("typebox/format");

/** A schema as the validator takes it: keywords that were checked, and refinements. */
export type ValidatorSchema = object | boolean;

/** A check of one value beside the keywords that the validator knows. */
export type Refinement = { check(value: unknown): boolean; error(): string };

// No format here has longer texts; none of these tests takes more than a few steps a character.
const maxFormatted = 4_096;

const tests: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", (text) => formats().IsDate(text)],
  ["time", (text) => formats().IsTime(text)],
  ["date-time", (text) => formats().IsDateTime(text)],
  ["duration", (text) => formats().IsDuration(text)],
  ["email", (text) => formats().IsEmail(text)],
  ["hostname", (text) => formats().IsHostname(text)],
  ["ipv4", (text) => formats().IsIPv4(text)],
  ["ipv6", (text) => formats().IsIPv6(text)],
  ["uri", (text) => formats().IsUri(text)],
  ["uri-reference", (text) => formats().IsUriReference(text)],
  ["uuid", (text) => formats().IsUuid(text)],
  ["json-pointer", (text) => formats().IsJsonPointer(text)],
]);

/** What a format demands; formats that are not known demand nothing, as JSON Schema says. */
export function formatTest(format: string): Refinement[] {
  const test = tests.get(format);
  if (test === undefined) return [];
  return [
    {
      check: (value) => typeof value !== "string" || (value.length <= maxFormatted && test(value)),
      error: () => `must have the format ${format}`,
    },
  ];
}

/** Whether the data fits the schema. */
export const fits = (schema: ValidatorSchema, data: JsonObject): boolean =>
  validator().Check(schema, data);

/** What is wrong with data that does not fit: a few flaws, each path once, never with a value. */
export function flawsOf(schema: ValidatorSchema, data: JsonObject, path: string): Flaw[] {
  const [, errors] = validator().Errors(schema, data);
  const byPath = new Map<string, string>();
  // The bare schema `false` says least: what forbids by it comes after.
  const bare = errors.filter(({ keyword }) => keyword === "boolean");
  for (const error of [...errors.filter((one) => !bare.includes(one)), ...bare]) {
    const at = pathOf(data, error.instancePath, path);
    for (const [where, message] of explain(at, error)) {
      if (!byPath.has(where)) byPath.set(where, message);
    }
  }
  return [...byPath].map(([where, message]) => ({ path: where, message }));
}

type ValidatorError = ReturnType<typeof Schemas.Errors>[1][number];

function explain(at: string, error: ValidatorError): [path: string, message: string][] {
  const each = (names: readonly PropertyKey[], message: string): [string, string][] =>
    names.map((name) => [below(at, String(name)), message]);
  switch (error.keyword) {
    case "required":
      return each(error.params.requiredProperties, "is required");
    case "additionalProperties":
      return each(error.params.additionalProperties, "is no property of the schema");
    case "unevaluatedProperties":
      return each(error.params.unevaluatedProperties, "is no property of the schema");
    case "boolean":
      return [[at, "must not be given"]];
    default:
      return [[at, error.message]];
  }
}

// The validator gives JSON pointers; a number is an index only where a list is.
function pathOf(data: JsonObject, pointer: string, path: string): string {
  let value: JsonValue | undefined = data;
  let at = path;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = below(at, Array.isArray(value) ? Number(name) : name);
    value = Reflect.get(Object(value), name);
  }
  return at;
}
