// Run: shared, store
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { consoleAgents } from "./console-agents.ts";

let shift = 0;
const peer = await startOidc({ now: () => new Date(Date.now() + shift) });
after(() => peer[Symbol.asyncDispose]());
const { mayCall, enter } = consoleAgents(peer);

const names = ["console_session_lifetime", "console_idle_expiration"] as const;

/** Sets limits; those that are not named are what they were at first. */
async function limits(set: Partial<Record<(typeof names)[number], string>>): Promise<void> {
  const wished = names.map((name) => [name, set[name] ? { set: set[name] } : { reset: true }]);
  const body = Object.fromEntries(wished) as JsonObject;
  const { token } = peer.app;
  bodyOf(await peer.peer.rest("PATCH", "/settings/v3alpha/security", body, { token }));
}

describe("the limits of a session of the console (K4, decision 0383)", () => {
  afterEach(() => limits({}));

  it("end it after a time without a call", async () => {
    await limits({ console_idle_expiration: "120s" });
    const { agent } = await enter();
    for (let n = 0; n < 3; n++) {
      shift += 80_000;
      assert.ok(await mayCall(agent));
    }
    shift += 120_000;
    assert.ok(!(await mayCall(agent)));
  });

  it("end it after the longest time, however often it calls", async () => {
    await limits({ console_session_lifetime: "600s" });
    const { agent } = await enter();
    for (let n = 0; n < 11; n++) {
      shift += 50_000;
      assert.ok(await mayCall(agent));
    }
    shift += 50_000;
    assert.ok(!(await mayCall(agent)));
  });

  it("are twelve hours, and one without a call, where nothing is set", async () => {
    const { agent } = await enter();
    for (let n = 0; n < 12; n++) {
      shift += 59 * 60_000;
      assert.ok(await mayCall(agent));
    }
    shift += 13 * 60_000;
    assert.ok(!(await mayCall(agent)));
    const { agent: idle } = await enter();
    shift += 3_600_000;
    assert.ok(!(await mayCall(idle)));
  });

  for (const name of names) {
    it(`end one that is there at once when ${name} is made shorter, for good`, async () => {
      const { agent } = await enter();
      const { agent: silent } = await enter();
      shift += 300_000;
      await limits({ [name]: "330s" });
      assert.ok(await mayCall(agent));
      shift += 31_000;
      assert.equal(await mayCall(agent), name === "console_idle_expiration");
      assert.ok(!(await mayCall(silent)));
      // A call was refused: no longer limit brings it back.
      await limits({});
      assert.ok(!(await mayCall(silent)));
    });
  }

  it("count from the last call when made shorter, not from one long before", async () => {
    const { agent } = await enter();
    shift += 200_000;
    await limits({ console_idle_expiration: "300s" });
    for (let n = 0; n < 3; n++) {
      assert.ok(await mayCall(agent));
      shift += 200_000;
    }
    assert.ok(await mayCall(agent));
    shift += 300_000;
    assert.ok(!(await mayCall(agent)));
  });

  it("are longer for whoever calls after they were made so, and bring back nobody who had left", async () => {
    await limits({ console_idle_expiration: "120s" });
    const { agent } = await enter();
    const { agent: left } = await enter();
    shift += 100_000;
    assert.ok(await mayCall(agent));
    shift += 30_000;
    await limits({ console_idle_expiration: "3600s" });
    assert.ok(await mayCall(agent));
    shift += 3_000_000;
    assert.ok(await mayCall(agent));
    assert.ok(!(await mayCall(left)));
    await limits({ console_session_lifetime: "60s" });
    const { agent: over } = await enter();
    shift += 61_000;
    await limits({});
    assert.ok(!(await mayCall(over)));
  });
});
