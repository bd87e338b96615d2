// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { assertRefused, basic, paths, read, startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { issuer, send, addClient, addPerson, codeFor, tokensFor, userinfo } = service;
after(() => service[Symbol.asyncDispose]());

const web = await addClient();
const user = await addPerson();
const {
  access_token: token,
  id_token: idToken,
  refresh_token: refresh,
} = await tokensFor(web, user, { scope: ["openid", "offline_access"] });
const url = `${issuer}${paths.userinfo}`;
const bearer = { authorization: `Bearer ${token}` };
const challenge = (answer: { headers: Headers }) => answer.headers.get("www-authenticate") ?? "";

describe("userinfo (OpenID Connect Core 1.0 section 5.3)", () => {
  it("answers GET and POST with the token in the header, and POST with it in the form", async () => {
    const answers = [
      await userinfo(token),
      await read(await fetch(url, { method: "POST", headers: bearer })),
      await send(paths.userinfo, { access_token: token }),
    ];
    for (const { status, headers, body } of answers) {
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), "application/json");
      assert.equal(headers.get("cache-control"), "no-store");
      assert.deepEqual(body, { sub: user });
    }
  });

  it("takes no token in the query, nor two at once (RFC 6750 section 2)", async () => {
    const inQuery = await read(await fetch(`${url}?access_token=${token}`));
    assertRefused(inQuery, 401, "invalid_token");
    assert.equal(challenge(inQuery), 'Bearer realm="idsvc"');
    const twice = await send(paths.userinfo, { access_token: token }, bearer);
    assertRefused(twice, 400, "invalid_request");
  });

  it("D31: refuses what is no living access token", async () => {
    const code = await codeFor(web, user);
    for (const other of ["x", "a.b.c", idToken, refresh, code, service.app.token]) {
      const answer = await userinfo(other);
      assertRefused(answer, 401, "invalid_token");
      assert.match(challenge(answer), /error="invalid_token"/);
    }
    const basicHeader = await read(await fetch(url, { headers: basic(web) }));
    assertRefused(basicHeader, 401, "invalid_token");
  });

  it("asks for the scope openid", async () => {
    const { access_token: without } = await tokensFor(web, user, { scope: ["profile"] });
    const answer = await userinfo(without);
    assertRefused(answer, 403, "insufficient_scope");
    assert.match(challenge(answer), /error="insufficient_scope"/);
  });

  it("D31: an ID token, a refresh token and a code open no API either", async () => {
    const code = await codeFor(web, user);
    for (const other of [idToken, refresh, code, token]) {
      assert.equal((await service.get(`/users/${user}`, { token: other })).status, 401);
    }
  });
});
