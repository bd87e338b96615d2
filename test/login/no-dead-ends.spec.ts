// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { authorizeUrl, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import type { Shown } from "../support/user-agent.ts";
import { codesOf, personWhoMustSetUp, personWithTotp } from "./people.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

/** Where a link of a page leads, by its text. */
function linkIn({ html }: Shown, label: string): string {
  const [, href = ""] =
    [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g)].find(([, , text = ""]) =>
      text.replaceAll(/<[^>]*>/g, "").includes(label),
    ) ?? [];
  assert.notEqual(href, "", `no link ${label}: ${html}`);
  return href.replaceAll("&amp;", "&");
}

describe("another way to prove oneself", () => {
  it("is each that the person has, a recovery code beside an authenticator app too", async () => {
    const alice = await personWithTotp(peer);
    const made = bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const agent = await pages.begin();
    const asked = await signIn(agent, alice.loginName);
    assert.equal(pathOf(asked), "/ui/login/mfa/totp");
    const choice = await agent.open(linkIn(asked, "Try another way"));
    assert.equal(pathOf(choice), "/ui/login/mfa");
    assert.match(choice.html, /value="totp"/);
    // In another language it is the same page.
    const german = await agent.open(linkIn(choice, "Deutsch"));
    assert.equal(pathOf(german), "/ui/login/mfa");
    const recovery = await agent.submit({ factor: "recovery" });
    assert.equal(pathOf(recovery), "/ui/login/mfa/recovery");
    codeIn(await agent.submit({ code: made.recovery_codes?.[0] ?? "" }));
  });

  it("is not offered where there is none", async () => {
    const alice = await personWithTotp(peer);
    const agent = await pages.begin();
    assert.doesNotMatch((await signIn(agent, alice.loginName)).html, /Try another way/);
  });
});

describe("recovery codes that were just made", () => {
  /** The page that shows them. */
  async function atCodes() {
    const agent = await pages.begin();
    await signIn(agent, await personWhoMustSetUp(peer));
    const shown = await agent.submit({ factor: "totp" });
    const secret = [...shown.html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)].map(
      ([, part]) => part,
    );
    const code = codesOf(peer, secret.join(""))();
    return { agent, before: shown.url, first: await agent.submit({ code }) };
  }

  const codesIn = ({ html }: Shown) =>
    [...html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, one = ""]) => one);

  it("are shown again by reload and Back until their owner has saved them, and then no more", async () => {
    const { agent, before: earlier, first } = await atCodes();
    const codes = codesIn(first);
    assert.equal(codes.length, 10);
    for (const address of [
      first.url,
      earlier,
      new URL(`/ui/login${first.url.search}`, first.url),
    ]) {
      const again = await agent.open(address);
      assert.equal(pathOf(again), "/ui/login/mfa/setup/recovery");
      assert.deepEqual(codesIn(again), codes);
    }
    const file = await agent.open(linkIn(first, "Save as a file"));
    assert.match(file.headers.get("content-disposition") ?? "", /^attachment; filename=/);
    assert.deepEqual(
      file.html.split("\r\n").filter((line) => codes.includes(line)),
      codes,
    );
    await agent.open(first.url);
    assert.equal(pathOf(await agent.submit({})), "/ui/login/consent");
    assert.equal(pathOf(await agent.open(first.url)), "/ui/login/consent");
    codeIn(await agent.submit({ consent: "allow" }));
  });

  it("are of the browser and the session that made them", async () => {
    const { agent, first } = await atCodes();
    const stranger = await pages.begin();
    assert.equal((await stranger.open(first.url)).status, 400);
    // Whoever is named next in the flow is somebody else, as far as it knows.
    await agent.open(new URL(`/ui/login/loginname${first.url.search}`, first.url));
    await agent.submit({ login_name: (await personWithTotp(peer)).loginName });
    assert.equal((await agent.open(first.url)).status, 400);
    assert.equal((await agent.open(authorizeUrl(peer, web, { prompt: "login" }))).status, 200);
  });
});
