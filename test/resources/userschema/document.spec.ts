// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { compileDocument, DocumentFlaw } from "../../../src/resources/userschema/document.ts";
import { threadMs } from "../../../src/storage/thread-time.ts";

const compile = (document: JsonObject) => compileDocument({ type: "object", ...document }, "s");
const property = (schema: JsonValue) => ({ properties: { p: schema } });

function flawOf(document: JsonObject): { path: string; message: string } {
  try {
    compile(document);
  } catch (error) {
    assert.ok(error instanceof DocumentFlaw, String(error));
    return error;
  }
  return assert.fail(`taken: ${JSON.stringify(document).slice(0, 200)}`);
}

const permission = "urn:idsvc:schema:permission";
const nested = (levels: number): JsonObject => (levels === 0 ? {} : { not: nested(levels - 1) });

describe("a schema document", () => {
  const taken: [string, JsonObject][] = [
    ["nothing but its type", {}],
    ["the draft and an id", { $schema: "https://json-schema.org/draft/2020-12/schema", $id: "x" }],
    ["keywords that nobody knows", { "x-note": { anything: [1] } }],
    ["formats that nobody knows", property({ format: "shoe-size" })],
    ["parts and references to them", { $defs: { a: true }, ...property({ $ref: "#/$defs/a" }) }],
    ["references to properties", { properties: { a: {}, b: { $ref: "#/properties/a" } } }],
    [
      "references with escapes",
      { $defs: { "a/b~c d": {} }, ...property({ $ref: "#/$defs/a~1b~0c%20d" }) },
    ],
    ["20 levels", nested(19)],
    ["simple patterns of names", { patternProperties: { "^x-[a-z]+$": {}, "^\\d{2,3}_": {} } }],
    ["permissions of properties", property({ [permission]: { owner: "rw" } })],
    ["a permission of the root", { [permission]: { self: "rw" } }],
    [
      "permissions of what properties refer to",
      {
        $defs: { a: property({ [permission]: { self: "r" } }) },
        ...property({ $ref: "#/$defs/a" }),
      },
    ],
    ["every kind of type", property({ type: ["null", "integer", "array"] })],
  ];
  for (const [what, document] of taken) {
    it(`may have ${what}`, () => void compile(document));
  }

  const longNames = Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [`${i}`.padEnd(190), {}]),
  );
  const refused: [string, JsonObject, string, RegExp?][] = [
    ["a root of another type", { type: "array" }, "s.type"],
    ["a type that is none", property({ type: "whole" }), "s.properties.p.type"],
    ["a list of types twice", property({ type: ["null", "null"] }), "s.properties.p.type"],
    ["a schema that is none", property("string"), "s.properties.p"],
    ["a list where a schema belongs", property({ items: [{}] }), "s.properties.p.items"],
    ["an empty list of schemas", { allOf: [] }, "s.allOf"],
    ["a wrong schema in a list", { anyOf: [{}, { minimum: "1" }] }, "s.anyOf[1].minimum"],
    ["a wrong schema in its parts", { $defs: { a: { maxLength: -1 } } }, "s.$defs.a.maxLength"],
    ["a length that is no whole number", property({ minLength: 1.5 }), "s.properties.p.minLength"],
    ["names twice in required", { required: ["a", "a"] }, "s.required"],
    ["an empty enum", property({ enum: [] }), "s.properties.p.enum"],
    ["a step of 0", property({ multipleOf: 0 }), "s.properties.p.multipleOf"],
    ["names that are none", { dependentRequired: { a: [1] } }, "s.dependentRequired"],
    ["a flag that is none", property({ uniqueItems: 1 }), "s.properties.p.uniqueItems"],
    ["another draft", { $schema: "http://json-schema.org/draft-07/schema#" }, "s.$schema"],
    ["an id inside", property({ $id: "x" }), "s.properties.p.$id"],
    ["keywords of other drafts", { dependencies: { a: ["b"] } }, "s.dependencies"],
    ["anchors", property({ $anchor: "a" }), "s.properties.p.$anchor"],
    ["dynamic references", { $dynamicRef: "#" }, "s.$dynamicRef"],
    ["remote references", property({ $ref: "https://x.test/a" }), "s.properties.p.$ref"],
    ["references to files", property({ $ref: "file:///etc/passwd" }), "s.properties.p.$ref"],
    ["references to names", property({ $ref: "#a" }), "s.properties.p.$ref"],
    ["references to nothing", property({ $ref: "#/$defs/a" }), "s.properties.p.$ref", /nowhere/],
    ["references to what objects inherit", property({ $ref: "#/toString" }), "s.properties.p.$ref"],
    ["a reference to the root", property({ $ref: "#" }), "s.properties.p.$ref", /circle/],
    [
      "references in a circle",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      "s.$defs.b.$ref",
      /circle/,
    ],
    ["more than 20 levels", nested(20), `s${".not".repeat(20)}`],
    ["more than 64 KiB", { description: "d".repeat(65_536) }, "s", /65536/],
    ["64 KiB of names", { properties: longNames }, "s", /65536/],
    ["a pattern that is none", property({ pattern: "(" }), "s.properties.p.pattern"],
    ["look-around", property({ pattern: "(?=a)b" }), "s.properties.p.pattern", /look-around/],
    ["references back", property({ pattern: "(a)\\1" }), "s.properties.p.pattern", /back/],
    [
      "huge repetitions",
      property({ pattern: "[a-z]{999}{1}[a-z]{999}" }),
      "s.properties.p.pattern",
    ],
    ["a long pattern", property({ pattern: "a".repeat(1001) }), "s.properties.p.pattern", /1000/],
    [
      "a rich pattern of names",
      { patternProperties: { "(a|a)*b": {} } },
      "s.patternProperties.(a|a)*b",
    ],
    [
      "two repetitions in a name",
      { patternProperties: { "a*b*": {} } },
      "s.patternProperties.a*b*",
    ],
    [
      "a wrong permission",
      property({ [permission]: { owner: "w" } }),
      `s.properties.p.${permission}`,
    ],
    ["a permission of nobody known", { [permission]: { admin: "r" } }, `s.${permission}`],
    [
      "a permission of items",
      property({ items: { [permission]: {} } }),
      `s.properties.p.items.${permission}`,
    ],
    [
      "a permission that holds sometimes",
      // oxlint-disable-next-line no-thenable -- a keyword of JSON Schema, in an object that nobody awaits
      { if: {}, then: property({ [permission]: {} }) },
      `s.then.properties.p.${permission}`,
    ],
    ["a forbidden name", JSON.parse('{"properties": {"__proto__": {}}}'), "s.properties.__proto__"],
    ["another one", { properties: { constructor: {} } }, "s.properties.constructor"],
    [
      "a name of 201 characters",
      { properties: { ["n".repeat(201)]: {} } },
      `s.properties.${"n".repeat(200)}`,
    ],
  ];
  for (const [what, document, path, message = /./] of refused) {
    it(`may not have ${what}`, () => {
      const flaw = flawOf(document);
      assert.equal(flaw.path, path);
      assert.match(flaw.message, message);
    });
  }

  it("may not grow without bounds when references are replaced", () => {
    const $defs: JsonObject = { d30: { type: "string" } };
    for (let i = 0; i < 30; i++) {
      $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
    }
    const started = threadMs();
    assert.match(flawOf({ $defs }).message, /too large/);
    assert.ok(threadMs() - started < 1_000);
  });
});
