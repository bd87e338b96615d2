import type { JsonValue } from "@bufbuild/protobuf";
import { isObject } from "./json.ts";

/** What a keyword of JSON Schema 2020-12 holds: schemas, or a value that must be right. */
export type Keyword =
  | { holds: "schema" | "schemas" | "namedSchemas"; isAsserted: boolean }
  | { holds: "value"; isAsserted: boolean; wrong: (value: JsonValue) => string | undefined };

type Check = Extract<Keyword, { holds: "value" }>["wrong"];

const must =
  (what: string, holds: (value: JsonValue) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : `must be ${what}`;

const types = ["null", "boolean", "object", "array", "number", "integer", "string"];
const isString = (value: JsonValue) => typeof value === "string";
const isNames = (value: JsonValue) =>
  Array.isArray(value) && value.every(isString) && new Set(value).size === value.length;
const isType = (value: JsonValue) => types.some((type) => type === value);

const number = must("a number", (value) => typeof value === "number");
const count = must(
  "a whole number, 0 or more",
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
);
const boolean = must("a boolean", (value) => typeof value === "boolean");
const string = must("a string", isString);
const list = must("a list", Array.isArray);
const anything: Check = () => undefined;

const asserted = (wrong: Check): Keyword => ({ holds: "value", isAsserted: true, wrong });
const noted = (wrong: Check): Keyword => ({ holds: "value", isAsserted: false, wrong });
const schema: Keyword = { holds: "schema", isAsserted: true };
const schemas: Keyword = { holds: "schemas", isAsserted: true };
const namedSchemas: Keyword = { holds: "namedSchemas", isAsserted: true };
const definitions: Keyword = { holds: "namedSchemas", isAsserted: false };

/** The keywords of JSON Schema 2020-12 that count here; `$ref`, `$schema`, `$id` and the permission come beside. */
export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["type", asserted(must(`one or some of ${types.join(", ")}`, isTypes))],
  ["enum", asserted(must("a list of at least one value", isFilled))],
  ["const", asserted(anything)],
  [
    "multipleOf",
    asserted(must("a number above 0", (value) => Number(value) > 0 && !isString(value))),
  ],
  ["maximum", asserted(number)],
  ["exclusiveMaximum", asserted(number)],
  ["minimum", asserted(number)],
  ["exclusiveMinimum", asserted(number)],
  ["maxLength", asserted(count)],
  ["minLength", asserted(count)],
  ["pattern", asserted(string)],
  ["format", asserted(string)],
  ["maxItems", asserted(count)],
  ["minItems", asserted(count)],
  ["uniqueItems", asserted(boolean)],
  ["maxContains", asserted(count)],
  ["minContains", asserted(count)],
  ["maxProperties", asserted(count)],
  ["minProperties", asserted(count)],
  ["required", asserted(must("a list of different names", isNames))],
  ["dependentRequired", asserted(must("an object of lists of different names", isListsOfNames))],
  ["allOf", schemas],
  ["anyOf", schemas],
  ["oneOf", schemas],
  ["prefixItems", schemas],
  ["not", schema],
  ["if", schema],
  ["then", schema],
  ["else", schema],
  ["items", schema],
  ["contains", schema],
  ["unevaluatedItems", schema],
  ["additionalProperties", schema],
  ["unevaluatedProperties", schema],
  ["propertyNames", schema],
  ["properties", namedSchemas],
  ["patternProperties", namedSchemas],
  ["dependentSchemas", namedSchemas],
  ["$defs", definitions],
  ["definitions", definitions],
  ["title", noted(string)],
  ["description", noted(string)],
  ["default", noted(anything)],
  ["examples", noted(list)],
  ["deprecated", noted(boolean)],
  ["readOnly", noted(boolean)],
  ["writeOnly", noted(boolean)],
  ["contentEncoding", noted(string)],
  ["contentMediaType", noted(string)],
  ["$comment", noted(string)],
]);

/** Keywords that would be passed over in silence, though their author means them to count. */
export const refusedKeywords: ReadonlyMap<string, string> = new Map([
  ...["$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "contentSchema"].map(
    (name): [string, string] => [name, "is not supported: refer to parts by $ref and their path"],
  ),
  ...["dependencies", "additionalItems", "$recursiveRef", "$recursiveAnchor"].map(
    (name): [string, string] => [name, "is no keyword of JSON Schema 2020-12"],
  ),
]);

function isFilled(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isTypes(value: JsonValue): boolean {
  return isType(value) || (isFilled(value) && isNames(value) && [value].flat().every(isType));
}

function isListsOfNames(value: JsonValue): boolean {
  return isObject(value) && Object.values(value).every(isNames);
}
