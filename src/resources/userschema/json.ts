import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The largest JSON that a user schema, or the data of a user, may be. */
export const maxBytes = 64 * 1024;
/** How deep objects and lists may stand in each other, the outermost included. */
export const maxDepth = 20;
const maxNameLength = 200;

// What code that is written without care takes for its own when it meets it in an object.
const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A path as error answers spell it: `address.locality`, `lists[0]`. */
export const below = (path: string, key: string | number): string =>
  typeof key === "number" ? `${path}[${key}]` : `${path}.${key}`;

/** What is wrong with a document before its meaning is looked at, and where. */
export type Flaw = { path: string; message: string };

/**
 * Copies a document into objects without prototype, in which nothing is found that was not given, and tells the first
 * thing that no document may hold.
 *
 * @param maxValues how many values the document may hold, those inside others included
 */
export function copyOf(
  document: JsonObject,
  path: string,
  maxValues: number,
): { copy: JsonObject } | Flaw {
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes > maxBytes) {
    return { path, message: `is ${bytes} bytes of JSON, the most allowed is ${maxBytes}` };
  }
  let values = 0;
  let flaw: Flaw | undefined;
  const copy = (value: JsonValue, at: string, depth: number): JsonValue => {
    if (flaw !== undefined) return null;
    values += 1;
    if (values > maxValues) flaw = { path, message: `holds more than ${maxValues} values` };
    if (typeof value !== "object" || value === null) return value;
    if (depth > maxDepth) flaw = { path: at, message: `is nested deeper than ${maxDepth} levels` };
    if (Array.isArray(value)) return value.map((one, i) => copy(one, below(at, i), depth + 1));
    const into: JsonObject = Object.create(null);
    for (const [name, one] of Object.entries(value)) {
      const message = flawOfName(name);
      if (message !== undefined)
        flaw ??= { path: below(at, name.slice(0, maxNameLength)), message };
      into[name] = copy(one, below(at, name), depth + 1);
    }
    return into;
  };
  const copied = copy(document, path, 1);
  if (flaw !== undefined) return flaw;
  return isObject(copied) ? { copy: copied } : { path, message: "must be an object" };
}

function flawOfName(name: string): string | undefined {
  if (forbiddenNames.has(name)) return "is a name that no property may have";
  return name.length > maxNameLength
    ? `is a name longer than ${maxNameLength} characters`
    : undefined;
}
