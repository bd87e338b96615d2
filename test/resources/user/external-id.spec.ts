// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { eq } from "../../../src/storage/drizzle.ts";
import { claims, events } from "../../../src/storage/kernel-tables.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startUserPeer } from "./user-peer.ts";

const service = await startUserPeer();
const { get, patch, post, remove, addMember, addOrganization, addPerson, addMachine } = service;
const { deps, eventCount, tokenOf } = service;
after(() => service[Symbol.asyncDispose]());

const newId = () => uniqueName("E");
const externalIdOf = async (id: string, options = {}): Promise<string | undefined> =>
  bodyOf(await get(`/users/${id}`, options)).user.user.external_id;
const found = async (filter: JsonObject, options = {}): Promise<string[]> =>
  bodyOf(await post("/users/_search", [{ external_id: filter }], options)).result.map(
    ({ details }: { details: { id: string } }) => details.id,
  );
const taken = { code: 6, reason: "EXTERNAL_ID_TAKEN" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };

describe("the external id of a user (K10)", () => {
  it("is given when they are made, people and machines, and shown as it was written", async () => {
    for (const add of [addPerson, addMachine]) {
      const external_id = `cn=Ada, ou="Größe / 1"; ${newId()}`;
      assert.equal(await externalIdOf(await add({ external_id })), external_id);
    }
    assert.equal(await externalIdOf(await addPerson()), undefined);
  });

  it("is changed and taken away, and nothing is recorded where it is the same", async () => {
    const [first, second] = [newId(), newId()];
    const id = await addPerson({ external_id: first });
    bodyOf(await patch(`/users/${id}`, { external_id: second }));
    assert.equal(await externalIdOf(id), second);
    bodyOf(await patch(`/users/${id}`, { data: { nickname: "Ada" } }));
    assert.equal(await externalIdOf(id), second);
    bodyOf(await patch(`/users/${id}`, { external_id: "" }));
    assert.equal(await externalIdOf(id), undefined);
    const before = await eventCount();
    bodyOf(await patch(`/users/${id}`, { external_id: "" }));
    assert.equal(await eventCount(), before);
  });

  it("is of one user of an organization, as it is written, and free again", async () => {
    const external_id = newId();
    const id = await addPerson({ external_id });
    const another = await addPerson();
    const before = await eventCount();
    const created = await post("/users", { username: uniqueName("user"), data: {}, external_id });
    assert.equal(created.status, 409);
    assertRefused(created.refusal, taken);
    assertRefused((await patch(`/users/${another}`, { external_id })).refusal, taken);
    assert.equal(await eventCount(), before);
    await addPerson({ external_id: external_id.toLowerCase() });
    const elsewhere = { username: "a", data: {}, external_id };
    bodyOf(await post(`/users?ctx.org_id=${await addOrganization()}`, elsewhere), 201);

    const moved = newId();
    bodyOf(await patch(`/users/${id}`, { external_id: moved }));
    bodyOf(await patch(`/users/${another}`, { external_id }));
    bodyOf(await patch(`/users/${another}`, { external_id: "" }));
    await addPerson({ external_id });
    bodyOf(await remove(`/users/${id}`));
    await addPerson({ external_id: moved });
  });

  it("is given to one of two who ask for it at once", async () => {
    const external_id = newId();
    const ids = [await addPerson(), await addPerson()];
    const answers = await Promise.all(ids.map((id) => patch(`/users/${id}`, { external_id })));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
  });

  const wrong: [string, string][] = [
    ["longer than 200 characters", "e".repeat(201)],
    ["with a control character", "e\u0007"],
    ["with white space at its end", "e "],
  ];
  for (const [what, external_id] of wrong) {
    it(`is refused ${what}`, async () => {
      const field = "user.external_id";
      const expected = { code: 3, reason: "VALIDATION_FAILED", field };
      const body = { username: uniqueName("user"), data: {}, external_id };
      assertRefused((await post("/users", body)).refusal, expected);
      const { refusal } = await patch(`/users/${await addPerson()}`, { external_id });
      assertRefused(refusal, expected);
    });
  }

  it("is refused empty for somebody new, and has up to 200 characters", async () => {
    const expected = { code: 3, reason: "VALIDATION_FAILED", field: "user.external_id" };
    const body = { username: uniqueName("user"), data: {}, external_id: "" };
    assertRefused((await post("/users", body)).refusal, expected);
    const longest = newId().padEnd(200, "€");
    assert.equal(await externalIdOf(await addPerson({ external_id: longest })), longest);
  });

  it("finds users by the whole or a part of it, of whom the caller may read", async () => {
    const external_id = newId();
    const organization = await addOrganization();
    const here = await addPerson({ external_id });
    const body = { username: "a", data: {}, external_id };
    const there = String(
      bodyOf(await post(`/users?ctx.org_id=${organization}`, body), 201).details.id,
    );
    await addPerson({ external_id: `${external_id}-more` });
    assert.deepEqual((await found({ name: external_id })).toSorted(), [here, there].toSorted());
    assert.deepEqual(await found({ name: external_id.toLowerCase() }), []);
    const method = "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE";
    assert.equal((await found({ name: external_id.toLowerCase(), method })).length, 3);
    const { token } = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    assert.deepEqual(await found({ name: external_id }, { token }), [there]);
  });

  it("is read by themselves, and neither set nor changed by them", async () => {
    const external_id = newId();
    const id = await addPerson({ external_id });
    const token = await tokenOf(id);
    assert.equal(await externalIdOf(id, { token }), external_id);
    for (const wanted of [newId(), ""]) {
      const { refusal } = await patch(`/users/${id}`, { external_id: wanted }, { token });
      assertRefused(refusal, missing);
    }
    assert.equal(await externalIdOf(id), external_id);
  });

  it("is set by who may write the users of the organization, and by nobody who only reads", async () => {
    const organization = await addOrganization();
    const body = { username: "a", data: {} };
    const id = bodyOf(await post(`/users?ctx.org_id=${organization}`, body), 201).details.id;
    const viewer = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    const manager = await addMember(organization, ["ORG_USER_MANAGER"]);
    const external_id = newId();
    assertRefused((await patch(`/users/${id}`, { external_id }, viewer)).refusal, missing);
    bodyOf(await patch(`/users/${id}`, { external_id }, manager));
    assert.equal(await externalIdOf(id, viewer), external_id);
  });

  it("is told alike by gRPC", async () => {
    const external_id = newId();
    const { app, peer } = service;
    const { createUser, getUser } = UserService.method;
    const create = () => {
      const user = { username: uniqueName("user"), data: {}, externalId: external_id };
      return peer.call("grpc", createUser, { user }, app);
    };
    const created = await create();
    assert.ok(created.ok);
    const id = created.message.details?.id ?? "";
    const read = await peer.call("grpc", getUser, { id }, app);
    assert.ok(read.ok);
    assert.equal(read.message.user?.user?.externalId, external_id);
    const again = await create();
    assertRefused(again.ok ? undefined : again, taken);
  });

  it("stands in the history, and is erased with the user", async () => {
    const external_id = newId();
    const id = await addPerson({ external_id });
    const [newest] = bodyOf(await post(`/users/${id}/events/_search`)).result;
    assert.equal(newest.type, "user.external_id.changed");
    bodyOf(await remove(`/users/${id}`));
    const { db } = deps;
    const [log, held] = [db.table(events), db.table(claims)];
    const rows = await db.read.select().from(log).where(eq(log.aggregateId, id));
    const heldClaims = await db.read.select().from(held).where(eq(held.holderId, id));
    const text = JSON.stringify([rows, heldClaims], (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    assert.ok(!text.includes(external_id));
  });
});
