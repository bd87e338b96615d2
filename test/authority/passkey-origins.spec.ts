// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator } from "../support/authenticator.ts";
import { addPersonNamed, authorizeUrl } from "../support/login.ts";
import { startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { formOf, userAgent } from "../support/user-agent.ts";

const peer = await startOidc();
const {
  post,
  peer: { rest },
} = peer;
after(() => peer[Symbol.asyncDispose]());

const client = await peer.addClient();
const related = "https://login.example.com";
const own = { origin: peer.issuer };
const otherPort = { origin: "http://localhost:1" };

const relate = (...value: string[]) =>
  rest(
    "PATCH",
    "/settings/v3alpha/security",
    { related_origins: { set: { value } } },
    { token: peer.app.token },
  );

async function begin(id: string) {
  const begun = bodyOf(await post(`/users/${id}/webauthn`, { domain: "localhost" }));
  const options: JsonObject = begun.public_key_credential_creation_options;
  const path = `/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`;
  const verify = (credential: JsonObject) =>
    post(path, { public_key_credential: credential, web_auth_n_name: "phone" });
  return { options, verify };
}

async function withPasskey(): Promise<Authenticator> {
  const { id } = await addPersonNamed(peer);
  const authenticator = new Authenticator();
  const { options, verify } = await begin(id);
  bodyOf(await verify(authenticator.create(options, { page: own })));
  return authenticator;
}

/** Logs in at the hosted login by a passkey that answered on this page. */
async function logIn(authenticator: Authenticator, page: { origin: string }) {
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client));
  const [, options = ""] = /data-options="([^"]+)"/.exec(agent.last.html) ?? [];
  const asked = JSON.parse(options.replaceAll(/&quot;|&#34;/g, '"')) as JsonObject;
  const credential = authenticator.get(asked, { page });
  const { fields } = formOf(agent.last.html);
  const body = new URLSearchParams({ ...fields, credential: JSON.stringify(credential) });
  const headers = { origin: peer.issuer, "sec-fetch-site": "same-origin" };
  return agent.open("/ui/login/passkey", { method: "POST", body, headers });
}

const listed = async () => {
  const answer = await fetch(`${peer.issuer}/.well-known/webauthn`);
  return { status: answer.status, body: (await answer.json()) as JsonObject };
};

describe("D92: whose pages may use a passkey (J18)", () => {
  it("lets the hosted login's own origin log in, and no other port of its host", async () => {
    const authenticator = await withPasskey();
    const refused = await logIn(authenticator, otherPort);
    assert.equal(refused.left, undefined);
    assert.match(refused.html, /passkey/i);
    assert.equal(refused.url.searchParams.get("problem"), "WEB_AUTH_N_INVALID");
    const shown = await logIn(authenticator, own);
    assert.ok(shown.left?.searchParams.has("code"), shown.html);
  });

  it("lets origins take part that the instance lists, and tells browsers of them", async () => {
    const before = await listed();
    assert.equal(before.status, 404);
    const authenticator = await withPasskey();
    const { id } = await addPersonNamed(peer);
    const first = await begin(id);
    const made = new Authenticator().create(first.options, { page: { origin: related } });
    const invalid = {
      code: 3,
      reason: "WEB_AUTH_N_INVALID",
      field: "verify.public_key_credential",
    };
    assertRefused((await first.verify(made)).refusal, invalid);
    assert.equal((await logIn(authenticator, { origin: related })).left, undefined);

    bodyOf(await relate(related));
    assert.deepEqual(await listed(), { status: 200, body: { origins: [related] } });
    const second = await begin(id);
    const page = { origin: related };
    bodyOf(await second.verify(new Authenticator().create(second.options, { page })));
    const shown = await logIn(authenticator, page);
    assert.ok(shown.left?.searchParams.has("code"), shown.html);

    bodyOf(await relate());
    assert.equal((await listed()).status, 404);
    assert.equal((await logIn(authenticator, page)).left, undefined);
  });

  for (const origin of [
    "login.example.com",
    "http://login.example.com",
    "https://login.example.com/",
    "https://*.example.com",
    "https://LOGIN.example.com",
    "https://a@login.example.com",
  ]) {
    it(`takes no ${origin} for an origin`, async () => {
      const { refusal } = await relate(origin);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED" });
    });
  }
});
