// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { until } from "../../jobs/place.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { protocols, watch } from "./watchers.ts";

const [ofCaller, inAll] = [2, 3];
const service = await startPeer({
  env: { IDSVC_FOLLOWERS_PER_CALLER: String(ofCaller), IDSVC_FOLLOWERS: String(inAll) },
});
const { app, post } = service;
const to = { port: app.port, token: app.token };
after(() => service[Symbol.asyncDispose]());

const refused = { code: 8, reason: "FOLLOWERS_TOO_MANY" };
const newTarget = async () => {
  const target = { name: uniqueName("target"), rest_webhook: { url: "http://localhost:9999/x" } };
  bodyOf(await post("/targets", target), 201);
};

/** Opens a stream as soon as there is room for it again. */
async function watchSoon(open: (typeof protocols)[number][1]) {
  for (let tries = 0; tries < 100; tries++) {
    const watcher = await watch(to, {}, open);
    if (watcher.ended === undefined) return watcher;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return assert.fail("no room became free");
}

for (const [name, open] of protocols) {
  describe(`followers of the log over ${name}`, () => {
    it("are so many of one caller as the limit says, and one more when one has gone", async () => {
      const watchers = [await watchSoon(open), await watchSoon(open)];
      const third = await watch(to, {}, open);
      assert.deepEqual(third.ended, refused);
      watchers.pop()?.leave();
      watchers.push(await watchSoon(open));
      await newTarget();
      for (const watcher of watchers) {
        await until(() => watcher.types().length === 1, "those who follow are told");
        watcher.leave();
      }
      (await watchSoon(open)).leave();
    });

    it("are so many in all as the limit says, whoever they are", async () => {
      const own = [await watchSoon(open), await watchSoon(open)];
      const { token } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
      const others = { port: app.port, token };
      const third = await watch(others, {}, open);
      assert.equal(third.ended, undefined);
      assert.deepEqual((await watch(others, {}, open)).ended, refused);
      for (const watcher of [...own, third]) watcher.leave();
      (await watchSoon(open)).leave();
    });

    it("that were refused for another reason take no place", async () => {
      const { token } = await addCaller(app, []);
      for (let nth = 0; nth <= inAll; nth++) {
        const stranger = await watch({ port: app.port, token }, {}, open);
        assert.deepEqual(stranger.ended, { code: 7, reason: "PERMISSION_MISSING" });
      }
      (await watchSoon(open)).leave();
    });
  });
}

describe("a follower too many over REST", () => {
  it("is answered with 429, when to try again, and which limit it was", async () => {
    const [, open] = protocols[0] ?? assert.fail();
    const watchers = [await watchSoon(open), await watchSoon(open)];
    const answer = await fetch(`http://localhost:${app.port}/resources/v3alpha/events/_watch`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
      body: "{}",
    });
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get("retry-after"), "10");
    const [detail] = Object(await answer.json()).details;
    assert.equal(detail.reason, refused.reason);
    assert.deepEqual(detail.metadata, { of: "caller", limit: String(ofCaller) });
    for (const watcher of watchers) watcher.leave();
  });
});
