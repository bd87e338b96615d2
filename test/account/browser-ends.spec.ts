// Run: shared, browser, turns
import assert from "node:assert/strict";
import { text as textOf } from "node:stream/consumers";
import { after, before, describe } from "node:test";
import { addPersonNamed } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { onDevices } from "../login/devices.ts";
import { type Journeys, startJourneys } from "../login/journey.ts";
import { journeyAtAccount, stepUp } from "./account-world.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

const onDevice = onDevices();

describe("what is of a person, in a browser", () => {
  onDevice("ends one other session, and then all others", async (device) => {
    const { peer } = journeys;
    const { loginName } = await addPersonNamed(peer);
    await using one = await journeyAtAccount(journeys, loginName, device);
    await using two = await journeyAtAccount(journeys, loginName, device);
    await using three = await journeyAtAccount(journeys, loginName, device);
    await one.page.goto(`${peer.issuer}/ui/account/sessions`);
    await one.at("/ui/account/sessions", "sessions");
    const main = one.page.locator("main");
    assert.match(await main.innerText(), /Chrome · /);
    assert.match(await main.innerText(), /127\.0\.0\.1|::1/);
    const ends = one.page.getByRole("button", { name: /^Sign out Chrome/ });
    assert.equal(await ends.count(), 2);
    await ends.first().click();
    await one.page.waitForURL((url) => url.search.includes("SESSIONS_ENDED"));
    assert.equal(await ends.count(), 1);
    await one.page.getByRole("button", { name: "Sign out everywhere else" }).click();
    await one.page.waitForURL((url) => url.search.includes("SESSIONS_ENDED"));
    await one.at("/ui/account/sessions", "sessions-one");
    assert.equal(await ends.count(), 0);
    for (const { page } of [two, three]) {
      await page.goto(`${peer.issuer}/ui/account`);
      assert.equal(new URL(page.url()).pathname, "/ui/login/loginname");
    }
    await one.page.goto(`${peer.issuer}/ui/account`);
    await one.at("/ui/account");
  });

  onDevice("shows what an app was allowed, and takes it back", async (device) => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    const scope = "openid offline_access urn:idsvc:iam:org:project:id:idsvc:aud";
    await using journey = await journeys.begin({
      ...device,
      from: journeys.app.login({ scope }),
    });
    const { page } = journey;
    await journey.signIn(alice.loginName);
    await journey.at("/ui/login/consent");
    await journey.submit();
    await journey.home();
    await page.goto(`${peer.issuer}/ui/account/apps`);
    await journey.at("/ui/account/apps", "apps");
    assert.match(await page.innerText("main"), /Only read my own account/);
    // What our own API is called in scopes is no word of people.
    assert.doesNotMatch(await page.innerText("main"), /urn:/);
    await page.getByRole("button", { name: /Take back/ }).click();
    await page.waitForURL((url) => url.search.includes("ACCESS_REVOKED"));
    await journey.at("/ui/account/apps", "apps-none");
    assert.match(await page.innerText("main"), /Nothing here/);
    const search = [{ user_id: alice.id }];
    assert.equal(bodyOf(await peer.post("/consents/_search", search)).result.length, 0);
  });

  onDevice(
    "shows what happened: log-ins, failures and changes, with browser and address",
    async (device) => {
      const { peer } = journeys;
      const { loginName } = await addPersonNamed(peer);
      await using journey = await journeys.begin({ ...device, from: `${peer.issuer}/ui/account` });
      const { page } = journey;
      await journey.submit({ login_name: loginName });
      await journey.at("/ui/login/password");
      await journey.submit({ password: "wrong" });
      await journey.at("/ui/login/password");
      await journey.submit({ password: "correct horse battery staple" });
      await journey.at("/ui/account");
      await page.goto(`${peer.issuer}/ui/account/history`);
      await journey.at("/ui/account/history", "history");
      const text = await page.innerText("main");
      assert.match(text, /Chrome · [\s\S]*(?:127\.0\.0\.1|::1)/);
      const [, ...failures] = text.split(/check failed|was wrong|failed/i);
      assert.ok(failures.length > 0, text);
    },
  );

  onDevice(
    "answers a notice of a log-in with it was not me: all sessions end, and a new password follows",
    async (device) => {
      const { peer, app } = journeys;
      const address = `${uniqueName("told").replaceAll(" ", "-")}@example.test`;
      const contact = { email: { address, is_verified: true } };
      const { loginName } = await addPersonNamed(peer, { contact });
      await using known = await journeyAtAccount(journeys, loginName, device);
      await using foreign = await journeyAtAccount(journeys, loginName, device);
      const { lastMail } = loginPages(peer, app.client);
      const { to, text } = await lastMail();
      assert.equal(to, address);
      const link = /https?:[^\s"]+/.exec(text)?.[0].replaceAll("&amp;", "&") ?? "";
      const { page } = known;
      await page.goto(link);
      await known.at("/ui/login/notme", "not-me");
      await known.submit();
      await known.at("/ui/login/password/forgot", "not-me-done");
      await foreign.page.goto(`${peer.issuer}/ui/account`);
      assert.equal(new URL(foreign.page.url()).pathname, "/ui/login/loginname");
      await known.submit();
      await known.at("/ui/login/password/reset", "not-me-new-password");
      const { code } = await lastMail();
      await known.submit({ code, new_password: "another horse battery staple" });
      await page.waitForURL((url) => url.pathname !== "/ui/login/password/reset");
      await page.goto(link);
      await known.submit();
      await known.at("/ui/login/notme", "not-me-used");
    },
  );

  onDevice("gives the data of the person as a file", async (device) => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/data`);
    await journey.at("/ui/account/data", "data");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#submit")]);
    const all = JSON.parse(await textOf(await download.createReadStream()));
    assert.equal(all.user.details.id, alice.id);
    assert.equal(all.user.user.data.given_name, "Ada");
    assert.deepEqual([all.sessions.length, all.is_complete], [1, true]);
    assert.ok(all.events.length > 0);
    const text = JSON.stringify(all);
    assert.doesNotMatch(text, /correct horse|"hash"|"secret"/);
  });

  onDevice("deletes the account", async (device) => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/data`);
    await page.getByRole("link", { name: "Delete your account" }).click();
    await journey.at("/ui/account/delete", "delete");
    await journey.submit();
    await journey.at("/ui/account/delete", "delete-unsure");
    assert.match(await page.innerText("main"), /Please confirm that you understand/);
    peer.pass(6 * 60_000);
    await page.check('input[name="sure"]');
    await journey.submit();
    await stepUp(journey);
    await journey.at("/ui/account/delete", "delete-step-up-done");
    assert.equal((await peer.get(`/users/${alice.id}`)).status, 200);
    await page.check('input[name="sure"]');
    await journey.submit();
    await journey.at("/ui/login/logout/done", "deleted");
    assert.match(await page.innerText("main"), /Your account is deleted/);
    assert.equal((await peer.get(`/users/${alice.id}`)).status, 404);
    await page.goto(`${peer.issuer}/ui/account`);
    await journey.at("/ui/login/loginname");
  });
});
