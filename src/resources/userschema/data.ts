import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidArgument, permissionDenied } from "../../errors.ts";
import type { UserSchema } from "./built-in.ts";
import { type CompiledSchema, compileDocument } from "./document.ts";
import { copyOf, type Flaw, isObject } from "./json.ts";
import { type Actor, readable, unwritable } from "./permission.ts";
import { compilePrecheck } from "./precheck.ts";
import { fits, flawsOf } from "./validator.ts";

/** How many values the data of a user holds at most, those inside others included. */
const maxValues = 4_096;
const root = "user.data";

const capacity = 200;
type Compiled = CompiledSchema & { passesPrecheck: (data: JsonObject) => boolean };
const compiled = new Map<string, Compiled>();
// Built-in ones are the same object always.
const byObject = new WeakMap<JsonObject, Compiled>();

function compile({ schema }: UserSchema): Compiled {
  let known = byObject.get(schema);
  if (known === undefined) byObject.set(schema, (known = compileByText(schema)));
  return known;
}

// By its text: a schema that comes from another read is another object.
function compileByText(schema: JsonObject): Compiled {
  const text = JSON.stringify(schema);
  let known = compiled.get(text);
  if (known === undefined) {
    known = { ...compileDocument(schema, "schema"), passesPrecheck: compilePrecheck(schema) };
    const [oldest] = compiled.keys();
    if (compiled.size >= capacity && oldest !== undefined) compiled.delete(oldest);
    compiled.set(text, known);
  }
  return known;
}

/**
 * Refuses data that a new user of the schema cannot have, or that the actor may not write.
 *
 * Data is an object of at most 64 KiB of JSON, 4096 values and 20 levels, with names of at most 200 characters.
 *
 * @param as the one who writes: who manages the user, or the user
 * @throws INVALID_ARGUMENT USER_DATA_INVALID naming each `user.data.<path>` that does not fit
 * @throws PERMISSION_DENIED USER_DATA_READ_ONLY naming a property that the actor may not write
 */
export function requireData(schema: UserSchema, data: JsonObject, as: Actor): void {
  const rules = compile(schema);
  requireFit(rules, data);
  requireWritable(rules, { patch: data, before: {}, after: data }, as);
}

/**
 * What a patch makes of data (RFC 7396): members of objects are changed one by one, one that is null goes, lists are replaced.
 *
 * @param before the whole data, also what the actor cannot read
 * @throws as `requireData`; who may not write a property is told so before anything is told of the data, and who may not
 * read it whatever stands there
 */
export function patchedData(
  schema: UserSchema,
  before: JsonObject,
  patch: JsonObject,
  as: Actor,
): JsonObject {
  const rules = compile(schema);
  const copied = copyOf(patch, root, maxValues);
  if ("message" in copied) throw invalidData([copied]);
  const after = merged(before, patch);
  requireWritable(rules, { patch, before, after }, as);
  requireFit(rules, after);
  return after;
}

function merged(before: JsonObject, patch: JsonObject): JsonObject {
  const all = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) all.delete(name);
    else all.set(name, isObject(value) ? merged(objectOr(all.get(name)), value) : value);
  }
  return Object.fromEntries(all);
}

const objectOr = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

function requireWritable(
  { permissions }: Compiled,
  change: Parameters<typeof unwritable>[1],
  as: Actor,
): void {
  const path = unwritable(permissions, change, as, root);
  if (path === undefined) return;
  throw permissionDenied("USER_DATA_READ_ONLY", `${path} may not be written by the caller`, {
    metadata: { field: path },
  });
}

function requireFit(rules: Compiled, data: JsonObject): void {
  if (rules.passesPrecheck(data)) return;
  const { schema, budget } = rules;
  const copied = copyOf(data, root, maxValues);
  if ("message" in copied) throw invalidData([copied]);
  const { copy } = copied;
  const flaws = budget.within(() => (fits(schema, copy) ? [] : flawsOf(schema, copy, root)));
  if (flaws === undefined) throw invalidData([tooMuch]);
  if (flaws.length > 0) throw invalidData(flaws);
}

/** The part of the data that an owner, or the user, may read. */
export const readableData = (schema: UserSchema, data: JsonObject, as: Actor): JsonObject =>
  readable(compile(schema).permissions, data, as);

const tooMuch: Flaw = {
  path: root,
  message: "takes too long to check: it is too large for its schema",
};

function invalidData(flaws: Flaw[]): Error {
  const [first = tooMuch] = flaws;
  return invalidArgument("USER_DATA_INVALID", `${first.path}: ${first.message}`, {
    violations: flaws.map(({ path, message }) => ({
      field: path,
      description: message,
      reason: "USER_DATA_INVALID",
    })),
  });
}
