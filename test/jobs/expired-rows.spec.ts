// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { sweepExpiredRows } from "../../src/jobs/expired-rows.ts";
import { oneTimeCodes } from "../../src/resources/user/codes.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";

let ahead = 0;
const now = () => new Date(Date.now() + ahead);
const service = await startPeer({ now });
after(() => service[Symbol.asyncDispose]());
const { app, post, put } = service;
const { db } = app.kernel;
const sweep = sweepExpiredRows({ db, now }, oneTimeCodes);
const users = async () =>
  (await db.read.select().from(db.table(oneTimeCodes))).map(({ userId }) => userId).sort();

async function userWithCode(): Promise<string> {
  const user = { username: uniqueName("user"), data: { given_name: "A", family_name: "B" } };
  const { details } = bodyOf(await post("/users", user), 201);
  await renew(details.id);
  return details.id;
}
const renew = async (id: string) => {
  bodyOf(await put(`/users/${id}/email`, { address: "a@example.com", return_code: {} }));
};

describe("sweeping what has expired (C7)", () => {
  it("removes it in batches, and leaves what has not", async () => {
    const old = [await userWithCode(), await userWithCode(), await userWithCode()];
    assert.equal(await sweep(10), 0);
    ahead += 61 * 60_000;
    const young = await userWithCode();
    assert.equal(await sweep(2), 2);
    assert.equal((await users()).filter((id) => old.includes(id)).length, 1);
    assert.equal(await sweep(2), 1);
    assert.equal(await sweep(2), 0);
    assert.deepEqual(await users(), [young]);
  });
  it("leaves a code that was made anew between the search for what is due and its removal", async () => {
    const id = await userWithCode();
    ahead += 61 * 60_000;
    const commit: typeof db.commit = async (...all) => {
      await renew(id);
      return db.commit(...all);
    };
    assert.ok((await sweepExpiredRows({ db: { ...db, commit }, now }, oneTimeCodes)(10)) > 0);
    assert.ok((await users()).includes(id));
  });
});
