// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { startExecutorPeer, until } from "./executor-peer.ts";
import { isSigned } from "./receiver.ts";

const peer = await startExecutorPeer();
const { receiver, app } = peer;
after(() => peer[Symbol.asyncDispose]());
afterEach(async () => {
  await peer.clear();
  receiver.calls.length = 0;
});

const added = { event: { event: "org.added" } };
const add = async () =>
  String(bodyOf(await peer.post("/organizations", { name: uniqueName() }), 201).details.id);
const rename = async (id: string) =>
  bodyOf(await peer.patch(`/organizations/${id}`, { name: uniqueName("renamed") }));
const search = async (...filters: object[]) =>
  bodyOf(await peer.post("/deliveries/_search?query.limit=1000&query.asc=true", filters as never))
    .result;
const heard = (path: string, least: number) =>
  until(`${least} calls at ${path}`, () => receiver.at(path).length >= least && receiver.at(path));

describe("an event execution", () => {
  it("tells its target of an event after the commit, signed, with what the event is", async () => {
    const { id, key } = await peer.webhook({}, "/event");
    await peer.set(added, [id]);
    const organization = await add();
    const [call] = await heard("/event", 1);
    assert.ok(call !== undefined && isSigned(call, key));
    const found = bodyOf(
      await peer.post("/events/_search?query.limit=1", [
        { types: { types: ["org.added"] } },
        { aggregate: { type: "org", id: organization } },
      ]),
    );
    const [event] = found.result;
    assert.deepEqual(call.json, {
      aggregateID: organization,
      aggregateType: "org",
      resourceOwner: event.owner.id,
      instanceID: app.made.instance_id,
      version: "v1",
      sequence: event.sequence,
      event_type: "org.added",
      created_at: call.json.created_at,
      userID: app.made.machine.user_id,
      event_payload: event.payload,
    });
    assert.equal(Date.parse(call.json.created_at), Date.parse(event.creation_date));
    const [delivery] = await until("its record", async () => {
      const rows = await search({ in_ids: { ids: [String(call.headers["idsvc-delivery"])] } });
      return rows[0]?.state === "DELIVERY_STATE_DELIVERED" && rows;
    });
    assert.equal(delivery.attempts, 1);
    assert.equal(delivery.status_class, 2);
    assert.equal(delivery.event_sequence, event.sequence);
    assert.equal(delivery.trigger_name, "org.added");
  });

  it("does not sit in the path of the caller: a target that hangs costs them nothing", async () => {
    let hasEnded = false;
    receiver.on("/hang", (response) => void response.once("close", () => (hasEnded = true)));
    await peer.set(added, [(await peer.webhook({ timeout: "5s" }, "/hang")).id]);
    await add();
    assert.equal(hasEnded, false, "it is answered before the target is given up");
    await heard("/hang", 1);
  });

  it("runs the most specific: the event, then the deepest group, then all; groups are whole words", async () => {
    const paths = ["/all", "/org", "/org.domain", "/exact"];
    const [all = "", org = "", domain = "", exact = ""] = await Promise.all(
      paths.map(async (path) => (await peer.webhook({}, path)).id),
    );
    await peer.set({ event: { all: true } }, [all]);
    await peer.set({ event: { group: "org" } }, [org]);
    await peer.set({ event: { group: "org.domain" } }, [domain]);
    await peer.set(added, [exact]);
    receiver.calls.length = 0;
    const id = await add();
    await rename(id);
    bodyOf(await peer.post("/projects", { name: uniqueName() }), 201);
    const typesAt = (path: string) => receiver.at(path).map(({ json }) => json.event_type);
    // Each target is told by itself: none says how far another one is.
    await until(
      "all of them",
      () =>
        typesAt("/all").includes("project.added") &&
        typesAt("/org").includes("org.changed") &&
        typesAt("/org.domain").length > 0 &&
        typesAt("/exact").length > 0,
    );
    assert.deepEqual(typesAt("/exact"), ["org.added"]);
    assert.ok(typesAt("/org.domain").every((type: string) => type.startsWith("org.domain.")));
    assert.deepEqual(
      typesAt("/all").filter((type: string) => type.startsWith("org.")),
      [],
    );
  });

  it("is not told of what happened before it was set", async () => {
    await peer.set({ event: { group: "org" } }, [(await peer.webhook({}, "/early")).id]);
    const early = await add();
    await heard("/early", 1);
    await peer.clear();
    const late = await add();
    await peer.set({ event: { group: "org" } }, [(await peer.webhook({}, "/late")).id]);
    const last = await add();
    await heard("/late", 1);
    const told = receiver.at("/late").map(({ json }) => json.aggregateID);
    assert.ok(told.includes(last) && !told.includes(late) && !told.includes(early));
  });

  it("F17: a flaky target gets every event after its recovery, in order per object, with one id each", async () => {
    let isUp = false;
    let turn = 0;
    receiver.each("/flaky", () => ({ status: isUp && turn++ % 3 !== 0 ? 200 : 503 }));
    await peer.set({ event: { group: "org" } }, [(await peer.webhook({}, "/flaky")).id]);
    const ids = [await add(), await add(), await add()];
    for (let n = 0; n < 5; n++) for (const id of ids) await rename(id);
    await heard("/flaky", 3);
    isUp = true;
    const taken = () => {
      const last = new Map<string, (typeof receiver.calls)[number]>();
      for (const call of receiver.at("/flaky"))
        last.set(String(call.headers["idsvc-delivery"]), call);
      return last;
    };
    await until(
      "all delivered",
      async () => {
        const rows = await search({ execution: { id: "event.org.*" } });
        const count = rows.filter((row: { target_id: string }) => row.target_id !== "").length;
        return (
          count >= 18 &&
          rows.every((row: { state: string }) => row.state === "DELIVERY_STATE_DELIVERED")
        );
      },
      60_000,
    );
    for (const id of ids) {
      const own = [...taken().values()].filter(({ json }) => json.aggregateID === id);
      const renamed = own.filter(({ json }) => json.event_type === "org.changed");
      assert.equal(renamed.length, 5);
      // In the order in which they were taken, not first tried.
      const order = receiver
        .at("/flaky")
        .filter((call) => own.includes(call))
        .map(({ json }) => Number(json.sequence));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
    }
    const stamps = receiver.at("/flaky").map(({ headers }) => String(headers["idsvc-signature"]));
    assert.ok(
      new Set(stamps.map((stamp) => stamp.slice(0, 12))).size > 1,
      "each attempt is signed anew",
    );
  });

  it("F17: a failing target holds up no other", async () => {
    receiver.on("/down", { status: 500 });
    const [down, fine] = [await peer.webhook({}, "/down"), await peer.webhook({}, "/fine")];
    await peer.set(added, [down.id, fine.id]);
    for (let n = 0; n < 30; n++) await add();
    await heard("/fine", 30);
    assert.equal(receiver.at("/fine").length, 30);
  });

  it("keeps those behind a target that interrupts waiting for it, event by event", async () => {
    let isUp = false;
    receiver.each("/gate", () => ({ status: isUp ? 200 : 500 }));
    const gate = await peer.webhook({ interrupt_on_error: true }, "/gate");
    const [first, behind] = [await peer.webhook({}, "/first"), await peer.webhook({}, "/behind")];
    const last = await peer.webhook({}, "/last");
    const second = await peer.webhook({ interrupt_on_error: true }, "/second");
    await peer.set(added, [first.id, gate.id, behind.id, second.id, last.id]);
    const id = await add();
    await heard("/first", 1);
    // Who does not wait for the gate is called after its first try, and before the second.
    await heard("/gate", 2);
    assert.equal(receiver.at("/behind").length, 0);
    isUp = true;
    await heard("/last", 1);
    for (const path of ["/first", "/behind", "/second", "/last"]) {
      assert.deepEqual(
        receiver.at(path).map(({ json }) => json.aggregateID),
        [id],
      );
    }
  });

  it("D69: a loop of a target and events ends where one of calls does", async () => {
    receiver.each("/again", async ({ headers }) => {
      const depth = { "idsvc-depth": String(headers["idsvc-depth"]) };
      await peer.post("/organizations", { name: uniqueName() }, { headers: depth });
      return {};
    });
    await peer.set(added, [(await peer.webhook({}, "/again")).id]);
    await add();
    await heard("/again", 3);
    // Events are told in the order of the log: what the first loop still made would come before the last of the second.
    await add();
    await heard("/again", 6);
    const depths = receiver.at("/again").map(({ headers }) => headers["idsvc-depth"]);
    assert.deepEqual(depths, ["1", "2", "3", "1", "2", "3"]);
  });

  it("tells a target that is called asynchronously by an ordinary call, and never the caller", async () => {
    receiver.each("/async", async () => {
      await delay(300);
      return { status: 200, json: { organization: { name: "ignored" } } };
    });
    const { id, key } = await peer.asker({ is_async: true }, "/async");
    const method = "/idsvc.resources.org.v3alpha.OrganizationService/CreateOrganization";
    await peer.set({ request: { method } }, [id]);
    await peer.set({ response: { method } }, [id]);
    const name = uniqueName();
    const { details } = bodyOf(await peer.post("/organizations", { name }), 201);
    const calls = await heard("/async", 2);
    assert.ok(calls.every((call) => isSigned(call, key)));
    const [ofResponse] = calls.filter(({ json }) => "response" in json);
    assert.equal(ofResponse?.json.response.details.id, details.id);
    const { organization } = bodyOf(await peer.get(`/organizations/${details.id}`));
    assert.equal(organization.organization.name, name);
    await until("their end", async () => {
      const rows = await search({ target: { id } });
      return (
        rows.length === 2 &&
        rows.every((row: { state: string }) => row.state === "DELIVERY_STATE_DELIVERED")
      );
    });
  });

  it("calls an asynchronous target until it answers", async () => {
    let tries = 0;
    receiver.each("/later", () => ({ status: tries++ < 2 ? 500 : 200 }));
    const { id } = await peer.webhook({ is_async: true }, "/later");
    const method = "/idsvc.resources.org.v3alpha.OrganizationService/CreateOrganization";
    await peer.set({ request: { method } }, [id]);
    await add();
    const calls = await heard("/later", 3);
    assert.equal(new Set(calls.map(({ headers }) => headers["idsvc-delivery"])).size, 1);
    assert.equal(new Set(calls.map(({ body }) => body)).size, 1);
  });
});
