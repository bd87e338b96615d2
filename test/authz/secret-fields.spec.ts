// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFileRegistry, fromJson, type JsonObject } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";
import { mayHoldSecrets, withoutSecrets, withSecretsOf } from "../../src/authz/secret-fields.ts";

const field = (name: string, number: number, more: JsonObject = {}): JsonObject => ({
  name,
  number,
  type: "TYPE_STRING",
  label: "LABEL_OPTIONAL",
  jsonName: camel(name),
  ...more,
});
const camel = (name: string) =>
  name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const secret = { options: { debugRedact: true } };
const one = { type: "TYPE_MESSAGE", typeName: ".test.Part" };
const many = { ...one, label: "LABEL_REPEATED" };

/** Every shape that a field can have. */
const file = fromJson(FileDescriptorProtoSchema, {
  name: "test.proto",
  package: "test",
  syntax: "proto3",
  dependency: ["google/protobuf/wrappers.proto"],
  messageType: [
    {
      name: "Part",
      field: [
        field("name", 1),
        field("pass_word", 2, secret),
        field("inner", 3, one),
        field("plain", 4, { oneofIndex: 0 }),
        field("sealed", 5, { oneofIndex: 0, ...secret }),
      ],
      oneofDecl: [{ name: "way" }],
    },
    {
      name: "Whole",
      nestedType: [
        {
          name: "ByNameEntry",
          field: [field("key", 1), field("value", 2, one)],
          options: { mapEntry: true },
        },
      ],
      field: [
        field("part", 1, one),
        field("parts", 2, many),
        field("by_name", 3, {
          type: "TYPE_MESSAGE",
          typeName: ".test.Whole.ByNameEntry",
          label: "LABEL_REPEATED",
        }),
        field("codes", 4, { label: "LABEL_REPEATED", ...secret }),
        field("wrapped", 5, {
          type: "TYPE_MESSAGE",
          typeName: ".google.protobuf.StringValue",
          ...secret,
        }),
      ],
    },
    { name: "Harmless", field: [field("name", 1)] },
  ],
});
const registry = createFileRegistry({
  $typeName: FileDescriptorSetSchema.typeName,
  file: [file_google_protobuf_wrappers.proto, file],
});
const whole = registry.getMessage("test.Whole") ?? assert.fail();
const part = registry.getMessage("test.Part") ?? assert.fail();
const harmless = registry.getMessage("test.Harmless") ?? assert.fail();

// oxlint-disable-next-line no-explicit-any -- what is shown is for each test to know.
type Seen = any;
const outOfPlace = { reason: "SECRETS_OUT_OF_PLACE", kind: "invalidArgument" };

describe("what others see of a message", () => {
  it("has no secret, however deep, in either spelling", () => {
    const json = {
      part: { name: "a", pass_word: "s1", inner: { name: "b", passWord: "s2" }, sealed: "s3" },
      parts: [{ name: "c", pass_word: "s4" }, { plain: "d" }],
      by_name: { x: { pass_word: "s5" } },
      codes: ["s6"],
      wrapped: "s7",
    };
    assert.deepEqual(withoutSecrets(whole, json), {
      part: { name: "a", inner: { name: "b" } },
      parts: [{ name: "c" }, { plain: "d" }],
      by_name: { x: {} },
    });
  });

  it("leaves a message alone that can hold none", () => {
    const json = { name: "pass_word" };
    assert.equal(withoutSecrets(harmless, json), json);
    assert.ok(!mayHoldSecrets(harmless) && mayHoldSecrets(whole) && mayHoldSecrets(part));
  });
});

describe("what they make of it", () => {
  const round = (json: JsonObject, change: (seen: Seen) => unknown) => {
    const seen = structuredClone(withoutSecrets(whole, json));
    const made = change(seen);
    return withSecretsOf(whole, json, Object(made ?? seen));
  };

  it("keeps each secret in its place", () => {
    const json = {
      part: { name: "a", pass_word: "s1", inner: { pass_word: "s2" } },
      parts: [{ pass_word: "s3" }, { name: "b", pass_word: "s4" }],
      by_name: { x: { pass_word: "s5" }, y: { pass_word: "s6" } },
      codes: ["s7"],
      wrapped: "s8",
    };
    assert.deepEqual(
      round(json, () => {}),
      json,
    );
  });

  it("replaces a secret by a value, in either spelling, and takes null for an absence", () => {
    const json = { part: { pass_word: "s1" }, codes: ["s2"], wrapped: "s3" };
    assert.deepEqual(
      round(json, () => ({ part: { passWord: "new" }, codes: ["n"], wrapped: "n" })),
      { part: { passWord: "new" }, codes: ["n"], wrapped: "n" },
    );
    assert.deepEqual(
      round(json, () => ({ part: { passWord: null }, wrapped: null })),
      { part: { pass_word: "s1" }, codes: ["s2"], wrapped: "s3" },
    );
    assert.deepEqual(
      round(json, () => ({ part: { pass_word: "" } })),
      { part: { pass_word: "" }, codes: ["s2"], wrapped: "s3" },
    );
  });

  it("keeps the secret of a oneof unless another member was chosen", () => {
    const json = { part: { name: "a", sealed: "s1" } };
    assert.deepEqual(
      round(json, (seen) => void (seen.part.name = "b")),
      { part: { name: "b", sealed: "s1" } },
    );
    assert.deepEqual(
      round(json, (seen) => void (seen.part.plain = "p")),
      { part: { name: "a", plain: "p" } },
    );
    assert.deepEqual(
      round({ part: { plain: "p" } }, () => ({ part: { sealed: "n" } })),
      { part: { sealed: "n" } },
    );
  });

  it("keeps secrets of lists by position, and is refused where elements came or went", () => {
    const json = {
      parts: [
        { name: "a", pass_word: "s1" },
        { name: "b", pass_word: "s2" },
      ],
    };
    assert.deepEqual(
      round(json, (seen) => void seen.parts.reverse()),
      {
        parts: [
          { name: "b", pass_word: "s1" },
          { name: "a", pass_word: "s2" },
        ],
      },
    );
    for (const change of [
      (seen: Seen) => void seen.parts.pop(),
      (seen: Seen) => void seen.parts.push({}),
      (seen: Seen) => void delete seen.parts,
    ]) {
      assert.throws(() => round(json, change), outOfPlace);
    }
  });

  it("lets lists grow and shrink that held no secret", () => {
    const json = { parts: [{ name: "a", pass_word: "" }] };
    assert.deepEqual(
      round(json, () => ({ parts: [{ name: "a" }, { name: "b" }] })),
      { parts: [{ name: "a" }, { name: "b" }] },
    );
    assert.deepEqual(
      round(json, () => ({})),
      {},
    );
  });

  it("keeps secrets of maps by key, and drops what was dropped", () => {
    const json = {
      by_name: { x: { pass_word: "s1" }, y: { pass_word: "s2" } },
      part: { pass_word: "s3" },
    };
    assert.deepEqual(
      round(json, () => ({ by_name: { y: { name: "b" }, z: {} } })),
      { by_name: { y: { name: "b", pass_word: "s2" }, z: {} } },
    );
  });

  it("is left to the reader of messages where it is none", () => {
    for (const answer of [[], "text", 1, null]) {
      assert.equal(withSecretsOf(whole, { part: { pass_word: "s" } }, answer), answer);
    }
    assert.deepEqual(withSecretsOf(whole, { parts: [{ pass_word: "s" }] }, { parts: "no list" }), {
      parts: "no list",
    });
  });
});
