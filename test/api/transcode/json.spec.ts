// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
import { readMessage, writeMessage } from "../../../src/api/transcode/json.ts";
import { assertRefused } from "./refusal.ts";
import { messageNamed, registry } from "./schema.ts";

const strict = { ignoreUnknownFields: false };
const request = messageNamed("CreateHookRequest");
const search = messageNamed("SearchHooksRequest");

/** What the reader makes of a hook, as plain protobuf JSON. */
function readHook(hook: JsonValue): JsonValue {
  const options = { ...strict, registry };
  return toJson(request, readMessage(request, { hook }, options), { registry });
}

describe("reading a message", () => {
  const accepted: [rule: string, hook: JsonValue, read?: JsonValue][] = [
    [
      "takes both spellings of a name",
      { rest_webhook: {}, isAsync: true },
      { restWebhook: {}, isAsync: true },
    ],
    ["takes enums by name", { kind: "KIND_CALL" }],
    ["takes enums by number", { kind: 2 }, { kind: "KIND_CALL" }],
    ["takes lists of enums", { kinds: ["KIND_CALL", 1] }, { kinds: ["KIND_CALL", "KIND_WEBHOOK"] }],
    ["takes 64-bit integers as text", { sequence: "18446744073709551615" }],
    [
      "takes 64-bit integers as numbers",
      { sequence: 7, balance: -7 },
      { sequence: "7", balance: "-7" },
    ],
    ["takes 32-bit integers as text", { rank: "-5" }, { rank: -5 }],
    [
      "takes whole numbers in any notation",
      { rank: 1e3, sequence: 1e15 },
      { rank: 1000, sequence: "1000000000000000" },
    ],
    ["takes floats by name", { ratio: "NaN", weight: "-Infinity" }],
    ["takes floats as text", { ratio: "1.5e3" }, { ratio: 1500 }],
    ["takes both alphabets of base64", { token: "-_-_" }, { token: "+/+/" }],
    ["takes base64 without padding", { token: "YQ" }, { token: "YQ==" }],
    ["takes durations", { timeout: "1.5s" }, { timeout: "1.500s" }],
    [
      "takes timestamps",
      { changed: "2024-02-29T12:00:00+01:00" },
      { changed: "2024-02-29T11:00:00Z" },
    ],
    ["takes wrappers as what they wrap", { retries: 3 }],
    ["takes field masks", { mask: "name,restWebhook.url" }],
    [
      "takes maps",
      { calls_by_stage: { a: { url: "u" } }, notes: { "-1": "n" }, answers: { true: "y" } },
      { callsByStage: { a: { url: "u" } }, notes: { "-1": "n" }, answers: { true: "y" } },
    ],
    [
      "takes any JSON where the schema does",
      { extra: { a: [null, { b: 1 }] }, any_value: null },
      { extra: { a: [null, { b: 1 }] }, anyValue: null },
    ],
    [
      "takes known types as Any",
      { detail: { "@type": "type.googleapis.com/test.transcode.RestCall", url: "u" } },
    ],
    [
      "takes null as absent",
      { name: null, rest_webhook: null, timeout: null, tags: null, notes: null, retries: null },
      {},
    ],
    [
      "takes one member of a oneof beside nothing",
      { rest_request_response: { url: "u" } },
      { restRequestResponse: { url: "u" } },
    ],
  ];
  for (const [rule, hook, read = hook] of accepted) {
    it(rule, () => assert.deepEqual(readHook(hook), { hook: read }));
  }
  it("keeps a set zero of an optional field apart from an absent one", () =>
    assert.deepEqual(readHook({ note: "", name: "" }), { hook: { note: "" } }));
});

describe("refusing a field", () => {
  const refused: [rule: string, hook: JsonValue, field: string, message: string][] = [
    [
      "a string where an object belongs",
      { rest_webhook: "https://x" },
      "hook.rest_webhook",
      "send a JSON object, a RestCall, not a string",
    ],
    [
      "a list where an object belongs",
      { rest_webhook: [] },
      "hook.rest_webhook",
      "send a JSON object, a RestCall, not a list",
    ],
    [
      "an object where a list belongs",
      { tags: {} },
      "hook.tags",
      "send a JSON array of values, not an object",
    ],
    [
      "a string where a list belongs",
      { kinds: "KIND_CALL" },
      "hook.kinds",
      "send a JSON array of Kind, not a string",
    ],
    [
      "a list where a map belongs",
      { notes: [] },
      "hook.notes",
      "send a JSON object of values by key, not a list",
    ],
    ["a number where a string belongs", { name: 1 }, "hook.name", "send a string, not a number"],
    [
      "a number in the nested message",
      { rest_webhook: { url: 5 } },
      "hook.rest_webhook.url",
      "send a string, not a number",
    ],
    [
      "the nested message by its other spelling",
      { restWebhook: { url: 5 } },
      "hook.rest_webhook.url",
      "send a string, not a number",
    ],
    [
      "a string where a bool belongs",
      { is_async: "true" },
      "hook.is_async",
      "send true or false, not a string",
    ],
    [
      "a number where a bool belongs",
      { is_async: 1 },
      "hook.is_async",
      "send true or false, not a number",
    ],
    [
      "an element of a list",
      { tags: ["a", "b", 3] },
      "hook.tags[2]",
      "send a string, not a number",
    ],
    ["null in a list", { tags: [null] }, "hook.tags[0]", "send a string, not null"],
    [
      "null in a list of enums",
      { kinds: [null] },
      "hook.kinds[0]",
      "send one of KIND_UNSPECIFIED, KIND_WEBHOOK, KIND_CALL, not null",
    ],
    [
      "a value of a map",
      { calls_by_stage: { early: { url: 1 } } },
      'hook.calls_by_stage["early"].url',
      "send a string",
    ],
    [
      "null in a map",
      { calls_by_stage: { early: null } },
      'hook.calls_by_stage["early"]',
      "send a JSON object, a RestCall, not null",
    ],
    [
      "a key of a map",
      { notes: { x: "n" } },
      'hook.notes["x"]',
      "key: send a whole number from -2147483648 to 2147483647",
    ],
    [
      "a key of a map of bools",
      { answers: { yes: "n" } },
      'hook.answers["yes"]',
      "key: send true or false",
    ],
    [
      "an unknown enum name",
      { kind: "FOO" },
      "hook.kind",
      "send one of KIND_UNSPECIFIED, KIND_WEBHOOK, KIND_CALL",
    ],
    [
      "an enum name in the wrong case",
      { kind: "kind_call" },
      "hook.kind",
      "send one of KIND_UNSPECIFIED",
    ],
    ["an enum number as text", { kind: "2" }, "hook.kind", "send one of KIND_UNSPECIFIED"],
    ["an enum number with a fraction", { kind: 1.5 }, "hook.kind", "send one of KIND_UNSPECIFIED"],
    ["an enum number over 32 bits", { kind: 2 ** 31 }, "hook.kind", "send one of KIND_UNSPECIFIED"],
    ["a bool where an enum belongs", { kind: true }, "hook.kind", "not a boolean"],
    [
      "both members of a oneof",
      { rest_webhook: {}, rest_request_response: {} },
      "hook.rest_request_response",
      "rest_webhook is set too; send only one of rest_webhook, rest_request_response",
    ],
    [
      "one field in both spellings",
      { rest_webhook: {}, restWebhook: {} },
      "hook.rest_webhook",
      "send it once, as rest_webhook or as restWebhook",
    ],
    ["2^31 as int32", { rank: 2 ** 31 }, "hook.rank", "from -2147483648 to 2147483647"],
    ["a fraction as int32", { rank: 1.5 }, "hook.rank", "send a whole number"],
    ["text that is no number as int32", { rank: "abc" }, "hook.rank", "send a whole number"],
    ["hexadecimal text as int32", { rank: "0x10" }, "hook.rank", "send a whole number"],
    [
      "2^64 as uint64",
      { sequence: "18446744073709551616" },
      "hook.sequence",
      "from 0 to 18446744073709551615",
    ],
    ["-1 as uint64", { sequence: -1 }, "hook.sequence", "from 0 to 18446744073709551615"],
    ["an exponent in text as uint64", { sequence: "1e3" }, "hook.sequence", "send a whole number"],
    ["blanks as uint64", { sequence: " " }, "hook.sequence", "send a whole number"],
    ["2^63 as int64", { balance: "9223372036854775808" }, "hook.balance", "to 9223372036854775807"],
    [
      "a million digits as int64",
      { balance: "9".repeat(1_000_000) },
      "hook.balance",
      "send a whole number",
    ],
    ["text that is no number as double", { ratio: "1,5" }, "hook.ratio", "send a number"],
    ["text over the largest double", { ratio: "1e400" }, "hook.ratio", "send a number"],
    ["a number over the largest float", { weight: 1e39 }, "hook.weight", "send a 32-bit float"],
    ["text that is not base64", { token: "a b" }, "hook.token", "send base64 text"],
    ["base64 that is cut", { token: "abcde" }, "hook.token", "send base64 text"],
    ["half a surrogate pair", { name: "\ud83d" }, "hook.name", "half surrogate pairs"],
    [
      "a duration as a number",
      { timeout: 5 },
      "hook.timeout",
      'send seconds such as "1.5s", not a number',
    ],
    ["a duration without its unit", { timeout: "5" }, "hook.timeout", "send seconds such as"],
    [
      "a duration with text behind its unit",
      { timeout: "5sec" },
      "hook.timeout",
      "send seconds such as",
    ],
    [
      "a duration with ten decimals",
      { timeout: "1.1234567890s" },
      "hook.timeout",
      "send seconds such as",
    ],
    [
      "a duration over ten thousand years",
      { timeout: "315576000001s" },
      "hook.timeout",
      "send seconds such as",
    ],
    [
      "a timestamp without its zone",
      { changed: "2024-01-01T00:00:00" },
      "hook.changed",
      "send a date and time such as",
    ],
    [
      "a day that does not exist",
      { changed: "2024-13-01T00:00:00Z" },
      "hook.changed",
      "send a date and time such as",
    ],
    [
      "a wrapper with the wrong value",
      { retries: -1 },
      "hook.retries",
      "send a whole number from 0 to 4294967295",
    ],
    [
      "a field mask that is a list",
      { mask: ["name"] },
      "hook.mask",
      "send lowerCamelCase field paths, separated by commas, not a list",
    ],
    ["a list as a struct", { extra: [] }, "hook.extra", "send a JSON object, not a list"],
    [
      "an unknown type as Any",
      { detail: { "@type": "x/y.Z" } },
      "hook.detail",
      "send a JSON object with a known @type",
    ],
  ];
  for (const [rule, hook, field, message] of refused) {
    it(`refuses ${rule}`, () =>
      assertRefused(() => readHook(hook), {
        kind: "invalidArgument",
        reason: "INVALID_JSON_FIELD",
        field,
        message,
      }));
  }

  it("names the element of a list by its index, counted from 0", () => {
    const filters = [{}, {}, {}, { nameFilter: { method: "LIKE" } }];
    assertRefused(() => readMessage(search, { filters }, strict), {
      kind: "invalidArgument",
      reason: "INVALID_JSON_FIELD",
      field: "filters[3].name_filter.method",
      message: "filters[3].name_filter.method: send one of KIND_UNSPECIFIED",
    });
  });
  it("refuses a request that is no object", () =>
    assertRefused(() => readMessage(request, [], strict), {
      kind: "invalidArgument",
      reason: "INVALID_JSON_FIELD",
      field: "",
      message: "send a JSON object, a CreateHookRequest, not a list",
    }));
  it("never repeats a value", () =>
    assert.throws(
      () => readHook({ kind: "hunter2" }),
      (error) => error instanceof Error && !error.message.includes("hunter2"),
    ));
  it("leaves enum numbers without a name to the rules of the schema", () =>
    assert.deepEqual(readHook({ kind: 99 }), { hook: { kind: 99 } }));
});

describe("an unknown field", () => {
  const unknown = (json: JsonValue, field: string, message: string) =>
    assertRefused(() => readMessage(request, json, strict), {
      kind: "invalidArgument",
      reason: "UNKNOWN_FIELD",
      field,
      message: `${field}: ${message}`,
    });
  it("is named with its path and the fields there are", () => {
    unknown({ hooks: 1 }, "hooks", "CreateHookRequest has no such field; accepted: ctx, hook");
    unknown(
      { hook: { rest_webhook: { uri: "" } } },
      "hook.rest_webhook.uri",
      "RestCall has no such field; accepted: url",
    );
  });
  for (const key of ["constructor", "prototype", "toString", "hasOwnProperty", "Name", "[a.b]"]) {
    it(`can be called ${key}`, () =>
      unknown(
        { hook: { [key]: {} } },
        key === "[a.b]" ? "hook[a.b]" : `hook.${key}`,
        "Hook has no such field",
      ));
  }
  it("is cut where its name is very long", () =>
    unknown({ ["x".repeat(5000)]: 1 }, `${"x".repeat(100)}…`, "CreateHookRequest has no"));
  it("is passed over where the caller asks for it, whatever it holds", () => {
    const json = { hook: { name: "a", gone: [{}], constructor: 1 }, also_gone: null };
    const read = readMessage(request, json, { ignoreUnknownFields: true });
    assert.deepEqual(toJson(request, read), { hook: { name: "a" } });
  });
  it("does not excuse wrong values of known fields", () =>
    assertRefused(
      () => readMessage(request, { hook: { kind: "FOO" } }, { ignoreUnknownFields: true }),
      {
        kind: "invalidArgument",
        reason: "INVALID_JSON_FIELD",
        field: "hook.kind",
      },
    ));
});

describe("writing a message", () => {
  const response = messageNamed("SearchHooksResponse");
  it("writes what has no presence even when it is zero, and 64-bit integers as text", () =>
    assert.deepEqual(writeMessage(response, create(response), { jsonNames: "proto" }), {
      result: [],
      total_result: "0",
      end_of_list: false,
    }));
  it("writes lowerCamelCase where the service asks for it", () =>
    assert.deepEqual(writeMessage(response, create(response), { jsonNames: "lowerCamel" }), {
      result: [],
      totalResult: "0",
      endOfList: false,
    }));
  it("leaves out unset optional and message fields, and unset members of a oneof", () => {
    const hook = messageNamed("Hook");
    const written = writeMessage(hook, create(hook), { jsonNames: "proto" });
    const names = Object.keys(written ?? {});
    assert.deepEqual(
      ["note", "timeout", "rest_webhook", "retries"].filter((name) => names.includes(name)),
      [],
    );
    assert.ok(names.includes("is_async"));
  });
  it("writes Any by its type when it is given the types", () => {
    const detail = { url: "u", "@type": "type.googleapis.com/test.transcode.RestCall" };
    const read = readMessage(request, { hook: { detail } }, { ...strict, registry });
    const written = writeMessage(request, read, { jsonNames: "proto", registry });
    assert.ok(JSON.stringify(written).includes(JSON.stringify(detail)));
  });
});
