import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Budget, createBudget, metered } from "./budget.ts";
import { below, copyOf, isObject, maxBytes } from "./json.ts";
import { type Keyword, keywords, refusedKeywords } from "./keywords.ts";
import { isSimplePattern, linearPattern } from "./pattern.ts";
import {
  namesOf,
  type Permissions,
  permissionKeyword,
  permissionsOf,
  referredBy,
  wrongPermission,
} from "./permission.ts";
import { formatTest, type Refinement, type ValidatorSchema } from "./validator.ts";

/** The most values that a schema document holds. */
const maxValues = 8_192;
/** How long a document may be once every `$ref` is replaced by what it refers to. */
const maxExpanded = 4 * maxBytes;
const draft = "https://json-schema.org/draft/2020-12/schema";

/** A document that no schema may be: where it is wrong, and why. */
export class DocumentFlaw extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.name = "DocumentFlaw";
    this.path = path;
  }
}

/** A schema document that has proven to be one, in the form that the validator takes. */
export type CompiledSchema = {
  schema: ValidatorSchema;
  permissions: Permissions;
  /** What a check may still cost. */
  budget: Budget;
};

/** One schema of the document, what it costs, and where a permission stands in it that its properties do not carry. */
type Part = { schema: ValidatorSchema; cost: number; permissionAt: string | undefined };

type Document = {
  root: JsonObject;
  rootPath: string;
  budget: Budget;
  /** By the pointer of the part; nothing while it is being compiled, which is how a circle shows. */
  parts: Map<string, Part | undefined>;
};

/**
 * Checks a schema document and makes it ready: every keyword has the type that JSON Schema 2020-12 gives it, `$ref`
 * stays in the document and never leads back to itself, and no data can make the check take long.
 *
 * `path` is how the document is called in errors.
 * @throws DocumentFlaw
 */
export function compileDocument(document: JsonObject, path: string): CompiledSchema {
  const copied = copyOf(document, path, maxValues);
  if ("message" in copied) throw new DocumentFlaw(copied.path, copied.message);
  const root = copied.copy;
  if (root["type"] !== "object") {
    throw new DocumentFlaw(below(path, "type"), 'must be "object": the data of a user is one');
  }
  const budget = createBudget();
  const { schema } = compile({ root, rootPath: path, budget, parts: new Map() }, root, path, "#");
  return { schema, permissions: permissionsOf(root), budget };
}

function toPattern(budget: Budget, source: string, path: string): Refinement {
  const pattern = orFlaw(path, () => linearPattern(source));
  return {
    check(value) {
      if (typeof value !== "string") return true;
      budget.spend(pattern.steps(value.length));
      return pattern.test(value);
    },
    error: () => `must match the pattern ${source}`,
  };
}

function compile(document: Document, value: JsonValue, path: string, pointer: string): Part {
  if (typeof value === "boolean") return { schema: value, cost: 1, permissionAt: undefined };
  if (!isObject(value)) throw new DocumentFlaw(path, "must be a schema: an object or a boolean");
  const known = document.parts.get(pointer);
  if (known !== undefined) return known;
  document.parts.set(pointer, undefined);
  const part = compileObject(document, value, path, pointer);
  if (part.cost > maxExpanded) {
    throw new DocumentFlaw(path, "is too large with every $ref replaced by what it refers to");
  }
  document.parts.set(pointer, part);
  return part;
}

function compileObject(document: Document, node: JsonObject, path: string, pointer: string): Part {
  const made: Record<string, unknown> = {};
  const refinements: Refinement[] = [];
  let cost = 1;
  let permissionAt: string | undefined;
  const take = (name: string, part: Part): ValidatorSchema => {
    cost += part.cost;
    permissionAt ??= part.permissionAt;
    if (part.permissionAt === undefined || name === "properties" || name === "$ref") {
      return part.schema;
    }
    throw new DocumentFlaw(
      part.permissionAt,
      "stands where it cannot be kept: permissions belong to the root and to what is reached by properties",
    );
  };

  for (const [name, value] of Object.entries(node)) {
    const at = below(path, name);
    const keyword = keywords.get(name);
    if (keyword === undefined) {
      checkOther(name, value, at, pointer === "#");
      if (name === permissionKeyword) permissionAt = at;
    } else if (keyword.holds !== "value") {
      const inner = compileHeld(document, keyword.holds, value, at, `${pointer}/${name}`, (part) =>
        keyword.isAsserted ? take(name, part) : part.schema,
      );
      if (keyword.isAsserted) made[name] = inner;
      if (name === "patternProperties") checkSimple(Object.keys(Object(value)), at);
    } else {
      const wrong = keyword.wrong(value);
      if (wrong !== undefined) throw new DocumentFlaw(at, wrong);
      cost += JSON.stringify(value).length;
      if (typeof value === "string" && name === "pattern")
        refinements.push(toPattern(document.budget, value, at));
      else if (typeof value === "string" && name === "format")
        refinements.push(...formatTest(value));
      else if (keyword.isAsserted) made[name] = value;
    }
  }
  const reference = node["$ref"];
  if (reference !== undefined) {
    const referred = take("$ref", refer(document, reference, below(path, "$ref")));
    made["allOf"] = [...[made["allOf"] ?? []].flat(), referred];
  }
  if (refinements.length > 0) made["~refine"] = refinements;
  return { schema: metered(made, document.budget), cost, permissionAt };
}

function compileHeld(
  document: Document,
  holds: Keyword["holds"],
  value: JsonValue,
  path: string,
  pointer: string,
  take: (part: Part) => ValidatorSchema,
): unknown {
  const one = (name: string | number, inner: JsonValue) =>
    take(compile(document, inner, below(path, name), `${pointer}/${escape(String(name))}`));
  if (holds === "schema") return take(compile(document, value, path, pointer));
  if (holds === "schemas") {
    if (!Array.isArray(value) || value.length === 0) {
      throw new DocumentFlaw(path, "must be a list of at least one schema");
    }
    return value.map((inner, index) => one(index, inner));
  }
  if (!isObject(value)) throw new DocumentFlaw(path, "must be an object of schemas");
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, one(name, inner)]));
}

function refer(document: Document, reference: JsonValue, path: string): Part {
  if (typeof reference !== "string") throw new DocumentFlaw(path, "must be a string");
  if (reference !== "#" && !reference.startsWith("#/")) {
    throw new DocumentFlaw(path, "must lead to a part of this document: #/$defs/<name>");
  }
  const names = orFlaw(path, () => namesOf(reference));
  const found = referredBy(document.root, reference);
  if (found === undefined) throw new DocumentFlaw(path, `leads nowhere: ${reference}`);
  const pointer = ["#", ...names.map(escape)].join("/");
  if (document.parts.has(pointer) && document.parts.get(pointer) === undefined) {
    throw new DocumentFlaw(path, "runs in a circle: no schema may refer to what holds it");
  }
  return compile(document, found, names.reduce(below, document.rootPath), pointer);
}

function checkOther(name: string, value: JsonValue, path: string, isRoot: boolean): void {
  if (name === permissionKeyword) {
    const wrong = wrongPermission(value);
    if (wrong !== undefined) throw new DocumentFlaw(path, wrong);
  }
  if (name === "$schema" && (value !== draft || !isRoot)) {
    throw new DocumentFlaw(path, `must be ${draft}, at the root or nowhere`);
  }
  if (name === "$id" && (typeof value !== "string" || !isRoot)) {
    throw new DocumentFlaw(path, "must be a string, at the root or nowhere");
  }
  const refused = refusedKeywords.get(name);
  if (refused !== undefined) throw new DocumentFlaw(path, refused);
}

function checkSimple(patterns: string[], path: string): void {
  const rich = patterns.find((source) => !isSimplePattern(source));
  if (rich === undefined) return;
  throw new DocumentFlaw(
    below(path, rich),
    "is too rich a pattern for names: characters and classes of them, one of them repeated at most",
  );
}

const escape = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");

function orFlaw<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new DocumentFlaw(path, error instanceof Error ? error.message : String(error));
  }
}
