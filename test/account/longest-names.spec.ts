// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accountPaths } from "../../src/account/paths.ts";
import { addPersonNamed, signIn } from "../support/login.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { type Shown, userAgent } from "../support/user-agent.ts";
import { startFakeProvider } from "../support/fake-provider.ts";
import { atAccount } from "./account-world.ts";

const largest = 30 * 1024;
const longest = (start: string) => `${start} ${"𝒜".repeat(199 - start.length)}`;

let peer: OidcPeer;

before(async () => {
  peer = await startOidc();
});
after(() => peer[Symbol.asyncDispose]());

function requireSmall({ html, status, url }: Shown): void {
  assert.equal(status, 200, url.pathname);
  assert.ok(Buffer.byteLength(html) <= largest, `${url.pathname}: ${Buffer.byteLength(html)}`);
}

describe("an account whose names are as long as they may be", () => {
  it("has 30 KB on every page, and sets up an authenticator app", async () => {
    const username = "𝒜".repeat(200);
    const data = { given_name: longest("Ada"), family_name: longest("Lovelace") };
    await addPersonNamed(peer, { username, data });
    const agent = await atAccount(peer, username);
    for (const path of Object.values(accountPaths)) requireSmall(await agent.open(path));
    await agent.open(accountPaths.authenticator);
    const shown = await agent.submit({ begin: "true" });
    assert.match(shown.html, /<svg class="qr"/);
    requireSmall(shown);
  });

  it("has a part of the log-ins on each page where there are many, with this one first", async () => {
    const { loginName } = await addPersonNamed(peer);
    for (let at = 0; at < 13; at += 1) await atAccount(peer, loginName);
    const agent = await atAccount(peer, loginName);
    const countOf = ({ html }: Shown) => html.split('<li><span class="sign">').length - 1;
    const first = await agent.open(accountPaths.sessions);
    assert.equal(countOf(first), 12);
    assert.match(first.html, /Older/);
    const second = await agent.open(`${accountPaths.sessions}?from=12`);
    assert.equal(countOf(second), 2);
    // Also from a part that shows one's own alone, the others can be ended.
    assert.match(second.html, /name="others"/);
  });
});

describe("the providers that a person can connect", () => {
  it("are found by a part of their name, and go on to the next part", async () => {
    await using fake = await startFakeProvider();
    const { issuer, clientId: client_id, secret: client_secret } = fake;
    const names = Array.from({ length: 12 }, (_, at) => longest(`Forge ${at + 10}`));
    for (const name of names) {
      const idp = { name, options: { is_linking_allowed: true } };
      const config = { issuer, client_id, client_secret };
      bodyOf(await peer.post("/idps/forge_b", { idp, config }), 201);
    }
    const { loginName } = await addPersonNamed(peer);
    const agent = userAgent(peer.issuer);
    await agent.open(accountPaths.providers);
    const first = await signIn(agent, loginName);
    const offered = ({ html }: Shown) =>
      Array.from(html.matchAll(/Connect (Forge \d+)/g), ([, name]) => name);
    assert.deepEqual(
      offered(first),
      names.slice(0, 8).map((name) => name.slice(0, 8)),
    );
    requireSmall(first);
    assert.equal(offered(await agent.open(`${accountPaths.providers}?from=8`)).length, 4);
    assert.deepEqual(offered(await agent.open(`${accountPaths.providers}?name=E+21`)), [
      "Forge 21",
    ]);
    const none = await agent.open(`${accountPaths.providers}?name=nobody`);
    assert.deepEqual(offered(none), []);
    assert.match(none.html, /Nothing has this name\./);
  });
});
