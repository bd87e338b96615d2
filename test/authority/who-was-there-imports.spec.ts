// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { holdJobs, releaseJobs } from "../../src/jobs/hold.ts";
import { human, importPeer, newName } from "../management/import-peer.ts";
import { addPersonNamed } from "../support/login.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { found, rawStore } from "../support/raw-store.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { anyAddress, firefox, from, historyOf, logOf, originOf, seen } from "./origins.ts";

let peer: OidcPeer;
let imports: ReturnType<typeof importPeer>;

before(async () => {
  peer = await startOidc({ env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" } });
  imports = importPeer(peer);
});
after(() => peer[Symbol.asyncDispose]());

/** A person who owns the instance, with a session. */
async function owner() {
  const { id } = await addPersonNamed(peer);
  const ctx = { instance_id: peer.app.made.instance_id };
  bodyOf(await peer.post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);
  return { id, token: await sessionTokenFor(peer.app, id) };
}

/** Begins an import of an organization with one person, from an address; gives the id of the import. */
async function begin(name: string, token: string, headers: Record<string, string>) {
  const body = { orgId: name, org: { name }, humanUsers: [human(`${name}-ada`)] };
  const path = "/import?awaitResponse=false";
  return String(bodyOf(await imports.call("POST", path, body, { token, headers })).job.id);
}

const nothing = { address: undefined, browser: undefined, system: undefined };

describe("who was there, in events that an import writes later (L4)", () => {
  it("is who asked for it: address, browser and session, for all that it made", async () => {
    const { id, token } = await owner();
    const [name, address] = [newName("moved"), anyAddress()];
    await imports.ended(await begin(name, token, from(address)));
    for (const events of [
      await historyOf(peer, `${name}-ada`),
      await logOf(peer, { type: "org", id: name }),
    ]) {
      assert.ok(events.length > 0);
      for (const { type, editor } of events) {
        assert.equal(editor.user_id, id, type);
        assert.deepEqual(seen(editor.origin), { address, ...firefox.families }, type);
        assert.match(String(editor.origin?.session_id), /^\d+$/);
      }
    }
  });

  it("is nobody once whoever asked is erased, and stands in clear nowhere while it waits", async () => {
    const { id, token } = await owner();
    const name = newName("left");
    // As long as it is, nothing else in a store has it by chance.
    const address = "2001:db8:bbbb:cccc:dddd:eeee:ffff:4321";
    const { db, config } = peer.app.kernel;
    await holdJobs(db, new Date());
    // From within a second on nothing is begun.
    await delay(1_200);
    const importId = await begin(name, token, from(address));
    const bytes = await rawStore(config);
    assert.deepEqual(found(bytes, [address, importId]), [importId]);
    bodyOf(await peer.remove(`/users/${id}`));
    await releaseJobs(db);
    await imports.ended(importId);
    const origin = originOf(await historyOf(peer, `${name}-ada`), "user.human.added");
    assert.deepEqual(seen(origin), nothing);
    assert.deepEqual(found(await rawStore(config), [address]), []);
  });
});
