// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accountPaths } from "../../src/account/paths.ts";
import { Authenticator } from "../support/authenticator.ts";
import { personWithTotp } from "../login/people.ts";
import { addPersonNamed, signIn } from "../support/login.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { inLanguage, type Shown, userAgent } from "../support/user-agent.ts";
import { atAccount, pathOf } from "./account-world.ts";

let peer: OidcPeer;

before(async () => {
  peer = await startOidc();
});
after(() => peer[Symbol.asyncDispose]());

const linksIn = ({ html }: Shown): string[] =>
  [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = ""]) =>
    href.replaceAll("&amp;", "&"),
  );

describe("the links of an account", () => {
  it("lead to pages, from each of which there is a way to every other, and none to nowhere", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await atAccount(peer, loginName);
    const seen = new Map<string, readonly string[]>();
    const waiting: string[] = [accountPaths.overview];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      peer.pass(1_000);
      const shown = await agent.open(path);
      assert.equal(shown.status, 200, path);
      const links = linksIn(shown).filter((href) => href.startsWith("/ui/account"));
      seen.set(path, links);
      waiting.push(...links);
    }
    const paths = new Set([...seen.keys()].map((path) => path.split("?", 1)[0]));
    // Of a passkey that is there, or is being made.
    const begun: readonly string[] = [accountPaths.newPasskey, accountPaths.passkeyName];
    assert.deepEqual(
      Object.values(accountPaths).filter((path) => !begun.includes(path) && !paths.has(path)),
      [],
    );
    for (const [path, links] of seen) {
      if (path.includes("as=file")) continue;
      assert.ok(links.includes(accountPaths.overview), path);
    }
  });

  it("lead to as many passkeys as a person can have, ten to a page, the newest first, in 30 KB each", async () => {
    const { id, loginName, next } = await personWithTotp(peer);
    const agent = userAgent(peer.issuer);
    await agent.open(accountPaths.overview);
    await signIn(agent, loginName);
    assert.equal(pathOf(await agent.submit({ code: next() })), accountPaths.overview);
    const names = Array.from({ length: 50 }, (_, index) => `Key number ${index + 1}`);
    for (const web_auth_n_name of names) {
      const begun = bodyOf(await peer.post(`/users/${id}/webauthn`, { domain: "localhost" }));
      const options = begun.public_key_credential_creation_options;
      const page = { origin: peer.issuer };
      const public_key_credential = new Authenticator().create(options, { page });
      const verify = `/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`;
      bodyOf(await peer.post(verify, { public_key_credential, web_auth_n_name }));
    }
    const seen: string[] = [];
    for (let from = 0; from < names.length; from += 10) {
      const path = `${accountPaths.passkeys}?from=${from}`;
      const shown = await agent.open(from === 0 ? accountPaths.passkeys : path);
      assert.ok(Buffer.byteLength(shown.html) <= 30 * 1024, `${Buffer.byteLength(shown.html)}`);
      seen.push(
        ...Array.from(shown.html.matchAll(/<bdi>(Key number \d+)</g), ([, name = ""]) => name),
      );
      const links = linksIn(shown);
      assert.equal(links.includes(`${accountPaths.passkeys}?from=${from + 10}`), from < 40);
    }
    assert.deepEqual(seen, names.toReversed());
  });

  it("are in another language as well, which stays chosen", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await atAccount(peer, loginName);
    const shown = await agent.open(inLanguage(agent.last, "pl"));
    assert.equal(pathOf(shown), accountPaths.overview);
    assert.match(shown.html, /<html lang="pl"/);
    assert.match((await agent.open(accountPaths.data)).html, /<html lang="pl"/);
  });

  it("begin at the bare address: the account of who is signed in, else the login", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await atAccount(peer, loginName);
    for (const address of ["/", "/ui/login", "/ui/login/signedin", "/ui/account/"]) {
      assert.equal(pathOf(await agent.open(address)), accountPaths.overview, address);
    }
    const asked = await agent.open("/ui/login/logout");
    assert.equal(pathOf(asked), "/ui/login/logout");
    await agent.submit({});
    assert.equal(pathOf(await agent.open("/")), "/ui/login/loginname");
  });

  it("is no page at the bare address for a program that asks for JSON", async () => {
    const answer = await fetch(`${peer.issuer}/`, { headers: { accept: "application/json" } });
    assert.equal(answer.status, 404);
    const { code, details } = Object(await answer.json());
    assert.deepEqual([code, details[0].reason], [5, "ROUTE_NOT_FOUND"]);
  });
});
