import assert from "node:assert/strict";
import { text as allOf } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { authorizeUrl, password, signIn } from "../../support/login.ts";
import { basic, paths, redirectUri } from "../../support/oidc.ts";
import { answerOf, userAgent } from "../../support/user-agent.ts";
import { bodyOf } from "../../support/peer.ts";
import { aName, dialogOf, done, go, rowOf, type Task, titled, type World } from "../tasks.ts";
import { peer } from "../visits.ts";

const userOf = async (id: string) => bodyOf(await peer.get(`/users/${id}`)).user;

/** A person of the organization with a password. */
async function somebody({ organizationId }: World): Promise<{ id: string; name: string }> {
  const name = aName("grace");
  const id = await peer.addPerson(
    {
      username: name,
      data: { given_name: name, family_name: "Hopper" },
      authenticators: { password: { password } },
      contact: { email: { address: `${name}@heron.test`, is_verified: true } },
    },
    organizationId,
  );
  return { id, name: `${name} Hopper` };
}

/**
 * An app that somebody is signed in to and that keeps something of them: its name, and what it holds. One of another organization asks them
 * for consent before, one of their own does not.
 */
async function signedInTo(
  userId: string,
  projectId?: string,
): Promise<{ appName: string; refresh: () => Promise<number> }> {
  const isOwn = projectId !== undefined;
  const client = await peer.addClient({}, isOwn ? { project_id: projectId } : {});
  const { user } = bodyOf(await peer.get(`/users/${userId}`));
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client, { scope: "openid offline_access" }));
  const shown = await signIn(agent, user.user.login_names[0]);
  const last = isOwn ? shown : await agent.submit({ consent: "allow" });
  const code = answerOf(last).get("code") ?? "";
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  const { body } = await peer.send(paths.token, form, basic(client));
  const refreshing = { grant_type: "refresh_token", refresh_token: body.refresh_token };
  const { app } = bodyOf(await peer.get(`/apps/${client.appId}`));
  return {
    appName: app.app.name,
    refresh: async () => (await peer.send(paths.token, refreshing, basic(client))).status,
  };
}

async function session(id: string): Promise<void> {
  const checks = { user: { user_id: id }, password: { password } };
  bodyOf(await peer.post("/sessions", { checks }), 201);
}

async function setPasswordWrongly(id: string): Promise<void> {
  const checks = { user: { user_id: id }, password: { password: "wrong" } };
  assert.notEqual((await peer.post("/sessions", { checks })).status, 201);
}

export const people: readonly Task[] = [
  {
    name: "1 finds a person by e-mail, phone, ID and external ID",
    role: "ORG_USER_MANAGER",
    async run({ page, press }, { userId }) {
      await go(page, "/people");
      for (const text of ["ada@heron", "+15550123456", "+1 (555) 012-3456", userId, "HR-1815"]) {
        await press(/^Search/);
        await page.getByRole("combobox", { name: "Search" }).fill(text);
        await page.getByRole("option").filter({ hasText: "Ada Lovelace" }).waitFor();
        await page.keyboard.press("Enter");
        await titled(page, "Ada Lovelace");
      }
    },
  },
  {
    name: "2 sees why a person cannot log in",
    role: "ORG_USER_MANAGER",
    async run({ page, follow }, world) {
      const { id, name } = await somebody(world);
      await setPasswordWrongly(id);
      await delay(1_100); // what was refused is written once a second
      await go(page, `/people/${id}`);
      await titled(page, name);
      await follow("Refused attempts");
      await rowOf(page, "Wrong password or code").waitFor();
    },
  },
  {
    name: "3 locks and unlocks a person",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm }, { userId }) {
      await go(page, `/people/${userId}`);
      await open("Lock: Ada Lovelace");
      await confirm("Lock");
      await done(page, "Lock");
      assert.equal((await userOf(userId)).state, "USER_STATE_LOCKED");
      await open("Unlock: Ada Lovelace");
      await confirm("Unlock");
      await done(page, "Unlock");
      assert.equal((await userOf(userId)).state, "USER_STATE_INITIAL");
    },
  },
  {
    name: "4 sends a person a reset of their password",
    role: "ORG_OWNER",
    async run({ page, open, confirm, follow, check }, world) {
      const { id } = await somebody(world);
      await go(page, `/people/${id}`);
      await follow("Credentials");
      await open("Send a reset");
      await check("By e-mail");
      await confirm("Send a reset");
      await done(page, "Send a reset");
    },
  },
  {
    name: "5 removes a second factor that a person lost",
    role: "ORG_OWNER",
    async run({ page, open, confirm, follow }, world) {
      const { id, name } = await somebody(world);
      const phone = { number: "+15550199", is_verified: true };
      bodyOf(await peer.post(`/users/${id}/otp_sms`, phone));
      await go(page, `/people/${id}`);
      await titled(page, name);
      await follow("Credentials");
      await open("Remove: +15550199");
      await confirm("Remove");
      await done(page, "Remove");
      assert.deepEqual((await userOf(id)).user.authenticators.otp_sms, []);
    },
  },
  {
    name: "6 ends the sessions of a person",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm, follow }, { userId }) {
      await go(page, `/people/${userId}`);
      await follow("Sessions");
      await open("End all sessions");
      await confirm("End all sessions");
      await done(page, "End all sessions");
    },
  },
  {
    name: "7 creates a person with a password, and invites one",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm, fill, check }, { organizationId }) {
      const ways = [
        ["Grace", "Give them a password", "Password", "Correct-horse-9"],
        ["Alan", "Invite them by e-mail", "E-mail", `${aName("alan")}@heron.test`],
      ] as const;
      for (const [given, way, label, text] of ways) {
        await go(page, `/people?org=${organizationId}`);
        await open("Create a person");
        await fill("Username", aName("new"));
        await fill("Given name", given);
        await fill("Family name", "Hopper");
        await check(way);
        await fill(label, text);
        await confirm("Create a person");
        await titled(page, `${given} Hopper`);
        await done(page, "Create a person");
      }
    },
  },
  {
    name: "8 deactivates a person, whose sessions end",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm, follow }, world) {
      const { id, name } = await somebody(world);
      await session(id);
      await go(page, `/people/${id}?tab=sessions`);
      await page
        .getByRole("button", { name: /^End: / })
        .first()
        .waitFor();
      await follow("Overview");
      await open(`Deactivate: ${name}`);
      await confirm("Deactivate");
      await done(page, "Deactivate");
      assert.equal((await userOf(id)).state, "USER_STATE_INACTIVE");
      await follow("Sessions");
      await page.getByRole("heading", { level: 2, name: "Sessions" }).waitFor();
      await page
        .getByRole("button", { name: /^End: / })
        .first()
        .waitFor({ state: "detached" });
      assert.equal(
        bodyOf(await peer.post("/sessions/_search", [{ user_id: id }])).result.length,
        0,
      );
    },
  },
  {
    name: "15 creates a machine with a key",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm, follow, fill }, { organizationId }) {
      await go(page, `/people?org=${organizationId}`);
      await open("Create a machine");
      await fill("Username", aName("machine"));
      await fill("Name", "Robot");
      await confirm("Create a machine");
      await titled(page, "Robot");
      await done(page, "Create a machine");
      await follow("Credentials");
      await open("Add a key");
      await confirm("Add a key");
      await dialogOf(page).getByText("This is shown once", { exact: false }).waitFor();
      const kept = page.waitForEvent("download");
      await confirm("Save as a file");
      assert.match(await allOf(await (await kept).createReadStream()), /PRIVATE KEY/);
      await confirm("Close");
      await done(page, "Add a key");
    },
  },
  {
    name: "24 makes somebody an administrator with few rights",
    role: "ORG_OWNER",
    async run({ page, open, confirm, follow, check, pick }, world) {
      const { id, name } = await somebody(world);
      await go(page, `/organizations/${world.organizationId}`);
      await titled(page, "Heron");
      await follow("Access");
      await open("Add an administrator");
      await pick("Person", name, name);
      await check("ORG_USER_MANAGER");
      await confirm("Add an administrator");
      // What others had set for them before they came to power.
      await dialogOf(page)
        .getByRole("heading", { name: /^What ended, or stays/ })
        .waitFor();
      // On a phone there is no head of a table: each value says what it is.
      await dialogOf(page).locator('td[data-title="Stays"]').first().waitFor();
      await confirm("Close");
      await done(page, "Add an administrator");
      await rowOf(page, name).waitFor();
      const found = bodyOf(
        await peer.post("/memberships/_search", [{ in_user_ids: { ids: [id] } }]),
      );
      assert.deepEqual(found.result[0].membership.roles, ["ORG_USER_MANAGER"]);
    },
  },
  {
    name: "16 sees and ends what an application holds of a person",
    role: "ORG_USER_MANAGER",
    async run({ page, open, confirm, follow }, world) {
      const { id, name } = await somebody(world);
      const { appName, refresh } = await signedInTo(id);
      const own = await signedInTo(id, world.projectId);
      await go(page, `/people/${id}`);
      await titled(page, name);
      await follow("Sessions");
      const row = page
        .getByRole("table", { name: "What applications may do for them" })
        .getByRole("row")
        .filter({ hasText: appName });
      await row.getByText("offline_access").waitFor();
      // Where they are signed in names applications whether or not they ask for consent.
      const signIns = page.getByRole("table", { name: "Where they are signed in" });
      await signIns.getByText(appName, { exact: false }).waitFor();
      await open(`Withdraw: ${appName}`);
      await confirm("Withdraw");
      await done(page, "Withdraw");
      await row.waitFor({ state: "detached" });
      assert.equal(await refresh(), 400);
      // What an application holds that asks nobody ends with the session.
      const browser = signIns.getByRole("row").filter({ hasText: own.appName });
      await browser.getByRole("button", { name: /^End: / }).focus();
      await page.keyboard.press("Enter");
      await confirm("End");
      await done(page, "End");
      await browser.waitFor({ state: "detached" });
      assert.equal(await own.refresh(), 400);
    },
  },
];
