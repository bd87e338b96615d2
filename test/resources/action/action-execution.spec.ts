// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { messageOf, pathOf } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startActionPeer } from "./action-peer.ts";

const action = await startActionPeer();
const { app, get, post, remove, addTarget, setExecution, eventCount } = action;
after(() => action[Symbol.asyncDispose]());

const target = await addTarget();
const { method } = ActionService;
const service = ActionService.typeName;
const onMethod = (name: keyof typeof method) => ({ request: { method: pathOf(method[name]) } });
const search = async (filters: JsonValue, query = "?query.asc=true") =>
  bodyOf(await post(`/executions/_search${query}`, filters));
type Shown = { details: { id: string }; execution: JsonObject };
const idsOf = ({ result }: { result: Shown[] }) => result.map(({ details }) => details.id);
const executionOf = async (condition: JsonObject) => {
  const { result } = await search([{ in_conditions: { conditions: [condition] } }]);
  return result[0];
};

/** Nothing of one test may stand in the way of the next. */
async function clear(): Promise<void> {
  for (const id of idsOf(await search([]))) await remove(`/executions/${encodeURIComponent(id)}`);
}

describe("setting an execution", () => {
  const conditions: [condition: JsonObject, id: string][] = [
    [{ request: { all: true } }, "request"],
    [{ request: { service } }, `request.${service}`],
    [onMethod("getTarget"), `request.${service}.GetTarget`],
    [{ response: { all: true } }, "response"],
    [{ response: { service } }, `response.${service}`],
    [{ response: { method: pathOf(method.getTarget) } }, `response.${service}.GetTarget`],
    [{ event: { all: true } }, "event"],
    [{ event: { group: "target" } }, "event.target.*"],
    [{ event: { event: "target.added" } }, "event.target.added"],
    [{ function: "preuserinfo" }, "function.preuserinfo"],
  ];
  for (const [condition, id] of conditions) {
    it(`answers 201 and the id ${id} when it is created`, async () => {
      await clear();
      const before = await eventCount();
      const { details, ...rest } = bodyOf(
        await post("/executions", { condition, targets: [target] }),
        201,
      );
      assert.deepEqual(rest, {});
      assert.deepEqual([details.id, details.sequence], [id, String(before + 1)]);
      const owner = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };
      assert.deepEqual(details.resource_owner, owner);
      const execution = { condition, targets: [target], includes: [] };
      assert.deepEqual(await executionOf(condition), { details, execution });
    });
  }

  it("replaces both lists, answers 200, and keeps the order given", async () => {
    await clear();
    const other = await addTarget();
    const include = await setExecution({ request: { all: true } }, { targets: [target] });
    const condition = onMethod("getTarget");
    await setExecution(condition, { targets: [target, other], includes: [include] });
    const before = await eventCount();
    const answer = await post("/executions", { condition, targets: [other, target] });
    const { details } = bodyOf(answer, 200);
    assert.equal(details.sequence, String(before + 1));
    const { execution } = await executionOf(condition);
    assert.deepEqual(execution, { condition, targets: [other, target], includes: [] });
  });

  it("records nothing when nothing differs", async () => {
    await clear();
    const condition = { event: { all: true } };
    const { details } = bodyOf(await post("/executions", { condition, targets: [target] }), 201);
    const before = await eventCount();
    const again = bodyOf(await post("/executions", { condition, targets: [target] }), 200);
    assert.deepEqual(again, { details });
    assert.equal(await eventCount(), before);
  });

  const unknown: [string, JsonObject, string][] = [
    ["method", { request: { method: `/${service}/Nothing` } }, "EXECUTION_CONDITION_UNKNOWN"],
    [
      "method without slash",
      { request: { method: `${service}/GetTarget` } },
      "EXECUTION_CONDITION_UNKNOWN",
    ],
    ["service", { response: { service: "idsvc.Nothing" } }, "EXECUTION_CONDITION_UNKNOWN"],
    [
      "health service",
      { request: { service: "grpc.health.v1.Health" } },
      "EXECUTION_CONDITION_UNKNOWN",
    ],
    ["event", { event: { event: "target.eaten" } }, "EXECUTION_CONDITION_UNKNOWN"],
    ["group", { event: { group: "targ" } }, "EXECUTION_CONDITION_UNKNOWN"],
    ["function", { function: "preuserinf" }, "EXECUTION_CONDITION_UNKNOWN"],
  ];
  for (const [what, condition, reason] of unknown) {
    it(`is refused with 404 for an unknown ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post("/executions", { condition, targets: [target] });
      assert.equal(status, 404);
      assertRefused(refusal, { code: 5, reason });
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused with 404 for an unknown target or include", async () => {
    const condition = { request: { all: true } };
    const calls = { condition, targets: [target, "404"] };
    const noTarget = await post("/executions", calls);
    assertRefused(noTarget.refusal, { code: 5, reason: "TARGET_NOT_FOUND" });
    assert.deepEqual(noTarget.refusal.metadata, { target: "404" });
    const noInclude = await post("/executions", { condition, includes: ["request.nothing"] });
    assertRefused(noInclude.refusal, { code: 5, reason: "EXECUTION_INCLUDE_NOT_FOUND" });
    assert.deepEqual(noInclude.refusal.metadata, { include: "request.nothing" });
  });

  const invalid: [string, JsonObject, string][] = [
    ["without condition", { targets: [target] }, "execution.condition"],
    [
      "with an empty condition",
      { condition: {}, targets: [target] },
      "execution.condition.condition_type",
    ],
    ["without targets and includes", { condition: { event: { all: true } } }, "execution"],
    [
      "with all: false",
      { condition: { event: { all: false } }, targets: [target] },
      "execution.condition.event.all",
    ],
    [
      "with a method of 1001 characters",
      { condition: { request: { method: "m".repeat(1001) } }, targets: [target] },
      "execution.condition.request.method",
    ],
    [
      "with an empty function",
      { condition: { function: "" }, targets: [target] },
      "execution.condition.function",
    ],
    [
      "with an empty target id",
      { condition: { event: { all: true } }, targets: [""] },
      "execution.targets[0]",
    ],
  ];
  for (const [what, body, field] of invalid) {
    it(`is refused with 400 ${what}`, async () => {
      const { status, refusal } = await post("/executions", body);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }
});

describe("including executions", () => {
  const put = (condition: JsonObject, includes: string[]) =>
    post("/executions", { condition, targets: [target], includes });
  const all = { request: { all: true } };
  const refusedBy = (reason: string) => ({ code: 9, reason });

  it("is refused for the execution itself, new or not", async () => {
    await clear();
    for (const created of [201, 200]) {
      const { status, refusal } = await put(all, ["request"]);
      assert.equal(status, 400);
      assertRefused(refusal, refusedBy("EXECUTION_INCLUDE_CYCLE"));
      bodyOf(await put(all, []), created);
    }
  });

  it("is refused for one of another type", async () => {
    await clear();
    await put(all, []);
    for (const condition of [{ response: { all: true } }, { event: { all: true } }]) {
      const { refusal } = await put(condition, ["request"]);
      assertRefused(refusal, refusedBy("EXECUTION_INCLUDE_OF_OTHER_TYPE"));
    }
  });

  const chain = [
    { request: { all: true } },
    { request: { service } },
    onMethod("createTarget"),
    onMethod("patchTarget"),
    onMethod("deleteTarget"),
  ];
  const last = `request.${service}.DeleteTarget`;

  it("is refused through a cycle of two and of three", async () => {
    await clear();
    const [a = {}, b = {}, c = {}] = chain;
    const first = await setExecution(a, { targets: [target] });
    const second = await setExecution(b, { includes: [first] });
    assertRefused((await put(a, [second])).refusal, refusedBy("EXECUTION_INCLUDE_CYCLE"));
    const third = await setExecution(c, { includes: [second] });
    assertRefused((await put(a, [third])).refusal, refusedBy("EXECUTION_INCLUDE_CYCLE"));
    assert.deepEqual((await executionOf(a)).execution.includes, []);
  });

  it("may nest three levels deep, and no deeper", async () => {
    await clear();
    let include = await setExecution(chain[0] ?? {}, { targets: [target] });
    for (const condition of chain.slice(1, 4)) {
      include = await setExecution(condition, { includes: [include] });
    }
    const { refusal } = await put(chain[4] ?? {}, [include]);
    assertRefused(refusal, refusedBy("EXECUTION_INCLUDES_TOO_DEEP"));
  });

  it("counts the levels above an execution too", async () => {
    await clear();
    const top = await setExecution(chain[4] ?? {}, { targets: [target] });
    assert.equal(top, last);
    const middle: string[] = [];
    for (const condition of chain.slice(0, 4)) {
      middle.push(await setExecution(condition, { targets: [target] }));
    }
    // 0 <- 1 <- 2 and 3 <- 4: joining 2 under 3 makes four levels.
    bodyOf(await put(chain[1] ?? {}, [middle[0] ?? ""]));
    bodyOf(await put(chain[2] ?? {}, [middle[1] ?? ""]));
    bodyOf(await put(chain[4] ?? {}, [middle[3] ?? ""]));
    const { refusal } = await put(chain[3] ?? {}, [middle[2] ?? ""]);
    assertRefused(refusal, refusedBy("EXECUTION_INCLUDES_TOO_DEEP"));
  });
});

describe("deleting an execution", () => {
  it("answers the event that removed it, takes it out of includes, and leaves its targets", async () => {
    await clear();
    const included = await setExecution({ request: { all: true } }, { targets: [target] });
    const condition = { request: { service } };
    await setExecution(condition, { targets: [target], includes: [included] });
    const before = await eventCount();
    const { details } = bodyOf(await remove(`/executions/${included}`));
    assert.deepEqual([details.id, details.sequence], [included, String(before + 1)]);
    const { execution } = await executionOf(condition);
    assert.deepEqual(execution, { condition, targets: [target], includes: [] });
    assert.equal((await get(`/targets/${target}`)).status, 200);
    const { status, refusal } = await remove(`/executions/${included}`);
    assert.equal(status, 404);
    assertRefused(refusal, { code: 5, reason: "EXECUTION_NOT_FOUND" });
    bodyOf(
      await post("/executions", { condition: { request: { all: true } }, targets: [target] }),
      201,
    );
  });

  it("takes the ids of the available lists for ids", async () => {
    const { refusal } = await remove("/executions/functions");
    assertRefused(refusal, { code: 5, reason: "EXECUTION_NOT_FOUND" });
  });
});

describe("searching executions", () => {
  it("filters by condition, type, target and include, in order of creation", async () => {
    await clear();
    const other = await addTarget();
    const event = { event: { group: "target" } };
    const all = await setExecution({ request: { all: true } }, { targets: [target] });
    const group = await setExecution(event, { targets: [other] });
    const including = await setExecution(
      { request: { service } },
      { targets: [other], includes: [all] },
    );
    const f = await setExecution({ function: "preidtoken" }, { targets: [target] });
    const inType = (type: string) => [{ execution_type: { type: `EXECUTION_TYPE_${type}` } }];
    const cases: [JsonValue[], string[]][] = [
      [[], [all, group, including, f]],
      [[{ in_conditions: { conditions: [event, { function: "preidtoken" }] } }], [group, f]],
      [[{ in_conditions: { conditions: [{ event: { event: "target.added" } }] } }], []],
      [[{ in_conditions: { conditions: [] } }], []],
      [inType("REQUEST"), [all, including]],
      [inType("RESPONSE"), []],
      [inType("EVENT"), [group]],
      [inType("FUNCTION"), [f]],
      [[{ target: { id: other } }], [group, including]],
      [[{ target: { id: "404" } }], []],
      [[{ include: { include: all } }], [including]],
      [[{ include: { include: group } }], []],
      [[...inType("REQUEST"), { target: { id: other } }], [including]],
    ];
    for (const [filters, found] of cases) {
      const answer = await search(filters);
      assert.deepEqual(idsOf(answer), found, JSON.stringify(filters));
      assert.equal(answer.details.total_result, String(found.length));
      assert.deepEqual(idsOf(await search(filters, "")), found.toReversed());
    }
    const page = await search([], "?query.asc=true&query.offset=1&query.limit=2");
    assert.deepEqual(idsOf(page), [group, including]);
    assert.deepEqual([page.details.end_of_list, page.details.total_result], [false, "4"]);
  });

  const invalid: [string, JsonValue[], string][] = [
    ["no type", [{ execution_type: {} }], "filters[0].execution_type.type"],
    ["an unknown type", [{ execution_type: { type: 5 } }], "filters[0].execution_type.type"],
    [
      "an empty condition",
      [{ in_conditions: { conditions: [{}] } }],
      "filters[0].in_conditions.conditions[0].condition_type",
    ],
    ["an empty target", [{ target: {} }], "filters[0].target.id"],
    ["an empty include", [{ include: { include: "" } }], "filters[0].include.include"],
    ["no member", [{}], "filters[0].filter"],
  ];
  for (const [what, filters, field] of invalid) {
    it(`refuses a filter with ${what}`, async () => {
      const { refusal } = await post("/executions/_search", filters);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("refuses a limit above the maximum", async () => {
    const { refusal } = await post("/executions/_search?query.limit=1001");
    assertRefused(refusal, { code: 3, reason: "LIMIT_EXCEEDED", field: "query.limit" });
  });
});

describe("what conditions can name", () => {
  it("is listed: the functions, methods and services of the running process", async () => {
    const { functions } = bodyOf(await get("/executions/functions"));
    assert.deepEqual(functions, [
      "postauthentication",
      "postcreation",
      "preaccesstoken",
      "precreation",
      "preidtoken",
      "preuserinfo",
    ]);
    const { methods } = bodyOf(await get("/executions/methods"));
    const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
    assert.deepEqual(methods, unary.map(({ rule }) => rule.path).sort());
    const { services } = bodyOf(await get("/executions/services"));
    assert.ok(services.includes(service));
    assert.ok(!services.some((name: string) => name.startsWith("grpc.")));
  });

  it("is accepted by a condition, each one, over gRPC alike", async () => {
    const { methods } = bodyOf(await get("/executions/methods"));
    for (const name of methods) {
      const condition = {
        conditionType: {
          case: "response" as const,
          value: { condition: { case: "method" as const, value: name } },
        },
      };
      const request = { execution: { condition, targets: [target] } };
      const options = { token: app.token };
      const { details } = messageOf(
        await action.peer.call("grpc", method.putExecution, request, options),
      );
      assert.equal(details?.id, `response.${name.slice(1).replace("/", ".")}`);
    }
  });
});
