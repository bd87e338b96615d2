// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { logIns } from "../../../src/resources/session/log-ins.ts";
import { and, eq } from "../../../src/storage/drizzle.ts";
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

/** What is written of today, which is done within a second. */
async function written(organizationId: string): Promise<string> {
  const { db, now } = peer.deps;
  const day = now().toISOString().slice(0, 10);
  const t = db.table(logIns);
  const rows = await db.read
    .select({ count: t.count })
    .from(t)
    .where(and(eq(t.organizationId, organizationId), eq(t.day, day)));
  return String(rows.reduce((sum, { count }) => sum + count, 0n));
}

/** At once where they were counted, and written soon. */
async function counted(organizationId: string, expected: readonly string[]): Promise<void> {
  const query = organizationId === "" ? "" : `&ctx.org_id=${organizationId}`;
  assert.deepEqual(await totals(`?days=2${query}`), expected);
  await until(async () => (await written(organizationId)) === expected.at(-1), "counts");
  assert.deepEqual(await totals(`?days=2${query}`), expected);
}

describe("counting log-ins", () => {
  it("tells how many there were each day, of the instance and of an organization", async () => {
    const organization = await addOrganization();
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
    await counted("", ["0", String(Number(before) + 2)]);
    await counted(organization, ["0", "1"]);
    peer.pass(dayMs);
    await peer.logIn(userId);
    await counted(organization, ["1", "1"]);
    assert.deepEqual(await totals("?days=1"), ["1"]);
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
