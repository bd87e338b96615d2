// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { addPersonNamed, password } from "../support/login.ts";
import { bodyOf } from "../support/peer.ts";
import { onDevices } from "../login/devices.ts";
import { type Journeys, startJourneys } from "../login/journey.ts";
import { journeyAtAccount } from "./account-world.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

const onDevice = onDevices();

describe("the account in a browser", () => {
  onDevice("changes name and language of the person", async (device) => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page
      .getByRole("link", { name: /Profile/ })
      .last()
      .click();
    await journey.at("/ui/account/profile");
    await page.selectOption('select[name="preferred_language"]', "de");
    await journey.submit({ given_name: "Alicia", family_name: "Keys", nickname: "Ali" });
    await journey.at("/ui/account/profile", "profile-saved");
    assert.equal(await page.locator("html").getAttribute("lang"), "de");
    const { user } = bodyOf(await peer.get(`/users/${alice.id}`));
    const { given_name, family_name, nickname, preferred_language } = Object(user.user.data);
    assert.deepEqual(
      [given_name, family_name, nickname, preferred_language],
      ["Alicia", "Keys", "Ali", "de"],
    );
  });

  onDevice("changes the password, and goes on by the new one", async (device) => {
    const alice = await addPersonNamed(journeys.peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page.goto(`${journeys.peer.issuer}/ui/account/security/password`);
    await journey.at("/ui/account/security/password");
    const wanted = "another horse battery staple";
    await journey.submit({ password: "wrong", new_password: wanted });
    await journey.at("/ui/account/security/password", "password-wrong");
    await journey.submit({ password, new_password: "short" });
    await journey.at("/ui/account/security/password", "password-short");
    await journey.submit({ password, new_password: wanted });
    await journey.at("/ui/account/security");
    await using other = await journeys.begin();
    await other.at("/ui/login/loginname");
    await other.submit({ login_name: alice.loginName });
    await other.at("/ui/login/password");
    await other.submit({ password: wanted });
    assert.equal((await other.home()).claims?.sub, alice.id);
  });
});
