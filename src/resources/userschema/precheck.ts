import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { visible } from "./built-in.ts";
import { isObject } from "./json.ts";
import { linearPattern } from "./pattern.ts";
import { permissionKeyword } from "./permission.ts";

type Check = (value: JsonValue) => boolean;

// Far below what data may have of texts, and of bytes in all.
const longestText = 256;
const mostTexts = 60;

const says = new Set(["$schema", "title", "description", permissionKeyword]);
const ofRoot = new Set([...says, "type", "additionalProperties", "properties"]);
const ofText = new Set([...says, "type", "minLength", "maxLength", "pattern"]);
const plain = /^[ -~]*$/;

/**
 * A check that is true only for data that fits the schema; false means "ask the validator", which takes many times as long.
 *
 * It knows objects of texts with lengths and patterns, which is what nearly all users are, and vouches for nothing else.
 *
 * @param schema a document that has proven to be one (document.ts)
 */
export function compilePrecheck(schema: JsonObject): (data: JsonObject) => boolean {
  const { properties } = schema;
  if (!hasOnly(schema, ofRoot) || !isObject(properties)) return () => false;
  const checks = new Map<string, Check>();
  for (const [name, one] of Object.entries(properties)) {
    const check = textCheck(one);
    if (check !== undefined) checks.set(name, check);
  }
  return (data) => {
    const names = Object.keys(data);
    return (
      names.length <= mostTexts &&
      names.every((name) => {
        const [value, check] = [data[name], checks.get(name)];
        return value !== undefined && check !== undefined && check(value);
      })
    );
  };
}

function textCheck(schema: JsonValue): Check | undefined {
  if (!isObject(schema) || schema["type"] !== "string" || !hasOnly(schema, ofText))
    return undefined;
  const { minLength = 0, maxLength = longestText, pattern } = schema;
  const matches = typeof pattern === "string" ? patternCheck(pattern) : () => true;
  // Lengths are in code points, of which a text has at most as many as UTF-16 units, and at least half.
  const least = minLength === 1 ? 1 : 2 * Number(minLength);
  const most = Math.min(Number(maxLength), longestText);
  return (value) =>
    typeof value === "string" && value.length >= least && value.length <= most && matches(value);
}

function patternCheck(source: string): (text: string) => boolean {
  const pattern = linearPattern(source);
  return source === visible
    ? (text) => plain.test(text) || pattern.test(text)
    : (text) => pattern.test(text);
}

const hasOnly = (schema: JsonObject, names: ReadonlySet<string>): boolean =>
  Object.keys(schema).every((name) => names.has(name));
