// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { examine } from "../../src/app/examine.ts";
import { addPersonalAccessToken, user } from "../../src/resources/user/index.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";

let shift = 0;
const day = 24 * 3_600_000;
const peer = await startPeer({ now: () => new Date(Date.now() + shift) });
const { app, post, remove } = peer;
after(() => peer[Symbol.asyncDispose]());
const { kernel, made } = app;

const namesOf = async () => (await examine(kernel)).concerns.map(({ name }) => name);

describe("what doctor tells of an older store", () => {
  it("nothing of a new one", async () => assert.deepEqual(await namesOf(), []));

  it("personal access tokens of people that have no end (J1)", async () => {
    const wanted = { username: uniqueName("user").replaceAll(" ", "-"), data: { given_name: "A" } };
    const id = String(bodyOf(await post("/users", wanted), 201).details.id);
    const by = {
      instanceId: made.instance_id,
      editorId: id,
      service: "test",
      clientId: "",
      requestId: "test",
    };
    // As an earlier build recorded it.
    await kernel.events.transact(by, async (tx) => {
      const loaded = await tx.load(user, id);
      tx.record(user, loaded, addPersonalAccessToken(loaded.state, "lasting"));
    });
    const [concern] = (await examine(kernel)).concerns;
    assert.equal(concern?.name, "lasting_tokens_of_people");
    assert.deepEqual(concern.some, [`${made.instance_id}/lasting`]);
    bodyOf(await remove(`/users/${id}`));
    assert.deepEqual(await namesOf(), []);
  });

  it("an instance whose last owner's last credential ends within 30 days, and one that nobody rules (J3)", async () => {
    const machine = { schema_id: "machine", username: uniqueName("m"), data: { name: "M" } };
    const id = String(bodyOf(await post("/users", machine), 201).details.id);
    const end = new Date(Date.now() + 40 * day).toISOString();
    bodyOf(await post(`/users/${id}/personal_access_tokens`, { expiration_date: end }));
    const ctx = { instance_id: made.instance_id };
    bodyOf(await post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);
    bodyOf(await remove(`/users/${made.admin.user_id}`));
    bodyOf(await remove(`/users/${made.machine.user_id}`));
    assert.deepEqual(await namesOf(), []);
    shift = 20 * day;
    assert.deepEqual(await namesOf(), ["instances_soon_without_owner"]);
    shift = 41 * day;
    assert.deepEqual(await namesOf(), ["instances_without_owner"]);
  });
});
