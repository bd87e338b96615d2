// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Secret, TOTP } from "otpauth";
import { loginFlows } from "../../src/login/tables.ts";
import { authorizeUrl, addPersonNamed, password, signedIn, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { noticesSent } from "../support/notices.ts";
import { type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { found, rawStore } from "../support/raw-store.ts";
import { answerOf, userAgent } from "../support/user-agent.ts";

// What test/faults/secrets-at-rest.spec.ts makes by calls alone is not made again here.

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;
const secrets = new Map<string, string>();
/** Something secret of this kind, which is to stand nowhere. */
const keep = (kind: string, value: string | undefined | null): string => {
  assert.ok(value !== undefined && value !== null && value.length >= 8, `${kind}: ${value}`);
  secrets.set(value, kind);
  return value;
};
const seed = (kind: string, base32: string) => {
  keep(kind, base32);
  keep(kind, Secret.fromBase32(base32).hex);
};

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

/** All that the store holds now, as a thief of it would read it. */
async function assertNowhere(...there: string[]): Promise<void> {
  const bytes = await rawStore(peer.app.kernel.config);
  const shown = found(bytes, secrets.keys()).map((value) => `${secrets.get(value)}: ${value}`);
  assert.deepEqual(shown, []);
  // The scan would find them: what is no secret is there.
  assert.deepEqual(found(bytes, there), there);
}

describe("seeds, codes and passwords stand in no table in clear (J14)", () => {
  it("while an authenticator is being set up, by the API and on the page", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const byCall = bodyOf(await peer.post(`/users/${id}/totp`));
    seed("a seed by the API", byCall.secret);
    await pages.change("login", { force_mfa: { set: true } });
    const other = await addPersonNamed(peer);
    const agent = await pages.begin();
    assert.equal(pathOf(await signIn(agent, other.loginName)), "/ui/login/mfa/setup");
    const shown = await agent.submit({ factor: "totp" });
    const onPage = [...shown.html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)]
      .map(([, group]) => group)
      .join("");
    seed("a seed on the page", onPage);
    await assertNowhere(loginName);
    const code = new TOTP({ secret: onPage }).generate({ timestamp: peer.now().getTime() });
    const { html } = await agent.submit({ code });
    for (const [, one = ""] of html.matchAll(/<li><code>([^<]+)<\/code>/g)) {
      keep("a recovery code", one);
    }
    await pages.change("login", { force_mfa: { set: false } });
    await assertNowhere(other.loginName);
  });

  it("while a device waits, while somebody lets it in, and after", async () => {
    const tv = await peer.addClient({
      app_type: "OIDC_APP_TYPE_NATIVE",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
      redirect_uris: [],
      grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"],
    });
    const form = { client_id: tv.clientId, scope: "openid" };
    const { body } = await peer.send(paths.device, form);
    keep("a device code", body.device_code);
    const userCode = keep("a user code", body.user_code);
    keep("a user code", userCode.replace("-", ""));
    await assertNowhere(tv.clientId);
    const { loginName } = await addPersonNamed(peer);
    const agent = userAgent(peer.issuer);
    await agent.open(body.verification_uri);
    await agent.submit({ user_code: userCode });
    const confirm = await signIn(agent, loginName);
    assert.match(confirm.html, new RegExp(userCode), "it is shown to whoever confirms it");
    const { db } = peer.app.kernel;
    assert.ok((await db.read.select().from(db.table(loginFlows))).length > 0);
    await assertNowhere(tv.clientId);
    await agent.submit({ consent: "allow" });
    await assertNowhere(tv.clientId);
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const polled = { grant_type, device_code: body.device_code, client_id: tv.clientId };
    const { body: tokens } = await peer.send(paths.token, polled);
    keep("an access token", tokens.access_token);
    await assertNowhere(tv.clientId);
  });

  it("while codes wait that were sent, or returned", async () => {
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact });
    const sent = async (kind: string) => {
      const { text } = await pages.lastMail();
      const links = [...text.matchAll(/[?&](?:amp;)?code=([A-Za-z0-9_-]+)/g)];
      const codes = [...text.matchAll(/Code: (\S+)/g), ...links].map(([, one]) => one);
      assert.ok(codes.length > 0, text);
      for (const one of codes) if (one !== undefined && one.length >= 8) keep(kind, one);
      return text;
    };
    bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: {} }));
    await sent("a code that resets a password");
    bodyOf(await peer.put(`/users/${id}/email`, { address: "other@example.test", send_code: {} }));
    await sent("a code that proves a mail");
    bodyOf(await peer.post(`/users/${id}/webauthn/registration_link`, { send_link: {} }));
    await sent("an invitation to make a passkey");

    const { email_code } = bodyOf(
      await peer.patch(`/users/${id}`, { contact: { email: { address, return_code: {} } } }),
    );
    if (String(email_code).length >= 8) keep("a code that was returned", email_code);
    bodyOf(await peer.post(`/users/${id}/otp_email`, { address, is_verified: true }));
    const made = bodyOf(
      await peer.post("/sessions", {
        checks: { user: { user_id: id }, password: { password } },
        challenges: { otp_email: { return_code: {} } },
      }),
      201,
    );
    keep("the token of a session", made.session_token);
    keep("a one-time password", made.challenges.otp_email);
    keep("the password", password);
    await noticesSent(peer.app);
    await assertNowhere(loginName);
  });

  it("while a browser is logged in, and an app waits with a code", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, web, loginName);
    for (const [name, value] of agent.cookies)
      if (value.length >= 16) keep(`cookie ${name}`, value);
    const again = await agent.open(authorizeUrl(peer, web, { prompt: "none" }));
    codeIn(again);
    keep("an authorization code", answerOf(again).get("code"));
    await assertNowhere(loginName);
  });
});
