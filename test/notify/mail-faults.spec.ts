// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { jobs } from "../../src/jobs/job.ts";
import { eq } from "../../src/storage/drizzle.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { noticesSent } from "../support/notices.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";

let peer: OidcPeer;
let mails: MailServer;

before(async () => {
  mails = await startMailServer();
  peer = await startOidc();
  const sender = { sender_address: "no-reply@acme.test", sender_name: "Acme" };
  const provider = { ...sender, host: mails.host, state_policy: "STATE_POLICY_ACTIVATE" };
  bodyOf(await peer.post("/smtp_providers", provider), 201);
});
after(async () => {
  await peer[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});
afterEach(() => mails.start());

const newAddress = () => `${uniqueName("mail").replace(" ", "")}@example.test`;
const personAt = (address: string) =>
  peer.addPerson({ contact: { email: { address, is_verified: true } } });
const reset = async (id: string) =>
  bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: {} }));
const codeIn = (text = "") => /Code: (\w+)/.exec(text)?.[1] ?? "";

/** Waits until the last message that waits has been tried in vain, and no try is under way. */
async function tried(): Promise<void> {
  const { db } = peer.app.kernel;
  const t = db.table(jobs);
  const { failingSince, leaseHolder } = t;
  for (const end = Date.now() + 60_000; ; await delay(20)) {
    const left = await db.read
      .select({ failingSince, leaseHolder })
      .from(t)
      .where(eq(t.kind, "notice"));
    if (left.length > 0 && left.every((job) => job.failingSince !== null && job.leaseHolder === ""))
      return;
    assert.ok(Date.now() < end, "a message was not tried");
  }
}

describe("F18: a mail server", () => {
  it("that is down for an hour: calls answer as usual, one mail leaves afterwards, and its code is alive", async () => {
    await mails.stop();
    const address = newAddress();
    const id = await personAt(address);
    for (let times = 0; times < 3; times += 1) await reset(id);
    await tried();
    // A code lives for an hour: one that was made when it was asked for would be dead by now.
    peer.pass(3_700_000);
    await mails.start();
    const { text } = await mails.mailTo(address);
    await noticesSent(peer.app);
    assert.equal(mails.mails.filter(({ to }) => to.includes(address)).length, 1, "no storm");
    const verification_code = codeIn(text);
    const right = { password: "completely different words", verification_code };
    bodyOf(await peer.post(`/users/${id}/password`, right));
  });

  it("that takes connections and says nothing holds up nobody, and gets its mails when it is back", async () => {
    await mails.stall();
    const addresses = [newAddress(), newAddress(), newAddress()];
    for (const address of addresses) await reset(await personAt(address));
    await mails.start();
    peer.pass(60_000);
    for (const address of addresses) await mails.mailTo(address);
  });

  it("that refuses one address for now (4xx) and another for good (5xx) gets all others, the first later, the second never", async () => {
    const [later, never, fine] = [newAddress(), newAddress(), newAddress()];
    mails.refuse(later, 451);
    mails.refuse(never, 550);
    for (const address of [later, never, fine]) await reset(await personAt(address));
    await mails.mailTo(fine);
    await tried();
    mails.refuse(later, undefined);
    mails.refuse(never, undefined);
    peer.pass(60_000);
    await mails.mailTo(later);
    await noticesSent(peer.app);
    assert.ok(!mails.mails.some(({ to }) => to.includes(never)));
  });

  it("that offers no TLS gets nothing from a provider that wants it, nor with a wrong password", async () => {
    const sender = { sender_address: "no-reply@acme.test", host: mails.host };
    const count = mails.mails.length;
    for (const [more, told, reason] of [
      [{ tls: true }, 503, "MESSAGE_DELAYED"],
      [{ user: "idsvc", password: "wrong" }, 400, "MESSAGE_LOGIN_REFUSED"],
    ] as const) {
      const made = bodyOf(await peer.post("/smtp_providers", { ...sender, ...more }), 201);
      const test = `/smtp_providers/${made.details.id}/_test`;
      const { status, refusal } = await peer.post(test, { receiver_address: newAddress() });
      assert.equal(refusal?.reason, reason);
      assert.equal(status, told);
    }
    assert.equal(mails.mails.length, count);
  });
});
