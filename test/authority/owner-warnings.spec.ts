// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { projectGrantEnds } from "../../src/resources/grant/index.ts";
import { membershipModule } from "../../src/resources/membership/index.ts";
import { warnOwners } from "../../src/resources/membership/owner-warnings.ts";
import { addPersonNamed } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { sessionTokenFor } from "../support/session-token.ts";

const peer = await startOidc();
after(() => peer[Symbol.asyncDispose]());
const { post, remove, pass, now, deps, app } = peer;
const pages = loginPages(peer, await peer.addClient());

const dayMs = 24 * 3_600_000;
const roles = ["IAM_OWNER"];
type Found = { details: { id: string }; membership: { user_id: string } };

/** A credential of a person's own that lasts so many days. */
async function addCredential(userId: string, days: number): Promise<{ token: string }> {
  const expiration_date = new Date(now().getTime() + days * dayMs).toISOString();
  const own = { token: await sessionTokenFor(app, userId) };
  const made = bodyOf(
    await post(`/users/${userId}/personal_access_tokens`, { expiration_date }, own),
  );
  return { token: made.token };
}

describe("owners are told before their last credential ends (J3)", () => {
  it("30, 7 and 1 days before, each once, whoever looks and however often", async () => {
    const address = "owner@example.test";
    const person = await addPersonNamed(peer, {
      contact: { email: { address, is_verified: true } },
      authenticators: {},
    });
    const ctx = { instance_id: app.made.instance_id };
    bodyOf(await post("/memberships", { ctx, user_id: person.id, roles }), 201);
    const own = await addCredential(person.id, 40);
    // Everybody else has credentials without an end.
    assert.equal(await warnOwners(deps), 0);
    const { result } = bodyOf(
      await post("/memberships/_search", [{ role: { role: "IAM_OWNER" } }]),
    );
    for (const { details, membership } of result as Found[]) {
      if (membership.user_id !== person.id) bodyOf(await remove(`/memberships/${details.id}`, own));
    }
    assert.equal(await warnOwners(deps), 0);
    const told: string[] = [];
    for (const days of [30, 7, 1]) {
      pass(days === 30 ? 10.5 * dayMs : days === 7 ? 23 * dayMs : 6 * dayMs);
      const mails = await pages.mails();
      // Two replicas at once, and one later.
      const all = await Promise.all([warnOwners(deps), warnOwners(deps)]);
      assert.equal(all[0] + all[1] + (await warnOwners(deps)), 1, `${days} days`);
      assert.equal((await pages.mails()) - mails, 1);
      const { to, subject, text } = await pages.lastMail();
      assert.equal(to, address);
      told.push(subject);
      assert.match(text, new RegExp(`ends on [A-Z][a-z]+ \\d+, \\d{4}.*${person.loginName}`, "s"));
    }
    assert.equal(new Set(told).size, 1);
    assert.match(told[0] ?? "", /^Soon nobody can administer/);
    const events = await peer.events("instance.owners.warned");
    assert.deepEqual(
      events.map(({ payload }) => (payload as { days: number }).days),
      [30, 7, 1],
    );

    // A new credential begins anew, and what is over is told by doctor alone.
    const next = await addCredential(person.id, 60);
    assert.equal(await warnOwners(deps), 0);
    pass(31 * dayMs);
    // As the service does by itself.
    for (const sweep of membershipModule(projectGrantEnds).sweeps?.(deps) ?? []) await sweep(1);
    assert.equal((await peer.events("instance.owners.warned")).length, 4);
    assert.equal(await warnOwners(deps), 0);
    bodyOf(await peer.get(`/users/${person.id}`, next));
    pass(60 * dayMs);
    assert.equal(await warnOwners(deps), 0);
  });
});
