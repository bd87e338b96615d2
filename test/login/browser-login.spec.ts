// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, password } from "../support/login.ts";
import { turns } from "../support/turns.ts";
import { desktop, type Journeys, phone, startJourneys } from "./journey.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

describe("the login in a browser", () => {
  const inTurn = turns();
  for (const [device, viewport] of Object.entries({ phone, desktop })) {
    const javaScriptEnabled = inTurn([true, false]);
    const scripts = javaScriptEnabled ? "with scripts" : "without scripts";
    it(`leads from the app to the app, past a wrong password: ${device}, ${scripts}`, async () => {
      const alice = await addPersonNamed(journeys.peer);
      await using journey = await journeys.begin({ viewport, javaScriptEnabled });
      await journey.at("/ui/login/loginname");
      await journey.submit({ login_name: alice.loginName });
      await journey.at("/ui/login/password");
      await journey.submit({ password: "wrong" });
      await journey.at("/ui/login/password", "password-wrong");
      assert.ok(
        await journey.page.getByText("Login name or password is wrong").first().isVisible(),
      );
      await journey.submit({ password });
      const { claims } = await journey.home();
      assert.equal(claims?.sub, alice.id);
      // The session counts: nobody is asked again.
      await journey.page.goto(journeys.app.login());
      assert.equal((await journey.home()).claims?.sub, alice.id);
    });
  }

  it("is asked for again by prompt=login and by an old max_age, without the name", async () => {
    const { peer, app } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeys.begin();
    await journey.signIn(alice.loginName);
    await journey.home();
    await journey.page.goto(app.login({ prompt: "login" }));
    await journey.at("/ui/login/password", "step-up");
    await journey.submit({ password });
    await journey.home();
    peer.pass(10_000);
    await journey.page.goto(app.login({ max_age: "5" }));
    await journey.at("/ui/login/password", "max-age");
    await journey.submit({ password });
    const { claims } = await journey.home();
    assert.ok(Number(claims?.auth_time) >= Math.floor(peer.now().getTime() / 1000) - 5);
  });

  it("has a chooser for several accounts: choose, add, remove", async () => {
    const { peer, app } = journeys;
    const [alice, bob, carol] = [
      await addPersonNamed(peer),
      await addPersonNamed(peer, { data: { given_name: "Bob", family_name: "Ross" } }),
      await addPersonNamed(peer, { data: { given_name: "Carol", family_name: "King" } }),
    ];
    await using journey = await journeys.begin();
    const { page } = journey;
    await journey.signIn(alice.loginName);
    await journey.home();
    await page.goto(app.login({ prompt: "select_account" }));
    await journey.at("/ui/login/accounts", "accounts-one");
    await page.getByText("Use another account").click();
    await journey.signIn(bob.loginName);
    assert.equal((await journey.home()).claims?.sub, bob.id);
    // Two sessions: who is meant is asked.
    await page.goto(app.login());
    await journey.at("/ui/login/accounts", "accounts-two");
    await page.getByText(alice.loginName).click();
    assert.equal((await journey.home()).claims?.sub, alice.id);
    await page.goto(app.login({ prompt: "select_account" }));
    await journey.at("/ui/login/accounts");
    await page.getByText("Use another account").click();
    await journey.signIn(carol.loginName);
    assert.equal((await journey.home()).claims?.sub, carol.id);
    await page.goto(app.login({ prompt: "select_account" }));
    await journey.at("/ui/login/accounts", "accounts-three");
    await page.getByRole("button", { name: bob.loginName }).last().click();
    await journey.at("/ui/login/accounts", "accounts-removed");
    assert.equal(await page.getByText(bob.loginName).count(), 0);
    await page.getByText(carol.loginName).click();
    assert.equal((await journey.home()).claims?.sub, carol.id);
  });

  it("has a password changed that must be", async () => {
    const must = { password: { password, change_required: true } };
    const { loginName, id } = await addPersonNamed(journeys.peer, { authenticators: must });
    await using journey = await journeys.begin({ viewport: phone });
    await journey.signIn(loginName);
    await journey.at("/ui/login/password/change");
    await journey.submit({ password, new_password: "short" });
    await journey.at("/ui/login/password/change", "change-wrong");
    await journey.submit({ password, new_password: "another horse battery staple" });
    assert.equal((await journey.home()).claims?.sub, id);
  });
});
