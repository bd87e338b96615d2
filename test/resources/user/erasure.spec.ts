// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { and, type Column, eq } from "../../../src/storage/drizzle.ts";
import { events, secrets } from "../../../src/storage/kernel-tables.ts";
import { createKnownBrowsers, userModule } from "../../../src/resources/user/index.ts";
import { userAuthenticators } from "../../../src/resources/user/authenticator/projection.ts";
import { attemptCounts } from "../../../src/resources/user/check/attempts.ts";
import { knownBrowsers } from "../../../src/resources/user/check/known-browsers.ts";
import { oneTimeCodes } from "../../../src/resources/user/codes.ts";
import { webAuthNChallenges } from "../../../src/resources/user/web-authn/challenges.ts";
import { Authenticator } from "../../support/authenticator.ts";
import { bodyOf } from "../../support/peer.ts";
import { startUserPeer, goodPassword } from "./user-peer.ts";

const service = await startUserPeer();
const { get, post, remove, checks, at, deps, addPerson, addMachine, tokenOf } = service;
const { addOrganization } = service;
after(() => service[Symbol.asyncDispose]());
const { instanceId } = at;

/** How many rows there are of a user, table by table. */
async function rowsOf(userId: string): Promise<Record<string, number>> {
  const { db } = deps;
  const [owned, held] = [db.table(secrets), db.table(userAuthenticators)];
  const [counts, codes] = [db.table(attemptCounts), db.table(oneTimeCodes)];
  const challenges = db.table(webAuthNChallenges);
  const browsers = db.table(knownBrowsers);
  const of = (t: { instanceId: Column; userId: Column }) =>
    and(eq(t.instanceId, instanceId), eq(t.userId, userId));
  const rows = {
    secrets: db.read
      .select()
      .from(owned)
      .where(of({ instanceId: owned.instanceId, userId: owned.ownerId })),
    authenticators: db.read.select().from(held).where(of(held)),
    counts: db.read.select().from(counts).where(of(counts)),
    codes: db.read.select().from(codes).where(of(codes)),
    challenges: db.read.select().from(challenges).where(of(challenges)),
    browsers: db.read.select().from(browsers).where(of(browsers)),
  };
  const found: Record<string, number> = {};
  for (const [name, query] of Object.entries(rows)) found[name] = (await query).length;
  return found;
}

async function logOf(userId: string): Promise<string> {
  const t = deps.db.table(events);
  const rows = await deps.db.read.select().from(t).where(eq(t.aggregateId, userId));
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

describe("deleting a user", () => {
  it("removes all that they logged in with", async () => {
    const email = { address: "ada@example.com", is_verified: true };
    const id = await addPerson({
      contact: { email },
      authenticators: { password: { password: goodPassword } },
    });
    const token = await tokenOf(id);
    await post(`/users/${id}/totp`);
    await post(`/users/${id}/recovery_codes`);
    await post(`/users/${id}/otp_sms`, { number: "+41790000009", is_verified: true });
    await post(`/users/${id}/password/_reset`, { return_code: {} });
    const begun = bodyOf(await post(`/users/${id}/webauthn`, { domain: "localhost" }));
    const authenticator = new Authenticator();
    const credential = authenticator.create(begun.public_key_credential_creation_options, {
      page: { origin: "https://localhost" },
    });
    const verify = { public_key_credential: credential, web_auth_n_name: "Ada's very own phone" };
    bodyOf(await post(`/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`, verify));
    bodyOf(await post(`/users/${id}/webauthn`, { domain: "localhost" }));
    await checks.password(at, id, "wrong");
    await createKnownBrowsers(deps).remember({ ...at, browser: "a-browser" }, id);

    const before = await rowsOf(id);
    assert.ok(
      Object.values(before).every((count) => count > 0),
      JSON.stringify(before),
    );
    bodyOf(await remove(`/users/${id}`));
    assert.deepEqual(new Set(Object.values(await rowsOf(id))), new Set([0]));
    assert.equal((await get(`/users/${id}`, { token })).status, 401);
    assert.deepEqual(await checks.password(at, id, goodPassword), { isRight: false });

    const log = await logOf(id);
    for (const personal of [authenticator.id, "very own phone", "+41790000009", email.address]) {
      assert.ok(!log.includes(personal), personal);
    }
  });

  it("removes the secret and the keys of a machine", async () => {
    const id = await addMachine();
    await post(`/users/${id}/secret`);
    await post(`/users/${id}/public_keys`, {});
    bodyOf(await remove(`/users/${id}`));
    assert.deepEqual(new Set(Object.values(await rowsOf(id))), new Set([0]));
  });
});

describe("an organization that goes", () => {
  it("takes its users with all that is theirs, some at a time, and no others", async () => {
    const organizationId = await addOrganization();
    const ids: string[] = [];
    for (const username of ["a", "b", "c"]) {
      const user = { username, data: {}, authenticators: { password: { password: goodPassword } } };
      const made = await post(`/users?ctx.org_id=${organizationId}`, user);
      ids.push(String(bodyOf(made, 201).details.id));
    }
    const other = await addPerson();
    const removeSome = userModule([]).contents?.(deps);
    const counts = [];
    for (let turn = 0; turn < 3; turn++) counts.push(await removeSome?.(at, organizationId, 2));
    assert.deepEqual(counts, [2, 1, 0]);
    for (const id of ids) {
      assert.deepEqual(new Set(Object.values(await rowsOf(id))), new Set([0]));
      assert.equal((await get(`/users/${id}`)).status, 404);
    }
    bodyOf(await get(`/users/${other}`));
  });
});
