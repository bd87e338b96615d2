// Run: alone, early
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { explore } from "./robot.ts";
import { robotWorlds, within } from "./robot-worlds.ts";

let peer: OidcPeer;

before(async () => {
  peer = await startOidc();
});
after(() => peer[Symbol.asyncDispose]());

// Of each world as many links and buttons as a run of all tests has the time for; `npm run login:robot` tries all of them.
const most = 6;

describe("a robot that clicks every link and button of the login and of accounts", () => {
  it("meets no loop, no dead end, no 5xx, no page above 30 KB and no form that is answered with a page", async () => {
    for (const [name, world] of robotWorlds(peer, await peer.addClient())) {
      const explored = await within(peer, world.settings, () => explore(world, most));
      const { tried, stuck, faults } = explored;
      assert.deepEqual({ stuck, faults }, { stuck: [], faults: [] }, name);
      assert.ok(tried > 2, name);
    }
  });
});
