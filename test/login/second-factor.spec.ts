// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TOTP } from "otpauth";
import { addPersonNamed, authorizeUrl, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { answerOf } from "../support/user-agent.ts";
import { personWhoMustSetUp, personWithTotp } from "./people.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

describe("second factors", () => {
  it("TOTP is asked after the password, and a wrong one is told", async () => {
    const alice = await personWithTotp(peer);
    const agent = await pages.begin();
    assert.equal(pathOf(await signIn(agent, alice.loginName)), "/ui/login/mfa/totp");
    const wrong = await agent.submit({ code: "000000" });
    assert.match(wrong.html, /This code is wrong or has expired/);
    codeIn(await agent.submit({ code: alice.next() }));
  });

  it("D56: nothing is had without it, whatever page is called", async () => {
    const alice = await personWithTotp(peer);
    const agent = await pages.begin();
    const asked = await signIn(agent, alice.loginName);
    const flow = asked.url.searchParams.get("flow") ?? "";
    const callback = await agent.open(`/oauth/v2/authorize/callback?id=${flow}`);
    assert.equal(callback.left, undefined);
    for (const path of ["/ui/login", "/ui/login/consent", "/ui/account", "/ui/login/mfa/setup"]) {
      assert.equal((await agent.open(`${path}?flow=${flow}`)).left, undefined);
    }
    const silent = await agent.open(authorizeUrl(peer, web, { prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "login_required");
  });

  it("a code by e-mail is sent when it is asked for, and counts once", async () => {
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact });
    const added = bodyOf(await peer.post(`/users/${id}/otp_email`, { address, is_verified: true }));
    assert.ok(added.otp_email_id);
    const agent = await pages.begin();
    assert.equal(pathOf(await signIn(agent, loginName)), "/ui/login/mfa");
    const sent = await pages.mails();
    const asked = await agent.submit({ factor: "email" });
    assert.equal(pathOf(asked), "/ui/login/mfa/email");
    assert.equal(await pages.mails(), sent + 1);
    const mail = await pages.lastMail();
    assert.equal(mail.to, address);
    assert.doesNotMatch(asked.html, new RegExp(address));
    codeIn(await agent.submit({ code: mail.code }));
    const again = await pages.begin();
    await signIn(again, loginName);
    await again.submit({ factor: "email" });
    assert.match(
      (await again.submit({ code: mail.code })).html,
      /This code is wrong or has expired/,
    );
  });

  it("force_mfa: who has none sets one up, and gets recovery codes", async () => {
    const loginName = await personWhoMustSetUp(peer);
    const agent = await pages.begin();
    const asked = await signIn(agent, loginName);
    assert.equal(pathOf(asked), "/ui/login/mfa/setup");
    const shown = await agent.submit({ factor: "totp" });
    const secret = [...shown.html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)]
      .map(([, group]) => group)
      .join("");
    assert.match((await agent.submit({ code: "000000" })).html, /wrong or has expired/);
    const code = new TOTP({ secret }).generate({ timestamp: peer.now().getTime() });
    const codes = await agent.submit({ code });
    const [first = ""] = [...codes.html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(
      ([, one]) => one,
    );
    assert.notEqual(first, "");
    // The app is of another organization, to which nothing was granted.
    const consent = await agent.submit({});
    assert.equal(pathOf(consent), "/ui/login/consent");
    codeIn(await agent.submit({ consent: "allow" }));
    codeIn(await agent.open(authorizeUrl(peer, web, { prompt: "none" })));
    const more = { scope: "openid profile" };
    const silent = await agent.open(authorizeUrl(peer, web, { ...more, prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "consent_required");
    await agent.open(authorizeUrl(peer, web, more));
    const denied = await agent.submit({ consent: "deny" });
    assert.equal(answerOf(denied).get("error"), "access_denied");
    const again = await pages.begin();
    await signIn(again, loginName);
    const flow = again.last.url.searchParams.get("flow");
    await again.open(`/ui/login/mfa?flow=${flow}`);
    assert.equal(
      pathOf(await again.open(`/ui/login/mfa/recovery?flow=${flow}`)),
      "/ui/login/mfa/recovery",
    );
    codeIn(await again.submit({ code: first }));
  });
});
