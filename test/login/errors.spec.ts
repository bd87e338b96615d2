// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TOTP } from "otpauth";
import { beside } from "../support/beside.ts";
import { authorizeUrl, password, signIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { answerOf, errorOf, formOf, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

describe("an error that nobody foresaw", () => {
  it("is a page for people, with nothing in it but where to find it in the log", async () => {
    const { kernel, made } = peer.app;
    // A flow that no build has written.
    const id = "a".repeat(32);
    const columns = "instance_id, id, agent_id, version, data, created_at, expires_at";
    const values = `'${made.instance_id}', '${id}', 'nobody', 1, 'null', 0, ${2 ** 50}`;
    await beside(kernel, `INSERT INTO login_flows (${columns}) VALUES (${values})`);
    for (const path of ["", "/register"]) {
      const url = `${peer.issuer}/ui/login${path}?flow=${id}`;
      const shown = await userAgent(peer.issuer).open(url);
      assert.equal(shown.status, 500, url);
      assert.equal(errorOf(shown), "INTERNAL", url);
      assert.match(shown.html, /<code id="request-id">[\w-]+<\/code>/);
      // What is random may hold any word.
      const said = shown.html.replaceAll(/nonce="[^"]*"|id="request-id">[^<]*/g, "");
      assert.doesNotMatch(said, /login_flows|error-detail|SQL|TypeError|isOver/i);
      assert.match(shown.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    }
    await beside(kernel, `DELETE FROM login_flows WHERE id = '${id}'`);
    assert.equal((await userAgent(peer.issuer).open("/ui/login")).status, 200);
  });

  it("D56: consent is neither given nor refused before all is proven, and the login goes on", async () => {
    const organization = await peer.addOrganization({ domain: "guest.test" });
    const owner = await peer.addMember(organization, ["ORG_OWNER"]);
    const person = {
      username: "guest",
      data: { given_name: "Gina", family_name: "Guest" },
      authenticators: { password: { password } },
    };
    const as = { headers: { "x-idsvc-orgid": organization }, token: owner.token };
    const { details } = bodyOf(await peer.post("/users", person, as), 201);
    const { secret, totp_id } = bodyOf(await peer.post(`/users/${details.id}/totp`));
    const totp = new TOTP({ secret });
    const code = () => totp.generate({ timestamp: peer.now().getTime() });
    bodyOf(await peer.post(`/users/${details.id}/totp/${totp_id}/_verify`, code()));
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, web));
    const asked = await signIn(agent, "guest@guest.test");
    assert.equal(asked.url.pathname, "/ui/login/mfa/totp");
    const { fields } = formOf(asked.html);
    for (const consent of ["allow", "deny"]) {
      const body = new URLSearchParams({ ...fields, consent });
      const headers = { origin: peer.issuer };
      const shown = await agent.open("/ui/login/consent", { method: "POST", body, headers });
      assert.deepEqual([shown.left, shown.url.pathname], [undefined, "/ui/login/mfa/totp"]);
    }
    assert.deepEqual(await peer.events("user.consent.granted"), []);
    peer.pass(31_000);
    assert.equal((await agent.submit({ code: code() })).url.pathname, "/ui/login/consent");
    // A no to the app is no to the app alone: the login counts.
    assert.equal(answerOf(await agent.submit({ consent: "deny" })).get("error"), "access_denied");
    const silent = await agent.open(authorizeUrl(peer, web, { prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "consent_required");
  });
});
