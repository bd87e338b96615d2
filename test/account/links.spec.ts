// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accountPaths } from "../../src/account/paths.ts";
import { addPersonNamed } from "../support/login.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import type { Shown } from "../support/user-agent.ts";
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
      waiting.push(...links.filter((href) => !href.includes("ui_locales")));
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

  it("are in another language as well, which stays chosen", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await atAccount(peer, loginName);
    const polish = linksIn(agent.last).find((href) => href.includes("ui_locales=pl"));
    const shown = await agent.open(polish ?? "");
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
});
