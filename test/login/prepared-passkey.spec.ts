// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator, type Manner } from "../support/authenticator.ts";
import { addPersonNamed, authorizeUrl, password } from "../support/login.ts";
import { loginPages, type LoginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { formOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import { personWithTotp } from "./people.ts";

const page = "/ui/login/passkey/prepare";

let peer: OidcPeer;
let client: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  client = await peer.addClient();
  pages = loginPages(peer, client);
  await pages.change("login", { prepare_passkeys: { set: true } });
});
after(() => peer[Symbol.asyncDispose]());

type Person = { id: string; loginName: string };

/** Types name and password in a browser that says that it makes passkeys by itself. */
async function enter(loginName: string, agent = userAgent(peer.issuer)): Promise<UserAgent> {
  await agent.open(authorizeUrl(peer, client, { prompt: "login" }));
  if (agent.last.html.includes('name="login_name"')) await agent.submit({ login_name: loginName });
  await agent.submit({ password, prepares_passkeys: "true" });
  return agent;
}

function optionsIn({ html }: Shown): JsonObject {
  const [, data = ""] = /data-prepare="([^"]*)"/.exec(html) ?? [];
  return JSON.parse(data.replaceAll("&quot;", '"')) as JsonObject;
}

const passkeysOf = async ({ id }: Person): Promise<JsonObject[]> =>
  bodyOf(await peer.get(`/users/${id}`)).user.user.authenticators.web_auth_n;

/** Logs in by password, and has the browser make a passkey. */
async function prepared(person: Person) {
  const agent = await enter(person.loginName);
  assert.equal(pathOf(agent.last), page);
  const authenticator = new Authenticator();
  const { origin } = new URL(peer.issuer);
  const manner: Manner = { page: { origin }, isPresent: false, isVerified: false };
  const credential = authenticator.create(optionsIn(agent.last), manner);
  const shown = await agent.submit({ credential: JSON.stringify(credential) });
  assert.ok(shown.left !== undefined, shown.html);
  return { agent, authenticator };
}

describe("after a log-in by password, where the settings let browsers make passkeys (decision 0334)", () => {
  it("the browser makes one, which is asked of nobody: not at a log-in, not for a change", async () => {
    const alice = await addPersonNamed(peer);
    await prepared(alice);
    assert.deepEqual(
      (await passkeysOf(alice)).map(({ name, is_verified }) => [name, is_verified]),
      [["My passkey", false]],
    );
    const elsewhere = await enter(alice.loginName);
    assert.ok(elsewhere.last.left !== undefined, elsewhere.last.html);
    await elsewhere.open("/ui/account/security/passkeys");
    assert.match(elsewhere.last.html, /Made by your browser after you signed in/);
    const { html } = await elsewhere.submit({ name: "Another one" });
    assert.match(html, /Create a passkey/);
  });

  it("its owner is told of it by mail", async () => {
    const address = `${uniqueName("prepared").replaceAll(" ", "-")}@example.test`;
    const alice = await addPersonNamed(peer, {
      contact: { email: { address, is_verified: true } },
    });
    await prepared(alice);
    const { to, text } = await pages.lastMail();
    assert.equal(to, address);
    assert.match(text, /has a new passkey/);
  });

  it("nothing holds a log-in up: no passkey, what is none, or what is another's", async () => {
    const alice = await addPersonNamed(peer);
    const { origin } = new URL(peer.issuer);
    const foreign = new Authenticator().create(
      { rp: { id: "localhost" }, challenge: "AAAA" },
      { page: { origin } },
    );
    for (const credential of ["", "{", "{}", JSON.stringify(foreign)]) {
      const agent = await enter(alice.loginName);
      assert.equal(pathOf(agent.last), page);
      const shown = await agent.submit({ credential });
      assert.ok(shown.left !== undefined, shown.html);
    }
    assert.deepEqual(await passkeysOf(alice), []);
  });

  it("the page may be loaded again; once it was answered it leads on", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await enter(alice.loginName);
    const { url, html } = agent.last;
    const again = await agent.open(url.href);
    assert.deepEqual(optionsIn(again), optionsIn({ html } as Shown));
    await pages.change("login", { prepare_passkeys: { set: false } });
    const off = await agent.open(url.href);
    await pages.change("login", { prepare_passkeys: { set: true } });
    assert.ok(off.left !== undefined, off.html);
  });

  it("none is made where the browser makes none, where there is one, and where the settings do not let it", async () => {
    const [alice, bob, carol] = [
      await addPersonNamed(peer),
      await addPersonNamed(peer),
      await addPersonNamed(peer),
    ];
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, client));
    await agent.submit({ login_name: alice.loginName });
    assert.match(agent.last.html, /data-prepares-passkeys/);
    assert.ok((await agent.submit({ password })).left !== undefined);

    await prepared(bob);
    assert.ok((await enter(bob.loginName)).last.left !== undefined);

    for (const name of ["prepare_passkeys", "passkeys_allowed"]) {
      await pages.change("login", { [name]: { set: false } });
      const other = userAgent(peer.issuer);
      await other.open(authorizeUrl(peer, client));
      await other.submit({ login_name: carol.loginName });
      assert.doesNotMatch(other.last.html, /data-prepares-passkeys/);
      const shown = await other.submit({ password, prepares_passkeys: "true" });
      assert.ok(shown.left !== undefined, name);
      await pages.change("login", {
        prepare_passkeys: { set: true },
        passkeys_allowed: { reset: true },
      });
    }
  });

  it("none is made for whoever has a second factor and was spared it by a trusted browser (L2, L6)", async () => {
    await pages.change("login", { trusted_browser_lifetime: { set: "3600s" } });
    const alice = await personWithTotp(peer);
    const agent = await enter(alice.loginName);
    assert.equal(pathOf(agent.last), "/ui/login/mfa/totp");
    await agent.submit({ code: alice.next(), trust: "true" });
    assert.equal(pathOf(agent.last), page, "who has just proven both may get one");
    await agent.submit({ credential: "" });
    peer.pass(301_000);
    assert.ok((await enter(alice.loginName, agent)).last.left !== undefined);
    await pages.change("login", { trusted_browser_lifetime: { reset: true } });
  });

  it("a passkey that was used counts from then on: it is asked for beside the password", async () => {
    const alice = await addPersonNamed(peer);
    const { authenticator } = await prepared(alice);
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, client));
    const [, data = ""] = /data-options="([^"]*)"/.exec(agent.last.html) ?? [];
    const options = JSON.parse(data.replaceAll("&quot;", '"')) as JsonObject;
    const { origin } = new URL(peer.issuer);
    const credential = JSON.stringify(authenticator.get(options, { page: { origin } }));
    const { fields } = formOf(agent.last.html);
    const shown = await agent.open("/ui/login/passkey", {
      method: "POST",
      body: new URLSearchParams({ ...fields, credential }),
      headers: { origin, "sec-fetch-site": "same-origin" },
    });
    assert.ok(shown.left !== undefined, shown.html);
    assert.equal((await passkeysOf(alice))[0]?.["is_verified"], true);
    const elsewhere = await enter(alice.loginName);
    assert.equal(pathOf(elsewhere.last), "/ui/login/mfa");
  });
});
