import assert from "node:assert/strict";
import { it } from "node:test";
import { paths, read, redirectUri } from "../support/oidc.ts";
import { errorOf, type UserAgent } from "../support/user-agent.ts";
import {
  address,
  assertErrorAnswer,
  assertRandom,
  assertTyped,
  beyondTheProtocol,
  type Conformance,
  type Given,
  longState,
  nonce,
} from "./conformance.ts";

// The modules of the certification suite, by their names, for static clients: each says in our words what the suite looks
// at (CERTIFICATION.md). The specs beside this file run them with what their plan prescribes.

const scopeClaims: Record<string, string[]> = {
  profile: [
    "birthdate",
    "family_name",
    "gender",
    "given_name",
    "locale",
    "middle_name",
    "name",
    "nickname",
    "picture",
    "preferred_username",
    "profile",
    "updated_at",
    "website",
    "zoneinfo",
  ],
  email: ["email", "email_verified"],
  address: ["address"],
  phone: ["phone_number", "phone_number_verified"],
};

/** Those of every plan. */
export function commonModules(suite: () => Conformance): void {
  const userinfo = async (token: string) => {
    const answer = await suite().peer.userinfo(token);
    assert.equal(answer.status, 200);
    assertTyped(answer.body);
    return answer.body;
  };

  /** The claims of the user, from where this plan finds them (point 15). */
  async function claimsOf(given: Given): Promise<Record<string, unknown>> {
    const { verified, user } = suite();
    const inIdToken = await verified(given);
    if (given.accessToken === undefined) return inIdToken;
    assert.deepEqual(beyondTheProtocol(inIdToken), []);
    const told = await userinfo(given.accessToken);
    assert.equal(told.sub, user.id);
    return told;
  }

  const namesOf = (claims: Record<string, unknown>) => beyondTheProtocol(claims);

  it("oidcc-server: a login works; the ID token is valid, the tokens are long and random", async () => {
    const { agent, logIn, verified, profile, user } = suite();
    const given = await logIn(agent());
    const claims = await verified(given);
    assert.deepEqual([claims.sub, claims["nonce"]], [user.id, nonce]);
    assert.deepEqual(beyondTheProtocol(claims), []);
    assert.equal(given.parameters.get("state"), longState);
    const code = given.parameters.get("code");
    assert.equal(code !== null, profile.responseType === "code");
    for (const token of [code, given.accessToken]) {
      if (typeof token === "string") assertRandom(token);
    }
    // Core 1.0 section 3.2.2.9: where an access token comes beside it.
    if (profile.responseType === "id_token token") assert.ok(claims["at_hash"]);
    if (given.accessToken !== undefined) await userinfo(given.accessToken);
  });

  for (const [scope, names] of Object.entries(scopeClaims)) {
    it(`oidcc-scope-${scope}: its claims arrive, all of them and no others`, async () => {
      const { agent, logIn } = suite();
      const claims = await claimsOf(await logIn(agent(), { scope: `openid ${scope}` }));
      assert.deepEqual(namesOf(claims), names);
      if (scope === "address") assert.deepEqual(claims["address"], address);
    });
  }

  it("oidcc-scope-all: the claims of all scopes arrive together", async () => {
    const { agent, logIn } = suite();
    const scope = "openid profile email address phone";
    const claims = await claimsOf(await logIn(agent(), { scope }));
    assert.deepEqual(namesOf(claims), Object.values(scopeClaims).flat().sort());
  });

  it("oidcc-alternate-happy-flow: another order of scope words and parameters changes nothing", async () => {
    const { agent, logIn, peer, client, profile, told, verified } = suite();
    const browser = agent();
    await logIn(browser);
    const parameters = {
      state: longState,
      nonce,
      scope: "phone email openid profile",
      response_type: profile.responseType.split(" ").reverse().join(" "),
      redirect_uri: redirectUri,
      client_id: client.clientId,
      ...(profile.isFormPost ? { response_mode: "form_post" } : {}),
    };
    const url = `${peer.issuer}/oauth/v2/authorize?${new URLSearchParams(parameters)}`;
    const answer = told(await browser.open(url));
    assert.equal(answer.get("error"), null);
    if (profile.responseType === "code") return assert.ok(answer.get("code"));
    const accessToken = answer.get("access_token") ?? undefined;
    const idToken = answer.get("id_token") ?? "";
    await verified({ parameters: answer, accessToken, idToken, tokens: {} });
  });

  for (const display of ["page", "popup"]) {
    it(`oidcc-display-${display}: is accepted`, async () => {
      const { agent, logIn, verified } = suite();
      await verified(await logIn(agent(), { display }));
    });
  }

  /** Two logins in one browser, and what their ID tokens say. */
  async function twice(
    first: Record<string, string>,
    second: Record<string, string>,
    between: (browser: UserAgent) => void = () => {},
  ) {
    const { agent, logIn, verified } = suite();
    const browser = agent();
    const one = await verified(await logIn(browser, first));
    between(browser);
    const two = await verified(await logIn(browser, second));
    assert.equal(one.sub, two.sub);
    return { one, two };
  }

  it("oidcc-prompt-login: the login is asked for again, and auth_time is later", async () => {
    const { ask, agent, logIn, peer } = suite();
    const browser = agent();
    await logIn(browser);
    assert.equal((await ask(browser, { prompt: "login" })).url.pathname, "/ui/login/password");
    const { one, two } = await twice(
      { max_age: "10000" },
      { prompt: "login", max_age: "10000" },
      () => peer.pass(2_000),
    );
    assert.ok(Number(two["auth_time"]) > Number(one["auth_time"]));
  });

  it("oidcc-prompt-none-not-logged-in: an error comes back with the state, and nothing else", async () => {
    const { agent, ask, told } = suite();
    const answer = told(await ask(agent(), { prompt: "none" }));
    assertErrorAnswer(answer, "login_required", "interaction_required");
    assert.equal(answer.get("state"), longState);
  });

  it("oidcc-prompt-none-logged-in: succeeds silently with the same sub and auth_time", async () => {
    const { agent, logIn, silently, verified, peer } = suite();
    const browser = agent();
    const one = await verified(await logIn(browser, { max_age: "10000" }));
    peer.pass(2_000);
    const two = await verified(await silently(browser, { prompt: "none", max_age: "10000" }));
    assert.deepEqual([two.sub, two["auth_time"]], [one.sub, one["auth_time"]]);
  });

  it("oidcc-max-age-1: after two seconds the login is asked for again; auth_time is there and later", async () => {
    const { peer, ask, agent, logIn } = suite();
    const browser = agent();
    await logIn(browser);
    peer.pass(2_000);
    const again = await ask(browser, { max_age: "1" });
    assert.equal(again.url.pathname, "/ui/login/password");
    const { one, two } = await twice({ max_age: "15000" }, { max_age: "1" }, () =>
      peer.pass(2_000),
    );
    assert.ok(Number(two["auth_time"]) > Number(one["auth_time"]));
    assert.ok(peer.now().getTime() / 1_000 - Number(two["auth_time"]) < 60);
  });

  it("oidcc-max-age-10000: no second login; auth_time is there and the same", async () => {
    const { agent, logIn, silently, verified, peer } = suite();
    const browser = agent();
    const one = await verified(await logIn(browser, { max_age: "15000" }));
    peer.pass(2_000);
    const two = await verified(await silently(browser, { max_age: "10000" }));
    assert.ok(Number.isInteger(one["auth_time"]));
    assert.equal(two["auth_time"], one["auth_time"]);
  });

  it("oidcc-ensure-request-with-unknown-parameter-succeeds: it is ignored", async () => {
    const { agent, logIn, verified } = suite();
    await verified(await logIn(agent(), { extra: "foobar" }));
  });

  it("oidcc-id-token-hint: prompt=none with a genuine hint succeeds silently", async () => {
    const { agent, logIn, silently, verified, user } = suite();
    const browser = agent();
    const { idToken } = await logIn(browser);
    const hinted = await silently(browser, { prompt: "none", id_token_hint: idToken });
    assert.equal((await verified(hinted)).sub, user.id);
  });

  it("oidcc-login-hint: one of somebody and one of nobody are accepted", async () => {
    const { agent, logIn, verified, user } = suite();
    for (const login_hint of [user.loginName, "buffy@vampire.invalid"]) {
      await verified(await logIn(agent(), { login_hint }));
    }
  });

  it("oidcc-ui-locales: also an unknown language is accepted", async () => {
    const { agent, logIn, verified } = suite();
    await verified(await logIn(agent(), { ui_locales: "se" }));
  });

  it("oidcc-claims-locales: is accepted", async () => {
    const { agent, logIn, verified } = suite();
    await verified(await logIn(agent(), { claims_locales: "se" }));
  });

  it("oidcc-ensure-request-with-acr-values-succeeds: is accepted, and acr is one of those that were asked for", async () => {
    const { agent, logIn, verified, peer } = suite();
    const { acr } = await verified(await logIn(agent(), { acr_values: "1 2" }));
    assert.ok(typeof acr === "string" && acr !== "");
    const supported = peer.ports.acrValues;
    const asked = await verified(await logIn(agent(), { acr_values: supported.join(" ") }));
    assert.ok(supported.includes(String(asked["acr"])));
  });

  it("oidcc-ensure-registered-redirect-uri: another one gets an error page and no redirect", async () => {
    const { agent, ask } = suite();
    const shown = await ask(agent(), { redirect_uri: `${redirectUri}/x7Dm2` });
    assert.deepEqual([shown.left, shown.status], [undefined, 400]);
    assert.equal(errorOf(shown), "REDIRECT_URI_INVALID");
  });

  const objectOf = (claims: object) =>
    [{ alg: "none" }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".")
      .concat(".");

  it("oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported: is refused by its name", async () => {
    const { agent, ask, told, client } = suite();
    const request = objectOf({ client_id: client.clientId, state: "inner", nonce });
    const answer = told(await ask(agent(), { request, state: undefined }));
    assertErrorAnswer(answer, "request_not_supported");
  });

  it("oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported: is refused by its name", async () => {
    const { agent, ask, told } = suite();
    const answer = told(await ask(agent(), { request_uri: "https://rp.test/request.jwt" }));
    assertErrorAnswer(answer, "request_uri_not_supported");
    assert.equal(answer.get("state"), longState);
  });

  it("oidcc-ensure-request-object-with-redirect-uri: the outer URI counts, and gets a page", async () => {
    const { agent, ask } = suite();
    const request = objectOf({ redirect_uri: redirectUri });
    const shown = await ask(agent(), { request, redirect_uri: `${redirectUri}/x7Dm2` });
    assert.deepEqual([shown.left, shown.status], [undefined, 400]);
  });

  it("oidcc-claims-essential: name is told where it was asked for", async () => {
    const { agent, logIn, verified, profile } = suite();
    const wanted = { name: { essential: true } };
    const isAlone = profile.responseType === "id_token";
    const claims = JSON.stringify(isAlone ? { id_token: wanted } : { userinfo: wanted });
    const given = await logIn(agent(), { claims });
    const told =
      given.accessToken === undefined ? await verified(given) : await userinfo(given.accessToken);
    assert.equal(told["name"], "Grace Hopper");
  });
}

/** Those of the plans that get an access token, once for each. */
export function userinfoModules(suite: () => Conformance): void {
  async function answers(send: (url: string, token: string) => Promise<Response>): Promise<void> {
    const { agent, logIn, verified, peer } = suite();
    const given = await logIn(agent(), { scope: "openid profile email" });
    const { sub } = await verified(given);
    const url = `${peer.issuer}${paths.userinfo}`;
    const { status, headers, body } = await read(await send(url, given.accessToken ?? ""));
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(body.sub, sub);
    assertTyped(body);
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it("oidcc-userinfo-get: GET with the header answers with the sub of the ID token", () =>
    answers((url, token) => fetch(url, { headers: bearer(token) })));
  it("oidcc-userinfo-post-header: so does POST with the header", () =>
    answers((url, token) => fetch(url, { method: "POST", headers: bearer(token) })));
  it("oidcc-userinfo-post-body: so does POST with the token in the form", () =>
    answers((url, token) =>
      fetch(url, { method: "POST", body: new URLSearchParams({ access_token: token }) }),
    ));

  it("oidcc-response-type-missing: is refused to the client or on a page", async () => {
    const { agent, ask, told, profile } = suite();
    const answer = told(await ask(agent(), { response_type: undefined }), "query");
    assertErrorAnswer(answer, "invalid_request", "unsupported_response_type");
    assert.equal(answer.get("state"), longState, profile.responseType);
  });
}

/** Those of `id_token` and `id_token token`. */
export function implicitModules(suite: () => Conformance): void {
  it("oidcc-ensure-request-without-nonce-fails: invalid_request, in the mode of the request", async () => {
    const { agent, ask, told } = suite();
    const answer = told(await ask(agent(), { nonce: undefined }));
    assertErrorAnswer(answer, "invalid_request");
    assert.equal(answer.get("state"), longState);
  });
}
