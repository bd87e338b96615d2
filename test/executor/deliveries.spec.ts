// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { sweepCrowded, sweepDeliveries } from "../../src/executor/delivery/sweep.ts";
import { deliveries } from "../../src/executor/delivery/table.ts";
import { jobs } from "../../src/jobs/job.ts";
import { isNotNull } from "../../src/storage/drizzle.ts";
import { updateRows } from "../../src/storage/row-change.ts";
import { secrets } from "../../src/storage/kernel-tables.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";
import { startExecutorPeer, until } from "./executor-peer.ts";
import { isSigned } from "./receiver.ts";

let aheadMs = 0;
const peer = await startExecutorPeer({ now: () => new Date(Date.now() + aheadMs) });
const { receiver, app } = peer;
const { db } = app.kernel;
after(() => peer[Symbol.asyncDispose]());
afterEach(async () => {
  await peer.clear();
  receiver.calls.length = 0;
});

const dayMs = 24 * 3_600_000;
const method = "/idsvc.resources.org.v3alpha.OrganizationService/CreateOrganization";
const onCreate = { request: { method } };
const added = { event: { event: "org.added" } };
const add = () => peer.post("/organizations", { name: uniqueName() });
const search = async (filters: JsonValue, query = "") =>
  bodyOf(await peer.post(`/deliveries/_search${query}`, filters));
const ofTarget = (id: string) => [{ target: { id } }];
const found = (id: string, state: string) =>
  until(`a delivery of ${id} is ${state}`, async () => {
    const { result } = await search(ofTarget(id));
    return result.find((row: { state: string }) => row.state === `DELIVERY_STATE_${state}`);
  });
/** Waits until a first failure stands with the job. */
const failedOnce = () =>
  until("the first failure", async () => {
    const t = db.table(jobs);
    const rows = await db.read.select().from(t).where(isNotNull(t.failingSince));
    return rows.some(({ deadAt }) => deadAt === null);
  });
const redeliver = (id: string) => peer.post(`/deliveries/${id}/_redeliver`);

describe("the record of a delivery", () => {
  it("tells of a call that somebody waited for, and nothing of what was said", async () => {
    receiver.on("/secretive", { status: 418, text: "the word of the target" });
    const { id } = await peer.webhook({}, "/secretive");
    const execution = await peer.set(onCreate, [id]);
    const name = uniqueName("hush");
    bodyOf(await peer.post("/organizations", { name }), 201);
    const row = await found(id, "FAILED");
    assert.equal(row.id, receiver.calls[0]?.headers["idsvc-delivery"]);
    const { creation_date, change_date, duration, ...rest } = row;
    assert.match(duration, /^0(\.\d+)?s$/);
    assert.ok(Date.parse(change_date) >= Date.parse(creation_date));
    assert.deepEqual(rest, {
      id: row.id,
      execution_id: execution,
      target_id: id,
      trigger: "DELIVERY_TRIGGER_REQUEST",
      trigger_name: method,
      state: "DELIVERY_STATE_FAILED",
      attempts: 1,
      status_class: 4,
      failure: "status",
    });
    const stored = JSON.stringify(await db.read.select().from(db.table(deliveries)), (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    assert.ok(!stored.includes(name) && !stored.includes("the word"));
  });

  it("can be searched by state, trigger, execution and id, page by page", async () => {
    const { id } = await peer.webhook();
    const execution = await peer.set(onCreate, [id]);
    for (let n = 0; n < 3; n++) bodyOf(await add(), 201);
    await until("three", async () => (await search(ofTarget(id))).result.length === 3);
    const all = await search(ofTarget(id), "?query.limit=2");
    assert.equal(all.details.total_result, "3");
    assert.equal(all.details.end_of_list, false);
    const [first] = all.result;
    for (const filter of [
      { state: { state: "DELIVERY_STATE_DELIVERED" } },
      { trigger: { trigger: "DELIVERY_TRIGGER_REQUEST" } },
      { execution: { id: execution } },
      { in_ids: { ids: [first.id] } },
    ]) {
      const { result } = await search([...ofTarget(id), filter]);
      assert.ok(result.some((row: { id: string }) => row.id === first.id));
    }
    assert.equal((await search([...ofTarget(id), { state: { state: 4 } }])).result.length, 0);
  });

  it("is kept for a while and then swept, with what belongs to it", async () => {
    const { id } = await peer.webhook();
    await peer.set(onCreate, [id]);
    bodyOf(await add(), 201);
    await found(id, "DELIVERED");
    await sweepDeliveries(app.kernel)(100);
    assert.equal((await search(ofTarget(id))).result.length, 1);
    aheadMs = dayMs + 1_000;
    await sweepDeliveries(app.kernel)(1_000);
    aheadMs = 0;
    assert.equal((await search(ofTarget(id))).result.length, 0);
  });

  it("is one of so many at most: the oldest go first", async () => {
    const { id } = await peer.webhook();
    await peer.set(onCreate, [id]);
    for (let n = 0; n < 6; n++) bodyOf(await add(), 201);
    await until("six", async () => (await search(ofTarget(id))).result.length === 6);
    const { result } = await search(ofTarget(id));
    await sweepCrowded(app.kernel, 4)(1_000);
    await sweepDeliveries(app.kernel)(1_000);
    const left = await search([]);
    assert.deepEqual(
      left.result.slice(0, 4).map((row: { id: string }) => row.id),
      result.slice(0, 4).map((row: { id: string }) => row.id),
    );
    assert.equal(left.result.length, 4);
  });
});

describe("a delivery that fails for a day", () => {
  for (const [what, condition, more] of [
    ["of an event", added, {}],
    ["of an asynchronous call", onCreate, { is_async: true }],
  ] as const) {
    it(`F17: ${what} is given up, and can be repeated with its id and its payload`, async () => {
      let isUp = false;
      receiver.each("/dead", () => ({ status: isUp ? 200 : 500 }));
      const { id, key } = await peer.webhook(more, "/dead");
      await peer.set(condition, [id]);
      bodyOf(await add(), 201);
      await failedOnce();
      aheadMs = dayMs + 60_000;
      const dead = await found(id, "DEAD");
      aheadMs = 0;
      assert.equal(dead.failure, "status");
      isUp = true;
      const repeated = bodyOf(await redeliver(dead.id)).delivery;
      assert.equal(repeated.id, dead.id);
      assert.equal(repeated.state, "DELIVERY_STATE_WAITING");
      await found(id, "DELIVERED");
      const calls = receiver.at("/dead");
      assert.equal(new Set(calls.map(({ headers }) => headers["idsvc-delivery"])).size, 1);
      assert.equal(new Set(calls.map(({ body }) => body)).size, 1);
      const last = calls.at(-1);
      assert.ok(last !== undefined && isSigned(last, key));
    });
  }

  it("goes with its job and its payload when its time is over", async () => {
    receiver.on("/never", { status: 500 });
    const { id } = await peer.webhook({ is_async: true }, "/never");
    await peer.set(onCreate, [id]);
    bodyOf(await add(), 201);
    await failedOnce();
    aheadMs = dayMs + 60_000;
    const dead = await found(id, "DEAD");
    const rowsOf = async () => {
      const t = db.table(jobs);
      const s = db.table(secrets);
      const open = await db.read.select({ id: t.id }).from(t);
      const sealed = await db.read.select({ id: s.ownerId }).from(s);
      return [...open, ...sealed].filter((row) => row.id === dead.id).length;
    };
    assert.equal(await rowsOf(), 2);
    aheadMs = 32 * dayMs;
    await sweepDeliveries(app.kernel)(1_000);
    aheadMs = 0;
    assert.equal(await rowsOf(), 0);
    assertRefused(restRefusal(await redeliver(dead.id)), { code: 5, reason: "DELIVERY_NOT_FOUND" });
  });
});

describe("repeating a delivery", () => {
  it("has an event that was taken told once more", async () => {
    const { id } = await peer.webhook({}, "/twice");
    await peer.set(added, [id]);
    bodyOf(await add(), 201);
    const { id: delivery } = await found(id, "DELIVERED");
    bodyOf(await redeliver(delivery));
    await until("the second", () => receiver.at("/twice").length === 2);
    const [one, two] = receiver.at("/twice");
    assert.equal(one?.body, two?.body);
    assert.equal(one?.headers["idsvc-delivery"], two?.headers["idsvc-delivery"]);
  });

  it("does not let one wait that waits", async () => {
    let isUp = false;
    receiver.each("/soon", () => ({ status: isUp ? 200 : 500 }));
    const { id } = await peer.webhook({}, "/soon");
    await peer.set(added, [id]);
    bodyOf(await add(), 201);
    await until("four tries", () => receiver.at("/soon").length >= 4);
    // The fourth has come; what came of it is noted when it has been answered.
    await until("nobody is at it", async () => {
      const waiting = await db.read.select().from(db.table(jobs));
      return waiting.some(({ attempts, leaseUntil }) => attempts >= 4 && leaseUntil <= new Date());
    });
    isUp = true;
    const { id: delivery } = await found(id, "WAITING");
    // By itself it would not be tried again while this test runs.
    const dueAt = new Date(Date.now() + dayMs);
    const where = { instanceId: peer.app.made.instance_id, id: delivery };
    await db.commit({
      instanceId: where.instanceId,
      expect: [],
      claims: [],
      events: [],
      changes: [updateRows(jobs, where, { dueAt })],
    });
    bodyOf(await redeliver(delivery));
    await found(id, "DELIVERED");
  });

  it("is refused for what was not kept", async () => {
    const waited = await peer.webhook();
    const gone = await peer.webhook({}, "/gone");
    await peer.set(onCreate, [waited.id]);
    await peer.set(added, [gone.id]);
    bodyOf(await add(), 201);
    const refused = { code: 9, reason: "DELIVERY_NOT_REPEATABLE" };
    const one = await found(waited.id, "DELIVERED");
    assertRefused(restRefusal(await redeliver(one.id)), refused);
    const two = await found(gone.id, "DELIVERED");
    bodyOf(await peer.remove(`/targets/${gone.id}`));
    assertRefused(restRefusal(await redeliver(two.id)), refused);
    const absent = { code: 5, reason: "DELIVERY_NOT_FOUND" };
    assertRefused(restRefusal(await redeliver("404")), absent);
  });

  it("needs action.execution.write, testing action.target.write, reading execution.read (X11)", async () => {
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const stranger = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const { id } = await peer.webhook();
    const missing = { code: 7, reason: "PERMISSION_MISSING" };
    const match = { condition: onCreate }.condition;
    for (const [path, body, mayView] of [
      ["/deliveries/_search", [], true],
      ["/executions/_match", match, true],
      ["/deliveries/1/_redeliver", undefined, false],
      [`/targets/${id}/_test`, undefined, false],
    ] as const) {
      const asStranger = await peer.post(path, body as never, { token: stranger.token });
      assertRefused(restRefusal(asStranger), missing, path);
      const asViewer = await peer.post(path, body as never, { token: viewer.token });
      if (mayView) bodyOf(asViewer);
      else assertRefused(restRefusal(asViewer), missing, path);
    }
  });
});

describe("testing a target", () => {
  it("calls it once, signed, and tells what came of it", async () => {
    const { id, key } = await peer.webhook({}, "/tested");
    const { delivery } = bodyOf(await peer.post(`/targets/${id}/_test`));
    const [call] = receiver.at("/tested");
    assert.ok(call !== undefined && isSigned(call, key));
    assert.deepEqual(call.json, {
      test: true,
      instanceID: app.made.instance_id,
      targetID: id,
      userID: app.made.machine.user_id,
    });
    assert.equal(delivery.id, call.headers["idsvc-delivery"]);
    assert.equal(delivery.state, "DELIVERY_STATE_DELIVERED");
    assert.equal(delivery.trigger, "DELIVERY_TRIGGER_TEST");
    assert.equal(delivery.execution_id, "");
  });

  it("is no error when the target fails", async () => {
    for (const [path, answer, failure] of [
      ["/500", { status: 500 }, "status"],
      ["/302", { status: 302, headers: { location: "http://127.0.0.1/" } }, "redirect"],
      ["/hang", () => {}, "timeout"],
    ] as const) {
      receiver.on(path, answer);
      const { id } = await peer.webhook({ timeout: "0.5s" }, path);
      const { delivery } = bodyOf(await peer.post(`/targets/${id}/_test`));
      assert.equal(delivery.state, "DELIVERY_STATE_FAILED");
      assert.equal(delivery.failure, failure);
    }
    const nobody = { rest_webhook: { url: "http://127.0.0.1:1999/" } };
    const { id } = await peer.webhook(nobody);
    const { delivery } = bodyOf(await peer.post(`/targets/${id}/_test`));
    assert.equal(delivery.failure, "connect");
    assert.ok(!("status_class" in delivery));
  });

  it("tries a target that is spared, and spares it no more once it answers", async () => {
    let isUp = false;
    receiver.each("/spared", () => ({ status: isUp ? 200 : 500 }));
    const { id } = await peer.webhook({}, "/spared");
    await peer.set(onCreate, [id]);
    for (let n = 0; n < 12; n++) bodyOf(await add(), 201);
    assert.ok(receiver.at("/spared").length < 12, "it is spared");
    isUp = true;
    const { delivery } = bodyOf(await peer.post(`/targets/${id}/_test`));
    assert.equal(delivery.state, "DELIVERY_STATE_DELIVERED");
    const tried = receiver.at("/spared").length;
    bodyOf(await add(), 201);
    assert.equal(receiver.at("/spared").length, tried + 1);
  });
});

describe("matching a condition", () => {
  it("tells which execution runs, why, and which targets in which order", async () => {
    const [one, two] = [await peer.webhook({ is_async: true }), await peer.webhook()];
    const service = "idsvc.resources.org.v3alpha.OrganizationService";
    const all = await peer.set({ request: { all: true } }, [two.id]);
    const ofService = await peer.set({ request: { service } }, [one.id], [all]);
    const answer = bodyOf(await peer.post("/executions/_match", onCreate));
    assert.equal(answer.execution_id, ofService);
    assert.deepEqual(answer.candidates, [
      { execution_id: `request.${service}.CreateOrganization`, exists: false, runs: false },
      { execution_id: ofService, exists: true, runs: true },
      { execution_id: all, exists: true, runs: false },
    ]);
    const via = (target_id: string, via_execution_id: string, is_async: boolean) => ({
      target_id,
      via_execution_id,
      is_async,
      interrupt_on_error: false,
    });
    assert.deepEqual(answer.targets, [via(one.id, ofService, true), via(two.id, all, false)]);
  });

  it("tells that nothing runs", async () => {
    const answer = bodyOf(
      await peer.post("/executions/_match", { event: { group: "org.domain" } }),
    );
    assert.ok(!("execution_id" in answer));
    const ids = answer.candidates.map((each: { execution_id: string }) => each.execution_id);
    assert.deepEqual(ids, ["event.org.domain.*", "event.org.*", "event"]);
    assert.deepEqual(answer.targets, []);
  });
});
