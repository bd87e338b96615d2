// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type ActionPeer, startActionPeer } from "../resources/action/action-peer.ts";

const targets = "/resources/v3alpha/targets";
let action: ActionPeer;

before(async () => {
  action = await startActionPeer();
});
after(() => action[Symbol.asyncDispose]());

describe("the headers of REST", () => {
  it("let nobody keep an answer, a refusal included", async () => {
    const headers = { authorization: `Bearer ${action.app.token}` };
    const answers = [
      [`${targets}/${await action.addTarget()}`, 200],
      [`${targets}/unknown`, 404],
      ["/resources/v3alpha/nowhere", 404],
    ] as const;
    for (const version of [1, 2] as const) {
      for (const [path, status] of answers) {
        const answer = await action.peer.send({ version, method: "GET", path, headers });
        assert.equal(answer.status, status, path);
        assert.equal(answer.headers["cache-control"], "no-store", path);
      }
    }
  });
});
