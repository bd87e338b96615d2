import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startProviderWorld, type ProviderWorld } from "./provider-world.ts";

let world: ProviderWorld;
before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());

describe("the login with an identity provider", () => {
  it("creates an account by itself where the options say so, and finds it again", async () => {
    const { fake } = world;
    fake.reset();
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const first = await world.logIn(idpId);
    const { sub } = await world.claimsOf(first);
    const again = await world.logIn(idpId);
    assert.equal((await world.claimsOf(again)).sub, sub);
  });
});
