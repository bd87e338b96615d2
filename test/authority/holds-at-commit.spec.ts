// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { app, post } = peer;
after(() => peer[Symbol.asyncDispose]());

async function addPerson(): Promise<string> {
  const person = { username: uniqueName("person"), data: { given_name: "Ada" } };
  return String(bodyOf(await post("/users", person), 201).details.id);
}

describe("a hold that was judged before the unit", () => {
  it("is judged again at the commit: somebody who is promoted in between is not taken over (J1)", async () => {
    const { kernel } = app;
    const { token } = await peer.addMember(app.made.organization_id, ["ORG_USER_MANAGER"]);
    const id = await addPerson();
    const { commit } = kernel.db;
    kernel.db.commit = async (unit) => {
      if (unit.events.some(({ type }) => type === "user.deactivated")) {
        kernel.db.commit = commit;
        const given = {
          ctx: { instance_id: app.made.instance_id },
          user_id: id,
          roles: ["IAM_OWNER"],
        };
        bodyOf(await post("/memberships", given), 201);
      }
      return commit(unit);
    };
    const answer = await post(`/users/${id}/_deactivate`, undefined, { token });
    assert.equal(kernel.db.commit, commit, "somebody was promoted in between");
    assertRefused(answer.refusal, { code: 7, reason: "USER_OUTRANKS_CALLER" });
    assert.notEqual(bodyOf(await peer.get(`/users/${id}`)).user.state, "USER_STATE_INACTIVE");
  });
});
