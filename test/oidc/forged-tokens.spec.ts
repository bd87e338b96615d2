// Run: shared
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl, signedIn } from "../support/login.ts";
import { assertRefused, basic, paths, startOidc } from "../support/oidc.ts";
import { answerOf } from "../support/user-agent.ts";
import { badAssertions } from "./assertion-cases.ts";

const lines: string[] = [];
const service = await startOidc({
  log: (line) => void lines.push(line),
  env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true" },
});
const { issuer, send, ports, at } = service;
after(() => service[Symbol.asyncDispose]());

const web = await service.addClient({
  grant_types: [
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN",
    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
  ],
});
const [alice, bob] = [await addPersonNamed(service), await addPersonNamed(service)];
const agent = await signedIn(service, web, alice.loginName);
const seconds = Math.floor(service.now().getTime() / 1000);
// The claims of an ID token of bob, as web would get it; and the very key that signs ID tokens.
const { kid, key } = await ports.keys.signer(at, "RS256");
const signer = { keyId: kid, privateKey: String(key.export({ type: "pkcs8", format: "pem" })) };
const claims = () => ({
  iss: issuer,
  sub: bob.id,
  aud: [web.clientId],
  azp: web.clientId,
  jti: randomUUID(),
  iat: seconds,
  exp: seconds + 300,
  auth_time: seconds,
});
// Of D29 what an ID token of ours can be wrong in by its times alone is nobody's to forge: it would be signed by us.
const forged = badAssertions(signer, claims, seconds).filter(({ id }) => id !== "D29");
const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const typeOf = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
const asked = (subject_token: string, name: string) => ({
  grant_type: exchange,
  scope: "openid",
  subject_token,
  subject_token_type: typeOf(name),
});

describe("forged tokens at every place that takes one", () => {
  for (const { id, what, jwt } of forged) {
    it(`${id}: ${what}: no subject token, no bearer, no hint`, async () => {
      lines.length = 0;
      for (const name of ["id_token", "access_token", "jwt"]) {
        assertRefused(
          await send(paths.token, asked(jwt, name), basic(web)),
          400,
          "invalid_request",
        );
      }
      // What no header can carry is not sent.
      if (!/[^\x21-\x7e]/.test(jwt) && jwt.length < 8_000) {
        assertRefused(await service.userinfo(jwt), 401, "invalid_token");
        assert.equal((await service.get(`/users/${bob.id}`, { token: jwt })).status, 401);
        // A hint that held would name bob, whom this browser does not know.
        const more = { prompt: "none", id_token_hint: jwt };
        const told = answerOf(await agent.open(authorizeUrl(service, web, more)));
        // What is no JWT at all is a mistake of the app.
        if (jwt.split(".").length !== 3) assert.equal(told.get("error"), "invalid_request");
        else assert.match(told.get("code") ?? String(told), /^idsvc_ac_/);
      }
      assert.deepEqual(await service.introspect(jwt, web), { active: false });
      assert.doesNotMatch(lines.join(""), /"level":"(error|fatal)"/);
    });
  }

  it("D29: an ID token that has expired is no subject token; as a hint it names its user", async () => {
    const { id_token: idToken } = await service.tokensFor(web, bob.id);
    service.pass(13 * 3_600_000);
    const answer = await send(paths.token, asked(idToken, "id_token"), basic(web));
    assertRefused(answer, 400, "invalid_request");
    const more = { prompt: "none", id_token_hint: idToken };
    const told = answerOf(await agent.open(authorizeUrl(service, web, more)));
    assert.equal(told.get("error"), "login_required");
  });
});
