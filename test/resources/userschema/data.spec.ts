// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { builtInSchemas } from "../../../src/resources/userschema/built-in.ts";
import { readableData, requireData } from "../../../src/resources/userschema/data.ts";
import { threadMs } from "../../../src/storage/thread-time.ts";
import { refusalOf, schemaOf } from "./schemas.ts";

const invalid = (...fields: string[]) => ({ code: 3, reason: "USER_DATA_INVALID", fields });
const readOnly = { code: 7, reason: "USER_DATA_READ_ONLY", fields: [] };
const value = (schema: JsonObject) => schemaOf({ properties: { v: schema } });
const take = (schema: JsonObject, v: JsonValue) => requireData(value(schema), { v }, "owner");
const refuse = (schema: JsonObject, v: JsonValue) =>
  refusalOf(() => requireData(value(schema), { v }, "owner"));

describe("what a schema of texts demands", () => {
  const names = {
    a: { type: "string", minLength: 2, maxLength: 4, pattern: "^[a-z😀]+$" },
    b: { type: "string" },
    c: { type: "integer" },
  };
  const texts = schemaOf({ properties: names, additionalProperties: false });
  const whole: JsonObject[] = [
    {},
    { a: "ab" },
    { a: "😀😀😀😀", b: "" },
    { b: "x".repeat(1_000), c: 1 },
  ];
  const flawed: JsonObject[] = [
    { a: "a" },
    { a: "😀" },
    { a: "abcde" },
    { a: "AB" },
    { a: 5 },
    { a: null },
    { d: "ab" },
    { toString: "ab" },
    { a: "ab", c: "ab" },
  ];
  for (const data of whole) {
    it(`lets ${JSON.stringify(data).slice(0, 40)} pass`, () => requireData(texts, data, "owner"));
  }
  for (const data of flawed) {
    it(`refuses ${JSON.stringify(data)}`, () => {
      const { reason } = refusalOf(() => requireData(texts, data, "owner"));
      assert.equal(reason, "USER_DATA_INVALID");
    });
  }
  it("refuses a name that cannot be seen", () => {
    const human = builtInSchemas.get("human");
    assert.ok(human !== undefined);
    requireData(human, { given_name: "Ädä" }, "owner");
    for (const given_name of ["", "A\u200bda", "A\nda"]) {
      const told = refusalOf(() => requireData(human, { given_name }, "owner"));
      assert.deepEqual(told, invalid("user.data.given_name"));
    }
  });
});

describe("the keywords of JSON Schema 2020-12", () => {
  const rows: [JsonObject, JsonValue, JsonValue][] = [
    [{ type: "integer" }, 1.0, 1.5],
    [{ type: ["string", "null"] }, null, false],
    [{ enum: [1, { a: [1] }] }, { a: [1] }, { a: [2] }],
    [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, { a: 1 }],
    [{ minLength: 2 }, "😀😀", "😀"],
    [{ maxLength: 2 }, "😀😀", "abc"],
    [{ multipleOf: 0.01 }, 4.2, 4.201],
    [{ exclusiveMinimum: 0, maximum: 2 }, 2, 0],
    [
      { uniqueItems: true },
      [1, "1", { a: 1 }, { a: 2 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1], ["a", "b"]],
    [{ contains: { const: 1 }, minContains: 2, maxContains: 3 }, [1, 1, 2], [1, 2]],
    [{ required: ["a"] }, { a: null }, {}],
    [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }],
    [{ propertyNames: { pattern: "^[a-z]+$" } }, { a: 1 }, { A: 1 }],
    [{ patternProperties: { "^x-": { type: "string" } } }, { "x-a": "b", c: 1 }, { "x-a": 1 }],
    [{ dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
    [{ dependentSchemas: { a: { required: ["b"] } } }, { b: 1 }, { a: 1 }],
    [{ not: { type: "string" } }, 1, "a"],
    [{ oneOf: [{ type: "number" }, { minimum: 2 }] }, 1, 3],
    [{ anyOf: [{ type: "string" }, { minimum: 2 }] }, 2, 1],
    // oxlint-disable-next-line no-thenable -- a keyword of JSON Schema, in an object that nobody awaits
    [{ if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 2 } }, "ab", "a"],
    [
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1 },
      { a: 1, b: 1 },
    ],
    [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
    [{ properties: { toString: { type: "string" } } }, { toString: "a" }, { toString: 1 }],
    [{ required: ["valueOf"] }, { valueOf: 1 }, {}],
    [{ pattern: "^\\p{Lu}\\d{2}$" }, "Ä12", "ä12"],
    [{ format: "date" }, "2024-02-29", "2023-02-29"],
    [{ format: "date-time" }, "2024-02-29T10:00:00Z", "2024-02-29"],
    [{ format: "time" }, "10:00:00+01:00", "10:00"],
    [{ format: "duration" }, "P1DT2H", "1 day"],
    [{ format: "email" }, "a@b.test", "a"],
    [{ format: "hostname" }, "a.test", "-a-.test"],
    [{ format: "ipv4" }, "127.0.0.1", "127.0.0.256"],
    [{ format: "ipv6" }, "::1", "::g"],
    [{ format: "uri" }, "https://a.test/b?c#d", "/b"],
    [{ format: "uri-reference" }, "/b", "b\\c"],
    [{ format: "uuid" }, "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"],
    [{ format: "json-pointer" }, "/a~1b", "a"],
  ];
  for (const [schema, right, wrong] of rows) {
    it(`count: ${JSON.stringify(schema)}`, () => {
      take(schema, right);
      const { code, reason, fields } = refuse(schema, wrong);
      assert.deepEqual({ code, reason }, { code: 3, reason: "USER_DATA_INVALID" });
      assert.ok(
        fields.every((field) => field.startsWith("user.data.v")),
        fields.join(),
      );
    });
  }

  it("count through references", () => {
    const schema = schemaOf({
      $defs: { short: { type: "string", maxLength: 3 } },
      properties: { a: { $ref: "#/$defs/short", minLength: 2 } },
    });
    requireData(schema, { a: "abc" }, "owner");
    for (const a of ["a", "abcd"]) {
      assert.deepEqual(
        refusalOf(() => requireData(schema, { a }, "owner")),
        invalid("user.data.a"),
      );
    }
  });
});

describe("a refusal of data", () => {
  it("names every place that is wrong, lists and missing properties too, and no value", () => {
    const schema = schemaOf({
      additionalProperties: false,
      required: ["must"],
      properties: {
        must: {},
        list: { items: { properties: { n: { type: "number" } } } },
        deep: { properties: { er: { maxLength: 3 } } },
      },
    });
    const data = { list: [{ n: 1 }, { n: "secret" }], deep: { er: "secret" }, other: "secret" };
    const refused = refusalOf(() => requireData(schema, data, "owner"));
    const fields = ["must", "other", "list[1].n", "deep.er"].map((path) => `user.data.${path}`);
    assert.deepEqual(
      { ...refused, fields: refused.fields.toSorted() },
      invalid(...fields.toSorted()),
    );
    assert.throws(
      () => requireData(schema, data, "owner"),
      (error: Error) =>
        !JSON.stringify(error).includes("secret") && !error.message.includes("secret"),
    );
  });
});

describe("the data of a user", () => {
  const anything = schemaOf({});
  const lists = (levels: number): JsonValue => (levels === 0 ? 1 : [lists(levels - 1)]);

  it("is at most 64 KiB, 20 levels and 4096 values, with names of at most 200 characters", () => {
    const wide = (count: number) => ({ l: Array<JsonValue>(count).fill(1) });
    requireData(anything, { d: lists(19) }, "owner");
    requireData(anything, wide(4094), "owner");
    requireData(anything, { t: "t".repeat(65_536 - 8) }, "owner");
    requireData(anything, { ["n".repeat(200)]: 1 }, "owner");
    const refused: [JsonObject, string][] = [
      [{ d: lists(20) }, `user.data.d${"[0]".repeat(19)}`],
      [wide(4095), "user.data"],
      [{ t: "t".repeat(65_536 - 7) }, "user.data"],
      [{ ["n".repeat(201)]: 1 }, `user.data.${"n".repeat(200)}`],
    ];
    for (const [data, field] of refused) {
      assert.deepEqual(
        refusalOf(() => requireData(anything, data, "owner")),
        invalid(field),
      );
    }
  });

  for (const name of ["__proto__", "constructor", "prototype"]) {
    it(`may nowhere have a property called ${name}`, () => {
      const data = JSON.parse(`{"a": [{"${name}": {"polluted": true}}]}`);
      const field = `user.data.a[0].${name}`;
      assert.deepEqual(
        refusalOf(() => requireData(anything, data, "owner")),
        invalid(field),
      );
      assert.equal(Reflect.get({}, "polluted"), undefined);
    });
  }
});

describe("a schema and data that together would take too long", () => {
  const quickly = (act: () => void) => {
    const started = threadMs();
    act();
    const took = threadMs() - started;
    assert.ok(took < 2_000, `took ${took} ms`);
  };
  const tooMuch = (schema: JsonObject, data: JsonObject) => () =>
    assert.deepEqual(
      refusalOf(() => requireData(schemaOf(schema), data, "owner")),
      invalid("user.data"),
    );
  const long = "a".repeat(60_000);
  const many = (schema: JsonObject, count: number) => Array<JsonValue>(count).fill(schema);

  it("are matched in linear time, whatever the pattern", () => {
    for (const pattern of ["^(a|a)*b$", "^(a+)+$", "(.*a){20}b", "^(([a-z])+.)+[A-Z]$"]) {
      quickly(() => void refuse({ pattern }, `${long}!`));
    }
  });

  it("are given up, and a keyword that turns answers round does not take that for an answer", () => {
    const costly = many({ pattern: "[a-z]{0,400}[A-Z]" }, 60);
    quickly(tooMuch({ properties: { v: { not: { allOf: costly } } } }, { v: long }));
    quickly(tooMuch({ properties: { v: { anyOf: [{ allOf: costly }, true] } } }, { v: long }));
  });

  it("are given up when references multiply", () => {
    const $defs: JsonObject = { d11: { type: "string" } };
    for (let i = 0; i < 11; i++) $defs[`d${i}`] = { anyOf: many({ $ref: `#/$defs/d${i + 1}` }, 2) };
    const properties = { v: { items: { $ref: "#/$defs/d0" } } };
    quickly(tooMuch({ $defs, properties }, { v: Array<JsonValue>(4_000).fill("x") }));
  });

  it("are given up when many schemas look at many values", () => {
    const $defs = { s: { type: "string" } };
    const properties = { v: { items: { allOf: many({ $ref: "#/$defs/s" }, 2_000) } } };
    quickly(tooMuch({ $defs, properties }, { v: Array<JsonValue>(4_000).fill("x") }));
  });

  it("are given up when many patterns look at many names", () => {
    const names = Array.from({ length: 300 }, (_, i) => [`${"a".repeat(190)}${i}`, 1]);
    const patterns = Array.from({ length: 50 }, (_, i) => [`a+b${i}$`, true]);
    quickly(
      tooMuch({ patternProperties: Object.fromEntries(patterns) }, Object.fromEntries(names)),
    );
  });
});

describe("the built-in schemas", () => {
  const [human, machine] = ["human", "machine"].map((id) => builtInSchemas.get(id));
  assert.ok(human !== undefined && machine !== undefined);

  it("take the standard claims of people, and let them write their own", () => {
    const data = {
      given_name: "Ann-Sofie",
      family_name: "Åström 李",
      middle_name: "O'Neil",
      nickname: "an",
      display_name: "Ann 👩",
      preferred_language: "sv-SE",
      gender: "female",
      picture: "https://x.test/p.png",
      website: "http://x.test",
      profile: "HTTPS://x.test/~ann?a=b",
      birthdate: "1990-02-28",
      zoneinfo: "America/Argentina/Buenos_Aires",
      address: {
        formatted: "Street 1\n12345 City",
        street_address: "Street 1\nrear",
        locality: "City",
        region: "R",
        postal_code: "12345",
        country: "SE",
      },
    };
    for (const as of ["owner", "self"] as const) requireData(human, data, as);
    for (const birthdate of ["1990", "0000-12-24"]) requireData(human, { birthdate }, "self");
    requireData(human, {}, "owner");
    assert.deepEqual(readableData(human, data, "self"), data);
  });

  const refused: JsonObject = {
    given_name: "",
    family_name: "n".repeat(201),
    nickname: "a\u202eb",
    display_name: "a\nb",
    preferred_language: "not a language",
    picture: "javascript:alert(1)",
    website: "ftp://x.test",
    profile: `https://x.test/${"p".repeat(2048)}`,
    birthdate: "1990-02-30",
    zoneinfo: "../../etc/passwd",
    gender: 1,
    address: "Street 1",
    sub: "1",
  };
  for (const [name, wrong] of Object.entries(refused)) {
    const act = () => requireData(human, { [name]: wrong }, "owner");
    it(`refuse as ${name} of people ${JSON.stringify(wrong).slice(0, 40)}`, () =>
      assert.deepEqual(refusalOf(act), invalid(`user.data.${name}`)));
  }

  it("let only an owner name a machine", () => {
    requireData(machine, { name: "ci", description: "builds\nthings" }, "owner");
    assert.deepEqual(
      refusalOf(() => requireData(machine, { name: "ci" }, "self")),
      readOnly,
    );
    const other = () => requireData(machine, { given_name: "ci" }, "owner");
    assert.deepEqual(refusalOf(other), invalid("user.data.given_name"));
  });
});
