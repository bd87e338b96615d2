// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { bodyOf, startActionPeer } from "../resources/action/action-peer.ts";
import { processorMs } from "../support/processor-time.ts";
import { messageOf, pathOf } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";
import { speak } from "../support/wire.ts";
import { refusalsOfJson, unharmed } from "./abuse.ts";

const action = await startActionPeer();
const { app, peer, get, post, patch, remove, addTarget } = action;
after(() => action[Symbol.asyncDispose]());
await addTarget();
await addTarget();

const { searchTargets, searchExecutions, getTarget, deleteTarget, patchTarget, deleteExecution } =
  ActionService.method;
const options = { token: app.token };
const searches: [path: string, method: DescMethod][] = [
  ["/targets/_search", searchTargets],
  ["/executions/_search", searchExecutions],
];

/** A search over Connect, whose JSON has numbers and texts alike. */
const connectSearch = async (method: DescMethod, query: string) =>
  peer.send({
    path: pathOf(method),
    headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
    body: `{"query":${query}}`,
  });

describe("the limit of a search", () => {
  const refused = [
    "1001",
    "-1",
    "4294967296",
    "1.5",
    "abc",
    "NaN",
    "1e9",
    "0x10",
    " 5",
    "4294967295",
  ];
  for (const limit of refused) {
    it(`D70: is refused as ${limit}`, () =>
      unharmed(action, async () => {
        for (const [path, method] of searches) {
          const answer = await post(`${path}?query.limit=${encodeURIComponent(limit)}`);
          assert.equal(answer.status, 400);
          const beyond = limit === "1001" || limit === "4294967295";
          const reason = beyond ? "LIMIT_EXCEEDED" : "INVALID_QUERY_PARAMETER";
          assertRefused(answer.refusal, { code: 3, reason, field: "query.limit" });
          const json = JSON.stringify({ query: { limit } });
          for (const [way, told] of await refusalsOfJson(action, method, json)) {
            const wanted = beyond ? "LIMIT_EXCEEDED" : "INVALID_JSON_FIELD";
            assertRefused(told, { code: 3, reason: wanted, field: "query.limit" }, way);
          }
          if (!beyond) continue;
          const request = { query: { limit: Number(limit) } };
          const outcome = await peer.call("grpc", method, request, options);
          assertRefused(outcome, { code: 3, reason: "LIMIT_EXCEEDED", field: "query.limit" });
        }
      }));
  }

  it("D70: is refused as a JSON number that is no whole one of 32 bits", async () => {
    for (const limit of ["1001", "-1", "4294967296", "1.5", "true", "[]", "{}"]) {
      const answer = await connectSearch(searchTargets, `{"limit":${limit}}`);
      assert.equal(answer.status, 400, limit);
    }
  });

  const accepted: [string, number][] = [
    ["", 100],
    ["0", 100],
    ["1000", 1000],
    ["100", 100],
    ["1", 1],
  ];
  for (const [limit, applied] of accepted) {
    it(`D70: is ${applied} when it is ${limit === "" ? "absent" : `sent as ${limit}`}`, async () => {
      const query = limit === "" ? "" : `?query.limit=${limit}`;
      for (const [path, method] of searches) {
        assert.equal(bodyOf(await post(`${path}${query}`)).details.applied_limit, applied);
        const forms = limit === "" ? ["{}"] : [`{"limit":${limit}}`, `{"limit":"${limit}"}`];
        for (const form of forms) {
          const { json } = await connectSearch(method, form);
          assert.equal(Object(json).details.applied_limit, applied, form);
        }
        const outcome = await peer.call(
          "grpc",
          method,
          { query: { limit: Number(limit) } },
          options,
        );
        assert.equal(Object(messageOf(outcome)).details.appliedLimit, applied);
      }
    });
  }
});

describe("the offset of a search", () => {
  for (const offset of [2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 53n + 1n]) {
    it(`D71: of ${offset} leads to an empty last page`, async () => {
      for (const [path, method] of searches) {
        const overRest = bodyOf(await post(`${path}?query.offset=${offset}`));
        const answers = [
          overRest,
          Object((await connectSearch(method, `{"offset":"${offset}"}`)).json),
          Object((await connectSearch(method, `{"offset":${offset}}`)).json),
        ];
        for (const { details, result } of answers) {
          assert.deepEqual(result, []);
          assert.equal(details.end_of_list, true);
          assert.equal(details.total_result, path.startsWith("/targets") ? "2" : "0");
        }
        const request = { query: { offset } };
        const found = Object(messageOf(await peer.call("grpc", method, request, options)));
        assert.deepEqual([found.result, found.details.endOfList], [[], true]);
      }
    });
  }

  for (const offset of ["18446744073709551616", "-1", "1e3", "1.0", "", "0x1"]) {
    it(`D71: is refused as "${offset}"`, () =>
      unharmed(action, async () => {
        for (const [path, method] of searches) {
          const answer = await post(`${path}?query.offset=${offset}`);
          assert.equal(answer.status, 400);
          const reason = "INVALID_QUERY_PARAMETER";
          assertRefused(answer.refusal, { code: 3, reason, field: "query.offset" });
          const json = JSON.stringify({ query: { offset } });
          for (const [way, told] of await refusalsOfJson(action, method, json)) {
            assertRefused(
              told,
              { code: 3, reason: "INVALID_JSON_FIELD", field: "query.offset" },
              way,
            );
          }
        }
      }));
  }
});

describe("the id in a path", () => {
  const unknown = { code: 5, reason: "TARGET_NOT_FOUND" };
  const asked: [what: string, path: string, expected: { code: number; reason: string }][] = [
    ["of 200 characters", "x".repeat(200), unknown],
    ["of 200 astral characters", encodeURIComponent("😀".repeat(200)), unknown],
    ["of 201 characters", "x".repeat(201), { code: 3, reason: "VALIDATION_FAILED" }],
    ["of NUL", "%00", unknown],
    ["of control characters", "a%0d%0a%1b%7f", unknown],
    ["with an encoded slash", "a%2fb", unknown],
    ["that climbs, encoded", "..%2f..", unknown],
    ["that climbs to another route", "..%2fexecutions%2ffunctions", unknown],
    ["of two encoded dots", "%2e%2e", unknown],
    ["that is no UTF-8", "%ff", { code: 3, reason: "PATH_MALFORMED" }],
    ["that encodes half a surrogate pair", "%ed%a0%80", { code: 3, reason: "PATH_MALFORMED" }],
    ["with a broken encoding", "%zz", { code: 3, reason: "PATH_MALFORMED" }],
    ["with an encoding that is cut off", "%4", { code: 3, reason: "PATH_MALFORMED" }],
    ["of two segments", "a/b", { code: 5, reason: "ROUTE_NOT_FOUND" }],
    ["that climbs", "../executions/functions", { code: 5, reason: "ROUTE_NOT_FOUND" }],
    ["of a slash more", "a/", { code: 5, reason: "ROUTE_NOT_FOUND" }],
    ["of a slash less", "/a", { code: 5, reason: "ROUTE_NOT_FOUND" }],
    ["of nothing", "", { code: 5, reason: "ROUTE_NOT_FOUND" }],
    ["of an encoded search", "%5fsearch", unknown],
    ["with parameters", "a;b=c", unknown],
  ];
  for (const [what, path, expected] of asked) {
    it(`D72: ${what} leads to ${expected.reason}, by every method`, () =>
      unharmed(action, async () => {
        const answers = [
          await get(`/targets/${path}`),
          await patch(`/targets/${path}`, { timeout: "1s" }),
          await remove(`/targets/${path}`),
        ];
        for (const { status, refusal } of answers) {
          assert.equal(status, expected.code === 3 ? 400 : 404);
          assertRefused(refusal, expected);
        }
        const execution = await remove(`/executions/${path}`);
        const isUnknown = expected === unknown;
        const reason = isUnknown ? "EXECUTION_NOT_FOUND" : expected.reason;
        assertRefused(execution.refusal, { code: expected.code, reason });
      }));
  }

  it("D72: of raw control characters is no HTTP", () =>
    unharmed(action, async () => {
      for (const bad of ["\u0000", "\u0001", "\r", "\u007f\u0080"]) {
        const request = `GET /resources/v3alpha/targets/${bad} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`;
        const heard = await speak(app.port, Buffer.from(request, "latin1"));
        assert.match(heard, /^HTTP\/1\.1 400 /, JSON.stringify(bad));
      }
    }));

  it("D72: has 1 to 200 characters over gRPC too", () =>
    unharmed(action, async () => {
      const target = { timeout: { seconds: 1n } };
      for (const id of ["", "x".repeat(201)]) {
        const outcomes = [
          await peer.call("grpc", getTarget, { id }, options),
          await peer.call("grpc", deleteTarget, { id }, options),
          await peer.call("grpc", patchTarget, { id, target }, options),
          await peer.call("grpc", deleteExecution, { id }, options),
        ];
        for (const outcome of outcomes) {
          assertRefused(outcome, { code: 3, reason: "VALIDATION_FAILED", field: "id" });
        }
      }
    }));
});

describe("lists without end", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `id-${index}`);
  const condition = { event: { all: true } };
  const tooMany: [what: string, path: string, body: JsonValue, field: string, limit: RegExp][] = [
    [
      "100,000 ids in in_ids",
      "/targets/_search",
      [{ in_ids: { ids: ids(100_000) } }],
      "filters[0].in_ids.ids",
      /1000/,
    ],
    [
      "10,000 filters",
      "/targets/_search",
      Array<JsonObject>(10_000).fill({ name: { name: "x" } }),
      "filters",
      /100\b/,
    ],
    [
      "10,000 filters of executions",
      "/executions/_search",
      Array<JsonObject>(10_000).fill({ target: { id: "x" } }),
      "filters",
      /100\b/,
    ],
    [
      "10,000 conditions",
      "/executions/_search",
      [{ in_conditions: { conditions: Array<JsonObject>(10_000).fill(condition) } }],
      "filters[0].in_conditions.conditions",
      /1000/,
    ],
    [
      "1,001 targets",
      "/executions",
      { condition, targets: ids(1001) },
      "execution.targets",
      /1000/,
    ],
    [
      "1,001 includes",
      "/executions",
      { condition, includes: ids(1001) },
      "execution.includes",
      /1000/,
    ],
  ];
  for (const [what, path, body, field, limit] of tooMany) {
    it(`D73: are refused, naming the limit, for less than 100 ms of a processor: ${what}`, () =>
      unharmed(action, async () => {
        let quickest = Infinity;
        // Now and then a round compiles something, or collects what others have left.
        for (let round = 0; round < 20 && quickest >= 100; round++) {
          const before = processorMs();
          const { status, refusal } = await post(path, body);
          quickest = Math.min(quickest, processorMs() - before);
          assert.equal(status, 400);
          assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
          assert.match(refusal.message, limit);
        }
        assert.ok(quickest < 100, `${quickest} ms`);
      }));
  }

  it("D73: are refused over gRPC alike", () =>
    unharmed(action, async () => {
      const inIds = { case: "inIds" as const, value: { ids: ids(100_000) } };
      const before = processorMs();
      const request = { filters: [{ filter: inIds }] };
      const outcome = await peer.call("grpc", searchTargets, request, options);
      const field = "filters[0].in_ids.ids";
      assertRefused(outcome, { code: 3, reason: "VALIDATION_FAILED", field });
      assert.ok(processorMs() - before < 500);
    }));

  it("D73: of a thousand unknown includes or targets are refused for less than half a second of a processor", () =>
    unharmed(action, async () => {
      for (const [calls, reason] of [
        [{ includes: ids(1000) }, "EXECUTION_INCLUDE_NOT_FOUND"],
        [{ targets: ids(1000) }, "TARGET_NOT_FOUND"],
      ] as const) {
        let quickest = Infinity;
        for (let round = 0; round < 3; round++) {
          const before = processorMs();
          const { refusal } = await post("/executions", { condition, ...calls });
          quickest = Math.min(quickest, processorMs() - before);
          assertRefused(refusal, { code: 5, reason });
        }
        assert.ok(quickest < 500, `${reason}: ${quickest} ms`);
      }
    }));
});
