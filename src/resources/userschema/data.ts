import type { JsonObject } from "@bufbuild/protobuf";
import { invalidArgument, permissionDenied } from "../../errors.ts";
import type { UserSchema } from "./built-in.ts";
import { type CompiledSchema, compileDocument } from "./document.ts";
import { copyOf, type Flaw } from "./json.ts";
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
 * Refuses data that a user of the schema cannot have, or that the actor may not write.
 *
 * Data is an object of at most 64 KiB of JSON, 4096 values and 20 levels, with names of at most 200 characters.
 *
 * @param as the one who writes: who manages the user, or the user
 * @param previous the whole data before, also what the actor cannot read; absent for a new user
 * @throws INVALID_ARGUMENT USER_DATA_INVALID naming each `user.data.<path>` that does not fit
 * @throws PERMISSION_DENIED USER_DATA_READ_ONLY naming a property that differs and that the actor may not write
 */
export function requireData(
  schema: UserSchema,
  data: JsonObject,
  as: Actor,
  previous: JsonObject = {},
): void {
  const rules = compile(schema);
  const { permissions } = rules;
  if (!rules.passesPrecheck(data)) requireFit(rules, data);
  const path = unwritable(permissions, [previous, data], as, root);
  if (path !== undefined) {
    throw permissionDenied("USER_DATA_READ_ONLY", `${path} may not be written by the caller`, {
      metadata: { field: path },
    });
  }
}

function requireFit({ schema, budget }: CompiledSchema, data: JsonObject): void {
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
