// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { objectHistory } from "../../../src/resources/history/log-reader.ts";
import { clock, until } from "../../jobs/place.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import type { CallOptions } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";
import { systemCaller } from "../../support/system-caller.ts";
import { readerOf } from "./reader.ts";

const time = clock();
const operator = systemCaller();
const service = await startPeer({ env: operator.env, now: time.now });
const { app, peer, post, put, patch, remove, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());
// Made anew each time: the clock of the service goes ahead.
const asSystem = async (method: string, path: string, body?: JsonValue) => {
  const token = await operator.tokenFor(app.made.issuer, time.now());
  return peer.rest(method, `/resources/v3alpha${path}`, body, { token });
};

type Found = {
  sequence: string;
  type: string;
  creation_date: string;
  aggregate: { type: string; id: string };
  owner: { type: string; id: string };
  editor: { user_id: string; service: string; request_id: string };
  payload?: Record<string, JsonValue>;
  payload_omitted: boolean;
};
const search = async (
  filters: JsonObject[] = [],
  query = "",
  options: CallOptions = {},
): Promise<{ result: Found[]; details: Record<string, JsonValue> }> =>
  bodyOf(await post(`/events/_search?${query}`, filters, options));
const types = async (...asked: Parameters<typeof search>) =>
  (await search(...asked)).result.map(({ type }) => type);

const target = () => ({
  name: uniqueName("target"),
  rest_webhook: { url: "http://localhost:9999/x" },
});
const newTarget = async () => String(bodyOf(await post("/targets", target()), 201).details.id);
const addProject = async (organizationId: string) => {
  const headers = { "x-idsvc-orgid": organizationId };
  bodyOf(await post("/projects", { name: "P" }, { token: app.token, headers }), 201);
};
const ofAggregate = (type: string, id: string) => ({ aggregate: { type, id } });
const ofTypes = (...names: string[]) => ({ types: { types: names } });

describe("searching events", () => {
  it("gives everything that is known of an event", async () => {
    const id = await newTarget();
    const { result, details } = await search([ofAggregate("target", id)]);
    const [event] = result;
    assert.ok(event);
    const { sequence, creation_date, editor, payload, ...rest } = event;
    assert.deepEqual(rest, {
      type: "target.added",
      localized_message: "Target added",
      aggregate: { type: "target", id, version: "1" },
      owner: { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id },
      revision: 1,
      payload_omitted: false,
    });
    assert.equal(editor.user_id, app.made.machine.user_id);
    assert.equal(editor.service, "idsvc.resources.action.v3alpha.ActionService");
    assert.match(editor.request_id, /./);
    assert.ok(Math.abs(Date.parse(creation_date) - time.now().getTime()) < 10_000);
    assert.match(JSON.stringify(payload?.["name"]), /^"target \d+"$/);
    assert.equal(details["total_result"], "1");
    assert.ok(Number(details["processed_sequence"]) >= Number(sequence));
  });

  it("begins with the newest, or with the oldest when asked; pages are counted and end", async () => {
    const id = await newTarget();
    bodyOf(await patch(`/targets/${id}`, { name: uniqueName() }));
    bodyOf(await remove(`/targets/${id}`));
    const all = ["target.removed", "target.changed", "target.added"];
    const own = ofAggregate("target", id);
    assert.deepEqual(await types([own]), all);
    assert.deepEqual(await types([own], "query.asc=true"), all.toReversed());
    const page = await search([own], "query.limit=2&query.offset=1");
    const { total_result, end_of_list } = page.details;
    const told = [page.result.map(({ type }) => type), total_result, end_of_list];
    assert.deepEqual(told, [all.slice(1), "3", true]);
    const first = await search([own], "query.limit=1&sorting_column=EVENT_FIELD_NAME_SEQUENCE");
    assert.deepEqual([first.result.length, first.details["end_of_list"]], [1, false]);
  });

  it("filters by names and by groups of whole words", async () => {
    const schema = { type: uniqueName("kind"), schema: { type: "object" } };
    bodyOf(await post("/user_schemas", schema), 201);
    await newTarget();
    const named = async (...names: string[]) => [...new Set(await types([ofTypes(...names)]))];
    assert.deepEqual(await named("target.added"), ["target.added"]);
    assert.deepEqual((await named("user_schema", "target.added")).sort(), [
      "target.added",
      "user_schema.created",
    ]);
    const ofUsers = await named("user");
    assert.ok(ofUsers.includes("user.human.added") && ofUsers.includes("user.pat.added"));
    assert.ok(ofUsers.every((type) => type.startsWith("user.")));
    assert.deepEqual(await named("user.hum"), []);
    assert.deepEqual(await named("nothing.like.it"), []);
  });

  it("filters by editor, owner, sequence and time, all of which must match", async () => {
    const organizationId = await addOrganization();
    const { userId, token } = await addMember(organizationId, ["ORG_OWNER"]);
    const before = Number((await search([], "query.limit=1")).result[0]?.sequence);
    time.forward(60_000);
    const since = time.now().toISOString();
    bodyOf(await post("/projects", { name: "P" }, { token }), 201);
    await newTarget();
    const editor = { editor: { user_id: userId } };
    const owner = { owner: { type: "OWNER_TYPE_ORG", id: organizationId } };
    assert.deepEqual(await types([editor]), ["project.added"]);
    assert.deepEqual((await types([owner])).slice(0, 1), ["project.added"]);
    assert.deepEqual(await types([owner, ofTypes("org")]), ["org.member.added"]);
    const behind = { sequence: { from: String(before + 1) } };
    assert.deepEqual(await types([behind]), ["target.added", "project.added"]);
    const only = { sequence: { from: String(before + 1), to: String(before + 1) } };
    assert.deepEqual(await types([only]), ["project.added"]);
    assert.deepEqual(await types([{ creation_date: { from: since } }]), await types([behind]));
    const [newest] = await types([{ creation_date: { to: since } }]);
    assert.equal(newest, "org.member.added");
    assert.deepEqual(await types([behind, { creation_date: { to: since } }]), []);
    const huge = { sequence: { from: "18446744073709551615" } };
    assert.deepEqual(await types([huge]), []);
  });

  it("filters by what one request did, near one of its events", async () => {
    const organizationId = await addOrganization();
    const { userId } = await addMember(organizationId, ["ORG_OWNER"]);
    bodyOf(await remove(`/users/${userId}`));
    await newTarget();
    const [event] = (await search([ofAggregate("user", userId)], "query.limit=1")).result;
    assert.ok(event !== undefined);
    const { sequence, editor } = event;
    const near = (distance: bigint, id = editor.request_id) => ({
      request: { id, near: String(BigInt(sequence) + distance) },
    });
    const both = ["org.member.cascade.removed", "user.removed"];
    assert.deepEqual((await types([near(0n)])).toSorted(), both);
    assert.deepEqual(await types([near(0n), ofTypes("user")]), ["user.removed"]);
    assert.ok((await types([near(1_000n)])).includes("user.removed"));
    assert.deepEqual(await types([near(1_002n)]), []);
    assert.deepEqual(await types([near(0n, "another")]), []);
    assert.deepEqual(await types([{ request: { id: "x", near: "18446744073709551615" } }]), []);
  });

  const refused: [string, JsonObject, string][] = [
    ["no position of a request", { request: { id: "1" } }, "filters[0].request.near"],
    ["no ID of a request", { request: { near: "1" } }, "filters[0].request.id"],
    ["an empty filter", {}, "filters[0].filter"],
    ["no name of an event", { types: { types: [] } }, "filters[0].types.types"],
    ["an aggregate without its type", { aggregate: { id: "1" } }, "filters[0].aggregate.type"],
    ["no kind of owner", { owner: {} }, "filters[0].owner.type"],
    ["a range without bounds", { sequence: {} }, "filters[0].sequence"],
    ["a span without bounds", { creation_date: {} }, "filters[0].creation_date"],
  ];
  for (const [what, filter, field] of refused) {
    it(`is refused with ${what}`, async () => {
      const { status, refusal } = await post("/events/_search", [filter]);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("is refused with a limit above the largest", async () => {
    const { refusal } = await post("/events/_search?query.limit=1001", []);
    assertRefused(refusal, { code: 3, reason: "LIMIT_EXCEEDED", field: "query.limit" });
  });

  it("leaves out payloads that together are too large, and gives each alone", async () => {
    const value = Buffer.alloc(500_000, 1).toString("base64");
    const { user_id: userId } = app.made.machine;
    for (let nth = 0; nth < 6; nth++) {
      bodyOf(await put(`/users/${userId}/metadata/large${nth}`, { value }));
    }
    const { result, details } = await search([ofTypes("user.metadata.set")]);
    assert.equal(details["total_result"], "6");
    const omitted = (event: Found) => [event.payload_omitted, event.payload === undefined];
    const [whole, bare] = [
      [false, false],
      [true, true],
    ];
    assert.deepEqual(result.map(omitted), [whole, whole, whole, whole, bare, bare]);
    const [, , , , , last] = result;
    const sequence = { from: last?.sequence ?? "", to: last?.sequence ?? "" };
    const alone = await search([{ sequence }]);
    assert.equal(alone.result[0]?.payload?.["value"], value);
  });
});

describe("who may search events", () => {
  it("is nobody without the permission, not even the owner of an organization", async () => {
    const { token } = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const { status, refusal } = await post("/events/_search", [], { token });
    assert.equal(status, 403);
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
  });

  it("sees all of the instance who reads it; an organization as the context narrows that", async () => {
    const { token } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const organizationId = await addOrganization();
    await addProject(organizationId);
    const oldest = await search([], "query.limit=50&query.asc=true", { token });
    const kinds = new Set(oldest.result.map(({ owner }) => owner.type));
    assert.deepEqual([...kinds].sort(), [
      "OWNER_TYPE_INSTANCE",
      "OWNER_TYPE_ORG",
      "OWNER_TYPE_SYSTEM",
    ]);
    const own = await types([], `ctx.org_id=${organizationId}`, { token });
    assert.deepEqual(own, ["project.added"]);
    const headers = { "x-idsvc-orgid": organizationId };
    assert.deepEqual(await types([], "", { token, headers }), ["project.added"]);
    const { refusal } = await post("/events/_search?ctx.org_id=404", []);
    assertRefused(refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
  });

  it("D41: sees what their organization owns, and nothing of others, who reads in one organization", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    await addProject(mine);
    await addProject(other);
    const { token } = await readerOf(app, mine);
    const { result, details } = await search([], "query.limit=1000", { token });
    assert.ok(result.length > 0);
    assert.ok(result.every(({ owner }) => owner.type === "OWNER_TYPE_ORG" && owner.id === mine));
    assert.equal(details["total_result"], String(result.length));
    const there = await post(`/events/_search?ctx.org_id=${other}`, [], { token });
    assertRefused(there.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    const owner = { owner: { type: "OWNER_TYPE_ORG", id: other } };
    assert.deepEqual(await types([owner], "", { token }), []);
  });

  it("sees nothing of their organization once it is gone; the history stays for who reads the instance", async () => {
    const mine = await addOrganization();
    await addProject(mine);
    const { token } = await readerOf(app, mine);
    assert.notDeepEqual(await types([], "", { token }), []);
    bodyOf(await remove(`/organizations/${mine}`));
    // Until the job has ended their membership they are let in, and see nothing.
    const { status, json } = await post("/events/_search", [], { token });
    assert.ok(status === 403 || Object(json).result.length === 0);
    const owned = { owner: { type: "OWNER_TYPE_ORG", id: mine } };
    assert.ok((await types([owned])).includes("project.added"));
  });

  it("is a system caller for every instance, and for the log of the system", async () => {
    const made = bodyOf(
      await asSystem("POST", "/instances", {
        name: "Other",
        domain: "other.tenant.test",
        organization: { name: "First" },
        machine: { username: "owner", name: "Owner" },
      }),
      201,
    );
    const { id } = made.details;
    const added = [ofTypes("instance.added")];
    const ids = async (query: string) => {
      const found = bodyOf(await asSystem("POST", `/events/_search?${query}`, added));
      return found.result.map(({ aggregate }: Found) => aggregate.id);
    };
    assert.deepEqual(await ids(""), [app.made.instance_id]);
    assert.deepEqual(await ids(`ctx.instance_id=${id}`), [id]);
    await limit("315360000s");
    const ofSystem = bodyOf(await asSystem("POST", "/events/_search?ctx.system=true", []));
    assert.deepEqual(ofSystem.result[0].type, "limits.set");
    const refused = await post("/events/_search?ctx.system=true", []);
    assertRefused(refused.refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const elsewhere = await post(`/events/_search?ctx.instance_id=${id}`, []);
    assertRefused(elsewhere.refusal, { code: 5, reason: "INSTANCE_NOT_FOUND" });
  });
});

async function limit(retention: string): Promise<void> {
  const body = { audit_log_retention: retention };
  bodyOf(await asSystem("POST", `/instances/${app.made.instance_id}/_limit`, body));
}

describe("what events tell", () => {
  it("hides what is older than the audit log retention, at once", async () => {
    const old = await newTarget();
    time.forward(7_200_000);
    const young = await newTarget();
    const added = ofTypes("target.added");
    const seen = async () =>
      (await search([added], "query.limit=1000")).result.map(({ aggregate }) => aggregate.id);
    assert.ok((await seen()).includes(old));
    await limit("3600s");
    assert.deepEqual(await seen(), [young]);
    const { details } = await search([added]);
    assert.equal(details["total_result"], "1");
    await limit("315360000s");
    assert.ok((await seen()).includes(old));
  });

  it("is nothing of a person any more once they are deleted", async () => {
    const wanted = {
      username: uniqueName("augusta").replace(" ", "-"),
      data: { given_name: "Augusta" },
      contact: { email: { address: "augusta@person.example" } },
    };
    const { details } = bodyOf(await post("/users", wanted), 201);
    const own = [ofAggregate("user", details.id), ofTypes("user.human")];
    const told = async () => JSON.stringify((await search(own)).result);
    assert.match(await told(), /augusta@person\.example.*Augusta/);
    bodyOf(await remove(`/users/${details.id}`));
    assert.doesNotMatch(await told(), /augusta/i);
    const [first] = (await search(own, "query.asc=true")).result;
    assert.deepEqual([first?.payload?.["username"], first?.payload?.["data"]], ["", ""]);
  });

  it("is none of the secrets that were set", async () => {
    const { signing_key } = bodyOf(await post("/targets", target()), 201);
    const password = "marker-of-a-password-42";
    const wanted = {
      username: uniqueName("secret").replace(" ", "-"),
      authenticators: { password: { password } },
    };
    bodyOf(await post("/users", wanted), 201);
    const { result } = await search([], "query.limit=50");
    const told = JSON.stringify(result);
    assert.ok(result.some(({ type }) => type === "user.human.password.changed"));
    for (const secret of [signing_key, password, app.token]) {
      assert.ok(secret.length > 10 && !told.includes(secret));
    }
  });
});

describe("the history of one object, for other slices", () => {
  it("is its events alone, with retention kept", async () => {
    const { kernel, made } = app;
    const limits = { listDefault: 100, listMax: 1000, historyDefault: 1000, historyMax: 1000 };
    const history = objectHistory({ ...kernel, limits });
    const id = await newTarget();
    bodyOf(await patch(`/targets/${id}`, { name: uniqueName() }));
    const of = { instanceId: made.instance_id, types: ["target"], id };
    const page = { offset: 0n, limit: 0, asc: true, after: "", skipTotal: false };
    const found = await history(of, page);
    assert.deepEqual(
      found.rows.map(({ type }) => type),
      ["target.added", "target.changed"],
    );
    assert.equal(found.total, 2n);
    time.forward(7_200_000);
    await limit("3600s");
    await until(async () => (await history(of, page)).total === 0n, "it is hidden");
    await limit("315360000s");
  });
});
