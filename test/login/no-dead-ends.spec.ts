// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import type { Shown } from "../support/user-agent.ts";
import { personWithTotp } from "./people.ts";

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
