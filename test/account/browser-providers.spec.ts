// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { addPersonNamed } from "../support/login.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { onDevices } from "../login/devices.ts";
import { type Journeys, startJourneys } from "../login/journey.ts";
import { journeyAtAccount } from "./account-world.ts";

let journeys: Journeys;
let fake: FakeProvider;

before(async () => {
  journeys = await startJourneys();
  fake = await startFakeProvider();
});
after(async () => {
  await journeys[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});
beforeEach(() => fake.reset());

const userOf = async (id: string) => bodyOf(await journeys.peer.get(`/users/${id}`)).user.user;

/** A provider whose accounts may be linked; its name. */
async function addProvider(): Promise<string> {
  const { issuer, clientId: client_id, secret: client_secret } = fake;
  const name = uniqueName("Forge");
  const idp = { name, options: { is_linking_allowed: true } };
  const config = { issuer, client_id, client_secret };
  bodyOf(await journeys.peer.post("/idps/forge_b", { idp, config }), 201);
  return name;
}

describe("an account at a provider, in a browser", () => {
  onDevices()("is linked and unlinked", async (device) => {
    const { peer } = journeys;
    const name = await addProvider();
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/security/providers`);
    await journey.at("/ui/account/security/providers", "providers");
    await page.getByRole("button", { name: `Connect ${name}` }).click();
    await page.waitForURL((url) => url.search.includes("LINKED"));
    await journey.at("/ui/account/security/providers", "providers-linked");
    assert.equal((await userOf(alice.id)).authenticators.identity_providers.length, 1);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.waitForURL((url) => url.search.includes("REMOVED"));
    await journey.at("/ui/account/security/providers", "providers-unlinked");
    assert.equal((await userOf(alice.id)).authenticators.identity_providers.length, 0);
  });

  it("is nobody else's: it stays with who has linked it", async () => {
    const { peer } = journeys;
    const name = await addProvider();
    const [alice, bob] = [await addPersonNamed(peer), await addPersonNamed(peer)];
    for (const [{ loginName }, isFirst] of [
      [alice, true],
      [bob, false],
    ] as const) {
      await using journey = await journeyAtAccount(journeys, loginName);
      const { page } = journey;
      await page.goto(`${peer.issuer}/ui/account/security/providers`);
      await page.getByRole("button", { name: `Connect ${name}` }).click();
      if (isFirst) await page.waitForURL((url) => url.search.includes("LINKED"));
      else await page.locator('main[data-error="PROVIDER_NOT_LINKED"]').waitFor();
    }
    assert.equal((await userOf(bob.id)).authenticators.identity_providers.length, 0);
  });

  it("is not unlinked where it is the only way in", async () => {
    const { peer } = journeys;
    const name = await addProvider();
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName);
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/security/providers`);
    await page.getByRole("button", { name: `Connect ${name}` }).click();
    await page.waitForURL((url) => url.search.includes("LINKED"));
    // With the password all sessions end: the account at the provider is what is left.
    bodyOf(await peer.remove(`/users/${alice.id}/password`));
    await page.goto(`${peer.issuer}/ui/account/security/providers`);
    await journey.at("/ui/login/loginname");
    await page.getByRole("button", { name: `Continue with ${name}` }).click();
    await journey.at("/ui/account/security/providers");
    await page.getByRole("button", { name: "Remove" }).click();
    await journey.at("/ui/account/security/providers", "providers-last");
    assert.match(await page.innerText("main"), /your only way to sign in/);
    assert.equal((await userOf(alice.id)).authenticators.identity_providers.length, 1);
  });
});
