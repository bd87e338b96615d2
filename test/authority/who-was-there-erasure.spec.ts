// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "../../src/storage/drizzle.ts";
import { secrets } from "../../src/storage/kernel-tables.ts";
import { jobs } from "../../src/jobs/job.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { codeIn } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { found, rawStore } from "../support/raw-store.ts";
import { userAgent } from "../support/user-agent.ts";
import { from, historyOf, logOf, originOf, seen } from "./origins.ts";

let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc({
    env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1", IDSVC_BUDGET_GUESSES: "0" },
  });
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

const dayMs = 24 * 60 * 60_000;
const nothing = { address: undefined, browser: undefined, system: undefined };
// As long as it is, nothing else in a store has it by chance.
const address = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:1234";

async function assertNowhere(): Promise<void> {
  const bytes = await rawStore(peer.app.kernel.config);
  assert.deepEqual(found(bytes, [address]), []);
  assert.deepEqual(
    found(bytes, ["user.human.added"]),
    ["user.human.added"],
    "the scan finds things",
  );
}

async function logIn(loginName: string, tried: string) {
  const agent = userAgent(peer.issuer, new Map(), from(address));
  await agent.open(authorizeUrl(peer, web));
  await agent.submit({ login_name: loginName });
  return agent.submit({ password: tried });
}

describe("where people were (L4, marker scan)", () => {
  it("stands in no table in clear, and opens for nobody once they are deleted", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    await logIn(loginName, "wrong");
    codeIn(await logIn(loginName, password));
    const origin = originOf(await historyOf(peer, id), "user.human.password.check.succeeded");
    assert.equal(origin?.address, address);
    await assertNowhere();
    bodyOf(await peer.remove(`/users/${id}`));
    const events = await logOf(peer, { type: "user_check", id });
    for (const type of [
      "user.human.password.check.failed",
      "user.human.password.check.succeeded",
    ]) {
      const left = originOf(events, type);
      assert.deepEqual(seen(left), nothing);
      assert.match(String(left?.flow_id), /^[\w-]{32}$/, "what tells of nobody stays");
    }
    await assertNowhere();
  });
});

describe("where nobody was who is known", () => {
  const touch = async () => {
    const id = await peer.addPerson();
    const headers = { "x-forwarded-for": address };
    // The machine user of the first start has no key of their own.
    const username = uniqueName("renamed").replace(" ", "");
    bodyOf(await peer.patch(`/users/${id}`, { username }, { headers }));
    return id;
  };
  const addressOf = async (id: string) =>
    originOf(await historyOf(peer, id), "user.username.changed")?.address;
  const keys = async () => {
    const { db } = peer.app.kernel;
    const t = db.table(secrets);
    const rows = await db.read.select({ id: t.ownerId }).from(t).where(eq(t.ownerType, "origin"));
    return rows.map(({ id }) => id);
  };

  it("is sealed with a key of the instance, which another one replaces after 90 days", async () => {
    const first = await touch();
    assert.equal(await addressOf(first), address);
    await assertNowhere();
    const [old, ...others] = await keys();
    assert.ok(old !== undefined);
    assert.deepEqual(others, []);
    peer.pass(90 * dayMs);
    const second = await touch();
    assert.equal(await addressOf(second), address);
    assert.equal(await addressOf(first), address, "read for 90 days at least");
    assert.equal((await keys()).length, 2);
    const { db } = peer.app.kernel;
    const t = db.table(jobs);
    const waiting = await db.read.select().from(t).where(eq(t.kind, "event.origin_key.forget"));
    const end = new Date(peer.now().getTime() + 90 * dayMs);
    // Looked at before it is due, since then it is done at once.
    assert.ok(waiting.some((job) => job.id === `origin-key-${old}` && job.dueAt <= end));
    peer.pass(90 * dayMs);
    assert.equal(await addressOf(first), undefined, "and for 180 at most");
    assert.equal(await addressOf(second), address);
    for (let waited = 0; (await keys()).includes(old); waited += 100) {
      assert.ok(waited < 30_000, "the key is destroyed");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
});
