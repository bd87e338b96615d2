// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { systemCaller } from "../../support/system-caller.ts";

let ahead = 0;
const operator = systemCaller();
const service = await startPeer({
  env: operator.env,
  now: () => new Date(Date.now() + ahead),
});
after(() => service[Symbol.asyncDispose]());
const { app, peer, post, addOrganization, addMember } = service;

const typesOf = (found: { result: { type: string }[] }) => found.result.map(({ type }) => type);
const history = (id: string, query = "", options = {}) =>
  post(`/users/${id}/events/_search${query}`, undefined, options);

async function lockedUser(organizationId: string): Promise<string> {
  const user = { username: uniqueName("user"), data: { given_name: "A", family_name: "B" } };
  const { details } = bodyOf(await post(`/users?ctx.org_id=${organizationId}`, user), 201);
  bodyOf(await post(`/users/${details.id}/_lock`));
  bodyOf(await post(`/users/${details.id}/_unlock`));
  return details.id;
}

describe("the history of a user", () => {
  it("is what has happened to them, newest first or oldest first, by pages with an exact total", async () => {
    const id = await lockedUser(await addOrganization());
    const all = bodyOf(await history(id));
    assert.deepEqual(typesOf(all), ["user.unlocked", "user.locked", "user.human.added"]);
    assert.equal(all.details.total_result, "3");
    const [unlocked] = all.result;
    assert.equal(unlocked.editor.user_id, app.made.machine.user_id);
    assert.deepEqual(unlocked.aggregate, { type: "user", id, version: "3" });
    const second = bodyOf(await history(id, "?query.asc=true&query.offset=1&query.limit=1"));
    assert.deepEqual(typesOf(second), ["user.locked"]);
  });

  it("is read by the user and by who may read users there; for others there is no such user", async () => {
    const organizationId = await addOrganization();
    const self = await addMember(organizationId, []);
    const own = await history(self.userId, "", { token: self.token });
    assert.ok(typesOf(bodyOf(own)).includes("user.machine.added"));
    const viewer = await addMember(organizationId, ["ORG_OWNER_VIEWER"]);
    bodyOf(await history(self.userId, "", { token: viewer.token }));
    const stranger = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const { refusal } = await history(self.userId, "", { token: stranger.token });
    assertRefused(refusal, { code: 5, reason: "USER_NOT_FOUND" });
    const { refusal: absent } = await history("404");
    assertRefused(absent, { code: 5, reason: "USER_NOT_FOUND" });
  });

  it("ends where the audit log retention of the instance ends", async () => {
    const id = await lockedUser(await addOrganization());
    const token = await operator.tokenFor(app.made.issuer);
    const limits = { audit_log_retention: "3600s" };
    const path = `/resources/v3alpha/instances/${app.made.instance_id}/_limit`;
    bodyOf(await peer.rest("POST", path, limits, { token }));
    assert.equal(typesOf(bodyOf(await history(id))).length, 3);
    ahead += 2 * 3600_000;
    bodyOf(await post(`/users/${id}/_deactivate`));
    assert.deepEqual(typesOf(bodyOf(await history(id))), ["user.deactivated"]);
  });
});
