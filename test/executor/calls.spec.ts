// Run: shared
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { messageOf, protocols } from "../support/protocols.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";
import { startExecutorPeer } from "./executor-peer.ts";
import { isSigned } from "./receiver.ts";

const peer = await startExecutorPeer();
const { receiver, app } = peer;
const { made, token } = app;
after(() => peer[Symbol.asyncDispose]());
afterEach(async () => {
  await peer.clear();
  receiver.calls.length = 0;
});

const { createOrganization, getOrganization } = OrganizationService.method;
const service = OrganizationService.typeName;
const create = `/${service}/CreateOrganization`;
const onCreate = { request: { method: create } };
const afterCreate = { response: { method: create } };
const add = (name: string) => peer.post("/organizations", { name });
const nameOf = async (id: string) =>
  bodyOf(await peer.get(`/organizations/${id}`)).organization.organization.name;

describe("a request execution", () => {
  for (const protocol of protocols) {
    it(`tells its webhook of a call over ${protocol}, signed, before the work is done`, async () => {
      const { id, key } = await peer.webhook();
      await peer.set(onCreate, [id]);
      const name = uniqueName();
      messageOf(
        await peer.peer.call(protocol, createOrganization, { organization: { name } }, { token }),
      );
      const [call, ...more] = receiver.calls;
      assert.ok(call !== undefined && more.length === 0);
      assert.ok(isSigned(call, key));
      assert.match(String(call.headers["idsvc-delivery"]), /^\d{15,}$/);
      assert.match(String(call.headers["user-agent"]), /^idsvc\/\S+$/);
      assert.equal(call.headers["content-type"], "application/json");
      assert.equal(call.headers["idsvc-depth"], "1");
      assert.deepEqual(call.json, {
        fullMethod: create,
        instanceID: made.instance_id,
        orgID: made.organization_id,
        projectID: "",
        userID: made.machine.user_id,
        request: { organization: { name } },
      });
    });

    it(`lets a target replace the request of a call over ${protocol}, and the answer after`, async () => {
      const changed = uniqueName("changed");
      receiver.on("/change", { json: { organization: { name: changed } } });
      const { id } = await peer.asker({}, "/change");
      await peer.set(onCreate, [id]);
      const { details } = messageOf(
        await peer.peer.call(
          protocol,
          createOrganization,
          { organization: { name: uniqueName() } },
          { token },
        ),
      );
      assert.equal(await nameOf(String(details?.id)), changed);

      receiver.on("/answer", { json: { organization: { organization: { name: "as told" } } } });
      const answering = await peer.asker({}, "/answer");
      await peer.set({ response: { method: `/${service}/GetOrganization` } }, [answering.id]);
      const { organization } = messageOf(
        await peer.peer.call(protocol, getOrganization, { id: String(details?.id) }, { token }),
      );
      assert.equal(organization?.organization?.name, "as told");
      assert.equal(organization?.details, undefined);
      // It was the answer to one call; who is not told otherwise still gets what is stored.
      await peer.clear();
      assert.equal(await nameOf(String(details?.id)), changed);
    });

    it(`F16: ends a call over ${protocol} when a target fails that interrupts`, async () => {
      receiver.on("/down", { status: 500, text: "the secret of the target" });
      const { id } = await peer.webhook({ interrupt_on_error: true }, "/down");
      await peer.set(onCreate, [id]);
      const before = await peer.eventCount();
      const outcome = await peer.peer.call(
        protocol,
        createOrganization,
        { organization: { name: uniqueName() } },
        { token },
      );
      assertRefused(outcome, { code: 9, reason: "EXECUTION_FAILED" });
      const delivery = String(receiver.calls[0]?.headers["idsvc-delivery"]);
      assert.deepEqual(outcome.metadata, { target: id, delivery });
      assert.ok(outcome.message.includes(id) && outcome.message.includes(delivery));
      assert.doesNotMatch(outcome.message, /secret/);
      assert.equal(await peer.eventCount(), before);
    });
  }

  it("sees the organization of the context", async () => {
    const organization = await peer.addOrganization();
    const { id } = await peer.webhook();
    await peer.set({ request: { service } }, [id]);
    const headers = { "x-idsvc-orgid": organization };
    bodyOf(await peer.get(`/organizations/${organization}`, { headers }));
    assert.equal(receiver.calls[0]?.json.orgID, organization);
  });

  it("spells 64-bit numbers as strings, and gives every field without presence", async () => {
    const { id } = await peer.webhook();
    await peer.set({ request: { method: `/${service}/SearchOrganizations` } }, [id]);
    bodyOf(await peer.post("/organizations/_search?query.offset=3&query.limit=1", []));
    assert.deepEqual(receiver.calls[0]?.json.request, {
      query: { offset: "3", limit: 1, asc: false, after: "", skip_total: false },
      sorting_column: "ORGANIZATION_FIELD_NAME_UNSPECIFIED",
      filters: [],
    });
  });

  it("is not told of calls that are refused: unknown callers, missing permissions, invalid requests", async () => {
    const { id } = await peer.webhook();
    await peer.set({ request: { all: true } }, [id]);
    const stranger = await peer.addMember(made.organization_id, []);
    assert.equal((await peer.get("/organizations/1", { token: "wrong" })).status, 401);
    assert.equal((await peer.get(`/organizations/${made.organization_id}`, stranger)).status, 403);
    assert.equal((await add("")).status, 400);
    assert.equal((await peer.get("/organizations/404")).status, 404);
    assert.equal(receiver.calls.length, 0);
  });

  it("runs the most specific alone: method, then service, then all (X4)", async () => {
    const ids: string[] = [];
    for (const path of ["/all", "/service", "/method"]) ids.push((await peer.webhook({}, path)).id);
    const [all = "", ofService = "", method = ""] = ids;
    const called = async () => {
      receiver.calls.length = 0;
      bodyOf(await add(uniqueName()), 201);
      return receiver.calls.map(({ path }) => path);
    };
    await peer.set({ request: { all: true } }, [all]);
    assert.deepEqual(await called(), ["/all"]);
    await peer.set({ request: { service } }, [ofService]);
    assert.deepEqual(await called(), ["/service"]);
    const id = await peer.set(onCreate, [method]);
    assert.deepEqual(await called(), ["/method"]);
    bodyOf(await peer.remove(`/executions/${id}`));
    assert.deepEqual(await called(), ["/service"]);
  });

  it("calls its own targets in their order, then those of its includes (X3)", async () => {
    const id = async (path: string) => (await peer.webhook({}, path)).id;
    const [a, b, c, d] = [await id("/a"), await id("/b"), await id("/c"), await id("/d")];
    const all = await peer.set({ request: { all: true } }, [c]);
    const ofService = await peer.set({ request: { service } }, [d, a], [all]);
    await peer.set(onCreate, [b, a], [ofService, all]);
    bodyOf(await add(uniqueName()), 201);
    const order = receiver.calls.map(({ path }) => path);
    assert.deepEqual(order, ["/b", "/a", "/d", "/a", "/c", "/c"]);
  });

  it("shows each target what those before it have made of the request", async () => {
    const [first, second] = [uniqueName(), uniqueName()];
    receiver.on("/1", { json: { organization: { name: first } } });
    receiver.on("/2", { json: { organization: { name: second } } });
    const ids = [(await peer.asker({}, "/1")).id, (await peer.asker({}, "/2")).id];
    await peer.set(onCreate, [...ids, (await peer.webhook({}, "/3")).id]);
    bodyOf(await add(uniqueName()), 201);
    const names = receiver.calls.map(({ json }) => json.request.organization.name);
    assert.deepEqual(names.slice(1), [first, second]);
  });

  it("goes on without a target that fails, unless that interrupts", async () => {
    receiver.on("/down", { status: 503 });
    const down = await peer.webhook({}, "/down");
    const next = await peer.webhook({}, "/next");
    await peer.set(onCreate, [down.id, next.id]);
    bodyOf(await add(uniqueName()), 201);
    assert.deepEqual(
      receiver.calls.map(({ path }) => path),
      ["/down", "/next"],
    );
    await peer.set(onCreate, [
      (await peer.webhook({ interrupt_on_error: true }, "/down")).id,
      next.id,
    ]);
    receiver.calls.length = 0;
    assertRefused(restRefusal(await add(uniqueName())), { code: 9, reason: "EXECUTION_FAILED" });
    assert.deepEqual(
      receiver.calls.map(({ path }) => path),
      ["/down"],
    );
  });

  it("takes an empty answer for no change, and ignores what a webhook says", async () => {
    receiver.on("/blank", { text: " \r\n" });
    receiver.on("/none", { status: 204 });
    receiver.on("/hook", { json: { organization: { name: "from a webhook" } } });
    const ids = [(await peer.asker({}, "/blank")).id, (await peer.asker({}, "/none")).id];
    await peer.set(onCreate, [...ids, (await peer.webhook()).id]);
    const name = uniqueName();
    const { details } = bodyOf(await add(name), 201);
    assert.equal(await nameOf(details.id), name);
  });
});

describe("what a target makes of a request", () => {
  const interrupting = { interrupt_on_error: true };
  const refusing = [
    ["breaks a rule of the schema", { organization: { name: "" } }],
    ["has a field that is unknown", { organization: { name: "x", is_admin: true } }],
    ["has a field of another type", { organization: { name: 7 } }],
    ["is no object", ["organization"]],
  ] as const;
  for (const [how, json] of refusing) {
    it(`counts as an error of the target if it ${how}, and the call goes on as it was sent (D68)`, async () => {
      receiver.on("/wrong", { json });
      await peer.set(onCreate, [(await peer.asker({}, "/wrong")).id]);
      const name = uniqueName();
      const { details } = bodyOf(await add(name), 201);
      assert.equal(await nameOf(details.id), name);
      await peer.set(onCreate, [(await peer.asker(interrupting, "/wrong")).id]);
      assertRefused(restRefusal(await add(uniqueName())), { code: 9, reason: "EXECUTION_FAILED" });
    });
  }

  it("cannot name another object than the path, nor another context", async () => {
    const [mine, other] = [await peer.addOrganization(), await peer.addOrganization()];
    receiver.on("/other", { json: { id: other } });
    await peer.set({ request: { method: `/${service}/GetOrganization` } }, [
      (await peer.asker(interrupting, "/other")).id,
    ]);
    for (const protocol of protocols) {
      const outcome = await peer.peer.call(protocol, getOrganization, { id: mine }, { token });
      assertRefused(outcome, { code: 9, reason: "EXECUTION_FAILED" });
    }
    receiver.on("/ctx", { json: { ctx: { org_id: other }, filters: [] } });
    const settings = "idsvc.settings.language.v3alpha.LanguageService";
    await peer.set({ request: { service: settings } }, [
      (await peer.asker(interrupting, "/ctx")).id,
    ]);
    const path = `/settings/v3alpha/languages?ctx.org_id=${mine}`;
    const answer = await peer.peer.rest("GET", path, undefined, { token });
    assertRefused(restRefusal(answer), { code: 9, reason: "EXECUTION_FAILED" });
  });

  it("is authorized again: nobody gets by a target at what they may not touch", async () => {
    const [mine, other] = [await peer.addOrganization(), await peer.addOrganization()];
    const owner = await peer.addMember(mine, ["ORG_OWNER"]);
    const projectIn = async (organizationId: string) => {
      const path = `/projects?ctx.org_id=${organizationId}`;
      return String(bodyOf(await peer.post(path, { name: uniqueName() }), 201).details.id);
    };
    const [own, foreign] = [await projectIn(mine), await projectIn(other)];
    const grant = (project: string) => ({
      user_id: owner.userId,
      project_id: project,
      role_keys: [],
    });
    receiver.on("/elsewhere", { json: { user_grant: grant(foreign) } });
    const method = "/idsvc.resources.grant.v3alpha.UserGrantService/CreateUserGrant";
    await peer.set({ request: { method } }, [(await peer.asker(interrupting, "/elsewhere")).id]);
    const before = await peer.eventCount();
    const answer = await peer.post("/user_grants", grant(own), { token: owner.token });
    assertRefused(restRefusal(answer), { code: 9, reason: "EXECUTION_FAILED" });
    assert.equal(await peer.eventCount(), before);
    // The owner of the instance may, and so may a target in their call.
    bodyOf(await peer.post("/user_grants", grant(own)), 201);
  });
});

describe("a refusal that a target asks for (forwardedStatusCode)", () => {
  const forward = (status: number, text = "not today") => ({
    json: { forwardedStatusCode: status, forwardedErrorMessage: text },
  });
  for (const [status, code, http] of [
    [400, 3, 400],
    [401, 16, 401],
    [403, 7, 403],
    [404, 5, 404],
    [409, 6, 409],
    [429, 8, 429],
    [422, 9, 400],
    [500, 9, 400],
    [200, 9, 400],
  ] as const) {
    it(`${status} reaches the caller as code ${code}`, async () => {
      receiver.on("/forward", forward(status));
      const { id } = await peer.asker({ interrupt_on_error: true }, "/forward");
      await peer.set(onCreate, [id]);
      const answer = await add(uniqueName());
      assert.equal(answer.status, http);
      const refused = restRefusal(answer);
      assertRefused(refused, { code, reason: "EXECUTION_REFUSED" });
      assert.equal(refused.message, "not today");
    });
  }

  it("counts as an error where the target does not interrupt", async () => {
    receiver.on("/forward", forward(403));
    await peer.set(onCreate, [(await peer.asker({}, "/forward")).id]);
    bodyOf(await add(uniqueName()), 201);
  });

  it("shows nothing that changes how a line is read, and nothing endless", async () => {
    receiver.on("/forward", forward(403, `line\r\n\u202e\u0000${"x".repeat(5_000)}`));
    await peer.set(onCreate, [(await peer.asker({ interrupt_on_error: true }, "/forward")).id]);
    const { message } = restRefusal(await add(uniqueName()));
    assert.match(message, /^line {4}x{300,500}$/);
    assert.ok(message.length <= 500);
  });
});

describe("a response execution", () => {
  it("tells its target what was asked and what is answered, and runs only for what succeeds", async () => {
    await peer.set(afterCreate, [(await peer.webhook()).id]);
    const name = uniqueName();
    const body = bodyOf(await add(name), 201);
    assert.equal((await add(name)).status, 409);
    assert.equal(receiver.calls.length, 1);
    assert.deepEqual(receiver.calls[0]?.json.request, { organization: { name } });
    assert.deepEqual(receiver.calls[0]?.json.response, body);
  });

  it("ends the call when its target fails that interrupts; what was done stays done", async () => {
    receiver.on("/down", { status: 500 });
    await peer.set(afterCreate, [(await peer.webhook({ interrupt_on_error: true }, "/down")).id]);
    const before = await peer.eventCount();
    assertRefused(restRefusal(await add(uniqueName())), { code: 9, reason: "EXECUTION_FAILED" });
    assert.ok((await peer.eventCount()) > before);
  });

  it("keeps the status of a success", async () => {
    receiver.each("/same", ({ json }) => ({ json: json.response }));
    await peer.set(afterCreate, [(await peer.asker({ interrupt_on_error: true }, "/same")).id]);
    bodyOf(await add(uniqueName()), 201);
  });
});
