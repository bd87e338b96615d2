// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { startActionPeer, uniqueName, url } from "../resources/action/action-peer.ts";
import { assertRefused, connectRefusal, grpcRefusal, restRefusal } from "../support/refusal.ts";
import { framed, type RawAnswer } from "../support/wire.ts";
import { refusalsOfJson, unharmed } from "./abuse.ts";

const action = await startActionPeer();
const { app, peer, post } = action;
after(() => action[Symbol.asyncDispose]());

const { createTarget, searchTargets } = ActionService.method;
const authorization = `Bearer ${app.token}`;
const send = (path: string, type: string, body: Uint8Array | string, version: 1 | 2 = 1) =>
  peer.send({ version, path, headers: { authorization, "content-type": type }, body });
const overRest = (path: string, body: Uint8Array | string): Promise<RawAnswer> =>
  send(`/resources/v3alpha${path}`, "application/json", body);
const createPath = "/idsvc.resources.action.v3alpha.ActionService/CreateTarget";

const name = () => `"name":${JSON.stringify(uniqueName())}`;
const hook = `"rest_webhook":{"url":${JSON.stringify(url)}}`;
/** The JSON of a target, with what is given between its fields. */
const target = (more = "") => `{${name()},${hook}${more}}`;
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON body", () => {
  const malformed: [what: string, body: () => Uint8Array | string, why: RegExp][] = [
    ["with a byte order mark", () => `\uFEFF${target()}`, /byte order mark/],
    ["with a trailing comma", () => target(","), /trailing comma/],
    ["with a comment", () => target("/* c */"), /comment/],
    ["with a line comment", () => `// c\n${target()}`, /comment/],
    ["in UTF-16", () => Buffer.from(target(), "utf16le"), /MALFORMED|malformed/],
    ["in UTF-16 with its mark", () => Buffer.from(`\uFEFF${target()}`, "utf16le"), /UTF-8/],
    ["that is no UTF-8", () => bytes('{"name":"', [0xff], `",${hook}}`), /UTF-8/],
    ["in overlong UTF-8", () => bytes('{"name":"', [0xc0, 0xaf], `",${hook}}`), /UTF-8/],
    ["with half a surrogate pair", () => `{"name":"\\ud800",${hook}}`, /surrogate/],
    ["with the other half", () => `{"name":"\\udc00x",${hook}}`, /surrogate/],
    [
      "with half a pair in bytes",
      () => bytes('{"name":"', [0xed, 0xa0, 0x80], `",${hook}}`),
      /UTF-8/,
    ],
    ["with 1e400", () => target(',"timeout":1e400'), /too large/],
    ["with a key twice", () => target(`,${hook}`), /twice/],
    ["with a key twice, once escaped", () => target(',"n\\u0061me":"b"'), /twice/],
    ["with the key __proto__", () => target(',"__proto__":{"x":1}'), /__proto__/],
    ["with the key __proto__, escaped", () => target(',"__pr\\u006fto__":{}'), /__proto__/],
    ["with __proto__ further in", () => `{${name()},"rest_webhook":{"__proto__":{}}}`, /__proto__/],
    ["of depth 1,000", () => target(`,"x":${deep(1000)}`), /deep/],
    ["of depth 100,000", () => deep(100_000), /deep/],
    ["in single quotes", () => target().replaceAll('"', "'"), /key/],
    ["that ends early", () => target().slice(0, -1), /ends/],
    ["with text behind it", () => `${target()}{}`, /end/],
    ["with a raw control character", () => `{"name":"a\u0001b",${hook}}`, /control/],
    ["with NaN", () => target(',"timeout":NaN'), /value/],
    ["with a leading zero", () => target(',"timeout":010'), /./],
    ["of blanks", () => "  ", /ends|value/],
    ["with an unknown escape", () => `{"name":"\\x41",${hook}}`, /escape/],
  ];
  for (const [what, make, why] of malformed) {
    it(`D74: is refused ${what}`, () =>
      unharmed(action, async () => {
        const body = make();
        const answer = await overRest("/targets", body);
        assert.equal(answer.status, 400);
        const refusal = restRefusal(answer);
        assertRefused(refusal, { code: 3, reason: "MALFORMED_JSON" });
        assert.match(refusal.message, why);
        for (const [way, told] of await refusalsOfJson(action, createTarget, body)) {
          assertRefused(told, { code: 3, reason: "MALFORMED_JSON" }, way);
          assert.equal(told.message, refusal.message, way);
        }
      }));
  }

  for (const key of [
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "$unknown",
    "$typeName",
  ]) {
    it(`D74: is refused with the key ${key}`, () =>
      unharmed(action, async () => {
        const body = target(`,"${key}":{"prototype":{"polluted":true}}`);
        const expected = { code: 3, reason: "UNKNOWN_FIELD", field: `target.${key}` };
        assertRefused(restRefusal(await overRest("/targets", body)), expected);
        for (const [way, told] of await refusalsOfJson(
          action,
          createTarget,
          `{"target":${body}}`,
        )) {
          assertRefused(told, expected, way);
        }
        assert.equal(Reflect.get({}, "polluted"), undefined);
      }));
  }

  it("D74: of 5 MiB is refused with 413 and code 8, over every protocol", () =>
    unharmed(action, async () => {
      const big = `{"name":"${"x".repeat(5 * 1024 * 1024)}"}`;
      const tooLarge = { code: 8, reason: "BODY_TOO_LARGE" };
      const rest = await overRest("/targets", big);
      const connect = await send(createPath, "application/json", big);
      assert.deepEqual([rest.status, connect.status], [413, 413]);
      assertRefused(restRefusal(rest), tooLarge);
      assertRefused(connectRefusal(connect), tooLarge);
      const grpc = await send(createPath, "application/grpc+json", framed(Buffer.from(big)), 2);
      assertRefused(grpcRefusal(grpc.headers), tooLarge);
    }));

  it("D74: of depth 100 is read", async () => {
    // 98 lists in the list of filters; what is refused is the field, not the depth.
    const { refusal } = await post("/targets/_search", JSON.parse(deep(99)));
    assertRefused(refusal, { code: 3, reason: "INVALID_JSON_FIELD", field: "filters[0]" });
    const tooDeep = restRefusal(await overRest("/targets/_search", deep(101)));
    assertRefused(tooDeep, { code: 3, reason: "MALFORMED_JSON" });
  });
});

describe("a JSON value of the wrong kind", () => {
  const t = (more: string) => `{${name()}${more}}`;
  const search = "/targets/_search";
  const wrong: [what: string, path: string, body: () => string, reason: string, field: string][] = [
    [
      "both members of a choice",
      "/targets",
      () => target(`,"rest_request_response":{"url":"${url}"}`),
      "INVALID_JSON_FIELD",
      "target.rest_request_response",
    ],
    ["no member of a choice", "/targets", () => t(""), "VALIDATION_FAILED", "target.target_type"],
    [
      "both filters",
      search,
      () => '[{"name":{"name":"x"},"in_ids":{}}]',
      "INVALID_JSON_FIELD",
      "filters[0].in_ids",
    ],
    ["no filter", search, () => "[{}]", "VALIDATION_FAILED", "filters[0].filter"],
    [
      "enum 99",
      search,
      () => '[{"name":{"method":99}}]',
      "VALIDATION_FAILED",
      "filters[0].name.method",
    ],
    [
      "enum -1",
      search,
      () => '[{"name":{"method":-1}}]',
      "VALIDATION_FAILED",
      "filters[0].name.method",
    ],
    [
      "enum 1.5",
      search,
      () => '[{"name":{"method":1.5}}]',
      "INVALID_JSON_FIELD",
      "filters[0].name.method",
    ],
    [
      "enum 2^31",
      search,
      () => '[{"name":{"method":2147483648}}]',
      "INVALID_JSON_FIELD",
      "filters[0].name.method",
    ],
    [
      "the enum name FOO",
      search,
      () => '[{"name":{"method":"FOO"}}]',
      "INVALID_JSON_FIELD",
      "filters[0].name.method",
    ],
    [
      "an enum name in the wrong case",
      search,
      () => '[{"name":{"method":"text_filter_method_equals"}}]',
      "INVALID_JSON_FIELD",
      "filters[0].name.method",
    ],
    [
      "an enum name cut short",
      search,
      () => '[{"name":{"method":"EQUALS"}}]',
      "INVALID_JSON_FIELD",
      "filters[0].name.method",
    ],
    [
      "null for what is required",
      "/targets",
      () => `{"name":null,${hook}}`,
      "VALIDATION_FAILED",
      "target.name",
    ],
    ["null for the whole", "/targets", () => "null", "VALIDATION_FAILED", "target"],
    [
      "null for a member of a choice",
      "/targets",
      () => t(',"rest_webhook":null'),
      "VALIDATION_FAILED",
      "target.target_type",
    ],
    ["null in a list", search, () => "[null]", "INVALID_JSON_FIELD", "filters[0]"],
    [
      "a string where an object belongs",
      "/targets",
      () => t(',"rest_webhook":"x"'),
      "INVALID_JSON_FIELD",
      "target.rest_webhook",
    ],
    ["a string for the whole", "/targets", () => '"x"', "INVALID_JSON_FIELD", "target"],
    ["a list where an object belongs", "/targets", () => "[]", "INVALID_JSON_FIELD", "target"],
    ["an object where a list belongs", search, () => "{}", "INVALID_JSON_FIELD", "filters"],
    [
      "a number where a string belongs",
      "/targets",
      () => `{"name":5,${hook}}`,
      "INVALID_JSON_FIELD",
      "target.name",
    ],
    [
      "a number where a bool belongs",
      "/targets",
      () => target(',"is_async":1'),
      "INVALID_JSON_FIELD",
      "target.is_async",
    ],
    [
      "a string where a bool belongs",
      "/targets",
      () => target(',"is_async":"true"'),
      "INVALID_JSON_FIELD",
      "target.is_async",
    ],
    [
      "a number where a duration belongs",
      "/targets",
      () => target(',"timeout":5'),
      "INVALID_JSON_FIELD",
      "target.timeout",
    ],
    [
      "a duration without unit",
      "/targets",
      () => target(',"timeout":"5"'),
      "INVALID_JSON_FIELD",
      "target.timeout",
    ],
    [
      "a duration of minutes",
      "/targets",
      () => target(',"timeout":"5m"'),
      "INVALID_JSON_FIELD",
      "target.timeout",
    ],
    [
      "a duration of ages",
      "/targets",
      () => target(',"timeout":"999999999999s"'),
      "INVALID_JSON_FIELD",
      "target.timeout",
    ],
    [
      "a field in both spellings",
      "/targets",
      () => target(',"is_async":true,"isAsync":true'),
      "INVALID_JSON_FIELD",
      "target.is_async",
    ],
  ];
  for (const [what, path, make, reason, field] of wrong) {
    it(`D75: is refused, naming the field: ${what}`, () =>
      unharmed(action, async () => {
        const body = make();
        const answer = await overRest(path, body);
        assert.equal(answer.status, 400);
        assertRefused(restRefusal(answer), { code: 3, reason, field });
        const isCreate = path === "/targets";
        const method = isCreate ? createTarget : searchTargets;
        const whole = `{"${isCreate ? "target" : "filters"}":${body}}`;
        for (const [way, told] of await refusalsOfJson(action, method, whole)) {
          assertRefused(told, { code: 3, reason, field }, way);
        }
      }));
  }
});
