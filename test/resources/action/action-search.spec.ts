// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { TargetFieldName } from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import { messageOf } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startActionPeer } from "./action-peer.ts";

const action = await startActionPeer();
const { app, post, addTarget, eventCount } = action;
after(() => action[Symbol.asyncDispose]());

type Shown = { details: { id: string }; target: { name: string } };
const names = (found: { result: Shown[] }) => found.result.map(({ target }) => target.name);

/** What stands in the store, in the order of creation; every column has two that are equal. */
const made: [name: string, more: JsonObject][] = [
  ["delta", { timeout: "3s", is_async: true }],
  ["Alpha", { rest_webhook: { url: "http://localhost:2000/z" } }],
  ["100%", { timeout: "2s", interrupt_on_error: true }],
  ["under_score", { rest_webhook: { url: "http://localhost:2000/a" } }],
  ["ÄPFEL", { timeout: "1s", is_async: true }],
];
const ids: string[] = [];
for (const [name, more] of made) ids.push(await addTarget({ name, ...more }));
// A request-response target, changed after all others were created.
ids.push(await addTarget({ name: "last" }));
const kind = { rest_request_response: { url: "http://localhost:3000/" } };
bodyOf(await action.patch(`/targets/${ids[5]}`, kind));
bodyOf(await action.patch(`/targets/${ids[0]}`, { timeout: "4s" }));
const all = [...made.map(([name]) => name), "last"];

const searchTargets = async (query = "", filters?: JsonValue) =>
  bodyOf(await post(`/targets/_search${query}`, filters));

describe("searching targets", () => {
  it("finds all of the instance, the newest first, and says what the list is", async () => {
    const found = await searchTargets();
    assert.deepEqual(names(found), all.toReversed());
    const { timestamp, ...details } = found.details;
    assert.deepEqual(details, {
      applied_limit: 100,
      end_of_list: true,
      next: "",
      total_result: "6",
      processed_sequence: String(await eventCount()),
    });
    assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000);
    assert.equal(found.sorting_column, "TARGET_FIELD_NAME_UNSPECIFIED");
  });

  it("shows each as a get shows it", async () => {
    const { result } = await searchTargets();
    for (const one of result) {
      const { target } = bodyOf(await action.get(`/targets/${one.details.id}`));
      assert.deepEqual(one, target);
    }
  });

  it("takes an empty list, and no body, for no filter", async () => {
    assert.deepEqual(names(await searchTargets("", [])), all.toReversed());
  });

  it("tells who sends an object where the list of filters belongs what to send", async () => {
    const { status, refusal } = await post("/targets/_search", { filters: [] });
    assert.equal(status, 400);
    assertRefused(refusal, { code: 3, reason: "INVALID_JSON_FIELD", field: "filters" });
    assert.match(refusal.message, /JSON array/);
  });

  const columns: [column: string, ascending: string[]][] = [
    ["UNSPECIFIED", all],
    ["CREATION_DATE", all],
    ["ID", all],
    ["CHANGE_DATE", [...all.slice(1), "delta"]],
    ["NAME", ["100%", "Alpha", "delta", "last", "under_score", "ÄPFEL"]],
    ["TARGET_TYPE", ["last", ...all.slice(0, 5)]],
    ["URL", ["under_score", "Alpha", "last", "delta", "100%", "ÄPFEL"]],
    ["TIMEOUT", ["ÄPFEL", "100%", "delta", "Alpha", "under_score", "last"]],
    ["ASYNC", ["Alpha", "100%", "under_score", "last", "delta", "ÄPFEL"]],
    ["INTERRUPT_ON_ERROR", ["delta", "Alpha", "under_score", "ÄPFEL", "last", "100%"]],
  ];
  it("can sort by every column of the schema", () => {
    const known = Object.keys(TargetFieldName).filter((key) => !/^\d+$/.test(key));
    assert.deepEqual(columns.map(([column]) => column).sort(), known.sort());
  });
  for (const [column, ascending] of columns) {
    it(`sorts by ${column}, ties by id, in both directions`, async () => {
      const name = `TARGET_FIELD_NAME_${column}`;
      const up = await searchTargets(`?sorting_column=${name}&query.asc=true`);
      assert.deepEqual(names(up), ascending);
      assert.equal(up.sorting_column, name);
      const down = await searchTargets(`?sorting_column=${name}`);
      assert.deepEqual(names(down), ascending.toReversed());
    });
  }

  it("refuses a column that the schema does not have", async () => {
    const { refusal } = await post("/targets/_search?sorting_column=10");
    const field = "sorting_column";
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    const named = await post("/targets/_search?sorting_column=NAME");
    assertRefused(named.refusal, { code: 3, reason: "INVALID_QUERY_PARAMETER", field });
  });

  it("gives pages that neither overlap nor leave gaps", async () => {
    for (const column of ["NAME", "TARGET_TYPE", "ASYNC", "URL"]) {
      const sorted = `sorting_column=TARGET_FIELD_NAME_${column}`;
      const whole = names(await searchTargets(`?${sorted}`));
      const paged: string[] = [];
      for (const offset of [0, 2, 4]) {
        const page = await searchTargets(`?${sorted}&query.limit=2&query.offset=${offset}`);
        assert.equal(page.details.applied_limit, 2);
        assert.equal(page.details.total_result, "6");
        assert.equal(page.details.end_of_list, offset === 4);
        paged.push(...names(page));
      }
      assert.deepEqual(paged, whole, column);
    }
  });

  it("gives an empty last page beyond the end", async () => {
    const { details, result } = await searchTargets("?query.offset=6");
    assert.deepEqual(result, []);
    assert.deepEqual([details.end_of_list, details.total_result], [true, "6"]);
  });

  const filters: [what: string, filters: JsonValue[], found: string[]][] = [
    ["equals", [byName("Alpha")], ["Alpha"]],
    ["equals, in the right case only", [byName("alpha")], []],
    ["equals, ignoring case", [byName("äpfel", "EQUALS_IGNORE_CASE")], ["ÄPFEL"]],
    ["starts with", [byName("Al", "STARTS_WITH")], ["Alpha"]],
    ["starts with, in the right case only", [byName("al", "STARTS_WITH")], []],
    ["starts with, ignoring case", [byName("aL", "STARTS_WITH_IGNORE_CASE")], ["Alpha"]],
    ["contains", [byName("l", "CONTAINS")], ["delta", "Alpha", "last"]],
    ["contains, ignoring case", [byName("A", "CONTAINS_IGNORE_CASE")], ["delta", "Alpha", "last"]],
    ["ends with", [byName("a", "ENDS_WITH")], ["delta", "Alpha"]],
    ["ends with, ignoring case", [byName("fEL", "ENDS_WITH_IGNORE_CASE")], ["ÄPFEL"]],
    ["contains nothing at all", [byName("", "CONTAINS")], all],
    ["equals nothing at all", [byName("")], []],
    [
      "one of the ids",
      [{ in_ids: { ids: [ids[2] ?? "", "404", ids[0] ?? ""] } }],
      ["delta", "100%"],
    ],
    ["one of no ids", [{ in_ids: { ids: [] } }], []],
    [
      "all of several filters",
      [byName("a", "ENDS_WITH"), { in_ids: { ids: ids.slice(1) } }],
      ["Alpha"],
    ],
  ];
  for (const [what, wanted, found] of filters) {
    it(`keeps what ${what}`, async () => {
      const answer = await searchTargets("?query.asc=true", wanted);
      assert.deepEqual(names(answer), found);
      assert.equal(answer.details.total_result, String(found.length));
      assert.equal(answer.details.end_of_list, true);
    });
  }

  const invalid: [string, JsonValue[], string][] = [
    ["a name of 201 characters", [byName("n".repeat(201))], "filters[0].name.name"],
    ["an unknown method", [{ name: { name: "x", method: 8 } }], "filters[0].name.method"],
    ["an empty id", [{ in_ids: { ids: [""] } }], "filters[0].in_ids.ids[0]"],
    ["1001 ids", [{ in_ids: { ids: Array(1001).fill("1") } }], "filters[0].in_ids.ids"],
    ["no member", [{}], "filters[0].filter"],
    ["101 filters", Array(101).fill(byName("x")), "filters"],
  ];
  for (const [what, wanted, field] of invalid) {
    it(`refuses a filter with ${what}`, async () => {
      const { status, refusal } = await post("/targets/_search", wanted);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("refuses a limit above the maximum, which configuration can change", async () => {
    const { status, refusal } = await post("/targets/_search?query.limit=1001");
    assert.equal(status, 400);
    assertRefused(refusal, { code: 3, reason: "LIMIT_EXCEEDED", field: "query.limit" });
    assert.deepEqual(refusal.metadata, { given: "1001", maximum: "1000" });
    const env = { IDSVC_LIST_LIMIT_DEFAULT: "1", IDSVC_LIST_LIMIT_MAX: "2" };
    await using other = await startActionPeer({ env });
    const answer = await other.post("/targets/_search?query.limit=3");
    assertRefused(answer.refusal, { code: 3, reason: "LIMIT_EXCEEDED", field: "query.limit" });
    for (let count = 0; count < 2; count++) await other.addTarget();
    const { details, result } = bodyOf(await other.post("/targets/_search"));
    assert.deepEqual([details.applied_limit, details.end_of_list, result.length], [1, false, 1]);
  });

  it("finds the same over gRPC", async () => {
    const request = {
      query: { limit: 2, asc: true },
      sortingColumn: TargetFieldName.NAME,
      filters: [],
    };
    const options = { token: app.token };
    const { searchTargets: search } = ActionService.method;
    const found = messageOf(await action.peer.call("grpc", search, request, options));
    assert.deepEqual(
      found.result.map(({ target }) => target?.name),
      ["100%", "Alpha"],
    );
    assert.deepEqual([found.details?.totalResult, found.details?.endOfList], [6n, false]);
  });
});

function byName(name: string, method?: string): JsonObject {
  return { name: { name, ...(method && { method: `TEXT_FILTER_METHOD_${method}` }) } };
}
