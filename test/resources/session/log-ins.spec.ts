// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { until } from "../../jobs/place.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startSessionPeer } from "./session-peer.ts";

const peer = await startSessionPeer();
const { app, post, get, addOrganization, addMember } = peer;
after(() => peer[Symbol.asyncDispose]());
const dayMs = 86_400_000;
// No day ends while it is counted.
peer.pass(dayMs - ((Date.now() + dayMs / 2) % dayMs));

type Counts = { result: { day: string; count: string }[] };
const countsOf = async (query = "", token = app.token): Promise<Counts> =>
  bodyOf(await get(`/log_ins${query}`, { token }));
const totals = async (query = "") => (await countsOf(query)).result.map(({ count }) => count);

/** Waits until so many are told: they are written within a second. */
async function counted(query: string, expected: readonly string[]): Promise<void> {
  await until(async () => (await totals(query)).join() === expected.join(), "counts");
  assert.deepEqual(await totals(query), expected);
}

describe("counting log-ins", () => {
  it("tells how many there were each day, of the instance and of an organization", async () => {
    const organization = await addOrganization();
    const inside = `?ctx.org_id=${organization}&days=2`;
    const password = "correct horse battery staple";
    const person = { username: "counted", data: { given_name: "Ada" } };
    const made = await post(`/users?ctx.org_id=${organization}`, {
      ...person,
      authenticators: { password: { password } },
    });
    const userId = String(bodyOf(made, 201).details.id);
    const [, before = "0"] = await totals("?days=2");
    await peer.logIn(userId);
    await peer.logIn(await peer.addLogin());
    // Nobody is known of a session without checks, and a wrong password begins none.
    await peer.open({});
    const checks = { user: { user_id: userId }, password: { password: "wrong" } };
    assertRefused((await post("/sessions", { checks })).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
    });
    await counted("?days=2", ["0", String(Number(before) + 2)]);
    await counted(inside, ["0", "1"]);
    peer.pass(dayMs);
    await peer.logIn(userId);
    await counted(inside, ["1", "1"]);
    const { result } = await countsOf(`?ctx.org_id=${organization}`);
    assert.equal(result.length, 14);
    const days = result.map(({ day }) => day);
    assert.deepEqual(days, days.toSorted());
    assert.match(days[0] ?? "", /^\d{4}-\d\d-\d\d$/);
  });

  it("is for who may read sessions there, and of 31 days at most", async () => {
    const [own, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(own, ["ORG_OWNER"]);
    const { result } = await countsOf(`?ctx.org_id=${own}`, token);
    assert.equal(result.length, 14);
    const missing = { code: 7, reason: "PERMISSION_MISSING" };
    assertRefused((await get("/log_ins", { token })).refusal, missing);
    assertRefused((await get(`/log_ins?ctx.org_id=${other}`, { token })).refusal, {
      code: 5,
      reason: "ORGANIZATION_NOT_FOUND",
    });
    const nobody = await addCaller(app, []);
    assertRefused((await get("/log_ins", nobody)).refusal, missing);
    const { status, refusal } = await get("/log_ins?days=32");
    assert.equal(status, 400);
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "days" });
  });
});
