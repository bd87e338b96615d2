// Run: alone, early
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import type { OidcPeer } from "../support/oidc.ts";
import { regressions } from "./regressions.ts";
import { startTried, targets } from "./targets.ts";

const runs = 60;
const seed = 20_261_121;

let peer: OidcPeer;
before(async () => {
  peer = await startTried();
});
after(() => peer[Symbol.asyncDispose]());

const check = async (name: string, parameters: fc.Parameters<unknown>) => {
  const target = targets.find((each) => each.name === name);
  assert.ok(target, name);
  await fc.assert(target.property(peer) as fc.IAsyncProperty<unknown>, parameters);
};

describe("inputs that nobody would send (decision 0090)", () => {
  for (const { name, share = 1, isLong = false } of targets) {
    if (isLong) continue;
    it(`break nothing: ${name}`, () => check(name, { seed, numRuns: runs * share }));
  }
  for (const { target, seed: found, path } of regressions) {
    it(`found before: ${target}, seed ${found}, ${path}`, () =>
      check(target, { seed: found, path, endOnFailure: true }));
  }
});
