// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { addPersonNamed, password } from "../support/login.ts";
import { bodyOf } from "../support/peer.ts";
import { onDevices } from "./devices.ts";
import { type Journey, type Journeys, startJourneys } from "./journey.ts";

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

let made = 0;
async function addProvider(options: JsonObject, type = "forge_b", more: JsonObject = {}) {
  const { issuer, clientId: client_id, secret: client_secret } = fake;
  made += 1;
  const name = `Forge ${made}`;
  const config = { issuer, client_id, client_secret, ...more };
  bodyOf(await journeys.peer.post(`/idps/${type}`, { idp: { name, options }, config }), 201);
  return `Continue with ${name}`;
}
const press = async ({ page }: Journey, button: string) =>
  page.getByRole("button", { name: button }).click();

describe("the login with an identity provider in a browser", () => {
  onDevices()("links the account once, and then goes straight through", async (device) => {
    const button = await addProvider({ is_linking_allowed: true, is_creation_allowed: true });
    const alice = await addPersonNamed(journeys.peer);
    await using journey = await journeys.begin(device);
    await journey.at("/ui/login/loginname", "providers");
    await press(journey, button);
    await journey.at("/ui/login/idp/account", "provider-account");
    await press(journey, "Sign in and connect");
    await journey.at("/ui/login/loginname", "provider-sign-in-to-connect");
    await journey.submit({ login_name: alice.loginName });
    await journey.at("/ui/login/password");
    await journey.submit({ password });
    assert.equal((await journey.home()).claims?.sub, alice.id);
    await using second = await journeys.begin(device);
    await second.at("/ui/login/loginname");
    await press(second, button);
    const { claims } = await second.home();
    assert.equal(claims?.sub, alice.id);
    assert.deepEqual(claims?.amr, ["ext"]);
  });

  it("makes an account of what the provider tells, once it was looked at", async () => {
    const button = await addProvider({ is_creation_allowed: true });
    await using journey = await journeys.begin();
    await journey.at("/ui/login/loginname");
    await press(journey, button);
    await journey.at("/ui/login/idp/register", "provider-register");
    await journey.submit({ family_name: "Lisa Gherardini" });
    assert.ok((await journey.home()).claims?.sub);
  });

  it("says what happened where the user cancels, and where the provider is down or off", async () => {
    const button = await addProvider({ is_auto_creation: true });
    await using journey = await journeys.begin();
    await journey.at("/ui/login/loginname");
    fake.script.error = "access_denied";
    await press(journey, button);
    await journey.at("/ui/login/loginname", "provider-cancelled");
    assert.ok(await journey.page.getByText("Signing in was cancelled").isVisible());
    fake.script.isDown = "/token";
    fake.script.error = undefined;
    await press(journey, button);
    await journey.at("/idps/callback", "provider-down");
    assert.equal(await journey.page.getAttribute("main", "data-error"), "PROVIDER_UNAVAILABLE");
    await journey.page.getByText("Try another way").click();
    await journey.at("/ui/login/loginname");
    fake.script.isDown = false;
    await press(journey, button);
    assert.ok((await journey.home()).claims?.sub);
  });
});
