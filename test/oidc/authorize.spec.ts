// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { authorizeUrl } from "../support/login.ts";
import { type MadeClient, type OidcPeer, redirectUri, startOidc } from "../support/oidc.ts";
import { answerOf, errorOf, formOf, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let spa: MadeClient;
let imp: MadeClient;

const implicit = {
  response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN", "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"],
  grant_types: ["OIDC_GRANT_TYPE_IMPLICIT"],
};

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  spa = await peer.addClient({
    app_type: "OIDC_APP_TYPE_USER_AGENT",
    auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
  });
  imp = await peer.addClient(implicit);
});
after(() => peer[Symbol.asyncDispose]());

const fresh = () => userAgent(peer.issuer);
const ask = (more: Record<string, string | undefined>, client = web, agent = fresh()) =>
  agent.open(authorizeUrl(peer, client, more));

/** The client hears of the refusal, with its state and the issuer. */
async function refusal(
  error: string,
  more: Record<string, string | undefined>,
  client = web,
  agent = fresh(),
): Promise<URL> {
  const shown = await ask(more, client, agent);
  const told = answerOf(shown);
  assert.equal(told.get("error"), error, String(told));
  assert.match(told.get("error_description") ?? "", /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(told.get("state"), more["state"] ?? "a-state");
  assert.equal(told.get("iss"), peer.issuer);
  assert.equal(told.get("code"), null);
  assert.ok(shown.left !== undefined);
  return shown.left;
}

/** A page of our own, and no step towards the client. */
async function page(code: string, more: Record<string, string | undefined>): Promise<void> {
  const events = await peer.eventCount();
  const shown = await ask(more);
  assert.equal(shown.status, 400, shown.html);
  assert.equal(shown.left, undefined);
  assert.equal(shown.headers.get("location"), null);
  assert.equal(errorOf(shown), code);
  assert.equal(await peer.eventCount(), events);
}

describe("redirect_uri and client_id (RFC 6749 section 4.1.2.1, RFC 9700 section 2.1)", () => {
  const wrong = {
    "a trailing slash": `${redirectUri}/`,
    "a query": `${redirectUri}?x=1`,
    "an upper-case host": "https://RP.test/cb",
    "the default port": "https://rp.test:443/cb",
    "a fragment": `${redirectUri}#f`,
    "an escaped letter": "https://rp.test/%63b",
    "a path that leads there": "https://rp.test/a/../cb",
    "another letter for the dot": "https://rpxtest/cb",
    userinfo: "https://rp.test@evil.test/cb",
    "a longer host": "https://rp.test.evil.test/cb",
    "a backslash": "https://rp.test\\@evil.test/cb",
    "no scheme": "//evil.test/cb",
    "no slashes": "https:rp.test/cb",
    "a leading blank": ` ${redirectUri}`,
  };
  for (const [what, redirect_uri] of Object.entries(wrong)) {
    it(`D01/D02: with ${what} it is none of the client's`, async () => {
      await page("REDIRECT_URI_INVALID", { redirect_uri });
    });
  }

  it("is missing: an error page", async () => {
    await page("REQUEST_INVALID", { redirect_uri: undefined });
    await page("REQUEST_INVALID", { redirect_uri: "" });
  });

  it("names no client: an error page", async () => {
    await page("CLIENT_UNKNOWN", { client_id: "nobody" });
    await page("REQUEST_INVALID", { client_id: undefined });
  });

  it("an unregistered one counts before a request object that names a registered one", async () => {
    const request = `e30.${Buffer.from(JSON.stringify({ redirect_uri: redirectUri })).toString("base64url")}.`;
    await page("REDIRECT_URI_INVALID", { redirect_uri: "https://rp.test/other", request });
  });

  it("keeps a registered query and adds to it", async () => {
    const withQuery = "https://rp.test/cb?tenant=7";
    const client = await peer.addClient({ redirect_uris: [withQuery] });
    const shown = await ask({ redirect_uri: withQuery, prompt: "none" }, client);
    assert.equal(shown.left?.searchParams.get("tenant"), "7");
    assert.equal(answerOf(shown).get("error"), "login_required");
  });

  it("that does not fit the type of the app works in development mode only", async () => {
    const http = {
      redirect_uris: ["http://localhost:4200/cb"],
      app_type: "OIDC_APP_TYPE_USER_AGENT",
    };
    const none = { ...http, auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE" };
    const strict = await peer.addClient(none);
    const refused = await ask({ redirect_uri: "http://localhost:4200/cb" }, strict);
    assert.equal(errorOf(refused), "REDIRECT_URI_INVALID");
    assert.match(refused.html, /compliance problems/);
    const developed = await peer.addClient({ ...none, dev_mode: true });
    const more = { redirect_uri: "http://localhost:4200/cb", prompt: "none", ...challenge };
    assert.equal(answerOf(await ask(more, developed)).get("error"), "login_required");
  });
});

const challenge = {
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
};

describe("D04: a parameter that is sent twice (RFC 6749 section 3.1)", () => {
  for (const name of ["client_id", "redirect_uri"]) {
    it(`${name}: a page, and no step towards either`, async () => {
      const shown = await fresh().open(`${authorizeUrl(peer, web)}&${name}=x`);
      assert.equal(shown.status, 400);
      assert.equal(shown.left, undefined);
    });
  }
  for (const name of ["scope", "response_type", "nonce", "response_mode"]) {
    it(`${name}: invalid_request`, async () => {
      const shown = await fresh().open(
        `${authorizeUrl(peer, web, { [name]: "code" })}&${name}=code`,
      );
      const told = answerOf(shown);
      assert.equal(told.get("error"), "invalid_request");
      assert.equal(told.get("state"), "a-state");
    });
  }
  it("state: invalid_request, without either", async () => {
    const told = answerOf(await fresh().open(`${authorizeUrl(peer, web)}&state=other`));
    assert.equal(told.get("error"), "invalid_request");
    assert.equal(told.get("state"), null);
  });
  it("once in the query and once in the body", async () => {
    const shown = await fresh().open(authorizeUrl(peer, web), {
      method: "POST",
      body: new URLSearchParams({ scope: "openid" }),
    });
    assert.equal(answerOf(shown).get("error"), "invalid_request");
  });
});

describe("response_type and response_mode (OpenID Connect Core 1.0 sections 3.1.2.1 and 3.2.2.1)", () => {
  it("D05: one that the client does not have: unauthorized_client, in the fragment", async () => {
    const left = await refusal("unauthorized_client", {
      response_type: "id_token token",
      nonce: "n",
    });
    assert.equal(left.search, "");
  });
  it("D05: an unknown one: unsupported_response_type", async () => {
    await refusal("unsupported_response_type", { response_type: "code token" });
  });
  it("D05: an empty or missing one: invalid_request, in the query", async () => {
    for (const response_type of ["", undefined]) {
      const left = await refusal("invalid_request", { response_type });
      assert.equal(left.hash, "");
    }
  });
  it("D06: without a nonce no ID token comes from here: invalid_request, in the fragment", async () => {
    for (const response_type of ["id_token", "id_token token"]) {
      for (const nonce of [undefined, "n".repeat(5_000)]) {
        const left = await refusal("invalid_request", { response_type, nonce }, imp);
        assert.equal(left.search, "");
        assert.notEqual(left.hash, "");
      }
    }
  });
  it("never puts a token into a query", async () => {
    const left = await refusal(
      "invalid_request",
      { response_type: "id_token", nonce: "n", response_mode: "query" },
      imp,
    );
    assert.equal(left.search, "");
  });
  it("an unknown mode: invalid_request", async () => {
    await refusal("invalid_request", { response_mode: "carrier_pigeon" });
  });
  it("form_post to a scheme that browsers do not post to: invalid_request", async () => {
    const native = await peer.addClient({
      app_type: "OIDC_APP_TYPE_NATIVE",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
      redirect_uris: ["com.example.app:/cb"],
    });
    const more = { redirect_uri: "com.example.app:/cb", response_mode: "form_post" };
    await refusal("invalid_request", more, native);
  });
  it("form_post: errors are posted too, by a page that works without scripts", async () => {
    const shown = await ask({ response_mode: "form_post", prompt: "none" });
    assert.equal(shown.status, 200);
    const { action, fields } = formOf(shown.html);
    assert.equal(action, redirectUri);
    assert.equal(fields["error"], "login_required");
    assert.equal(fields["state"], "a-state");
    assert.equal(fields["iss"], peer.issuer);
    assert.match(shown.html, /<button[^>]*type="submit"/);
    const policy = shown.headers.get("content-security-policy") ?? "";
    assert.match(policy, /form-action 'self' https:\/\/rp\.test/);
    assert.doesNotMatch(policy, /unsafe-inline/);
    assert.equal(shown.headers.get("cache-control"), "no-store");
  });
});

describe("scope (OpenID Connect Core 1.0 section 3.1.2.1)", () => {
  it("without openid: invalid_scope", async () => {
    for (const scope of ["profile", "", undefined]) await refusal("invalid_scope", { scope });
  });
  it("with what no scope may hold: invalid_scope", async () => {
    await refusal("invalid_scope", { scope: 'openid "x"' });
  });
});

describe("PKCE (RFC 7636 section 4.3)", () => {
  it("D07: what is no challenge of S256: invalid_request", async () => {
    const good = challenge.code_challenge;
    const wrong = [
      {},
      { ...challenge, code_challenge_method: "plain" },
      { code_challenge: good },
      { code_challenge_method: "S256" },
      ...[good.slice(1), "a".repeat(129), `${good.slice(1)}=`, `${good.slice(1)}+`].map((text) => ({
        ...challenge,
        code_challenge: text,
      })),
    ];
    for (const more of wrong) await refusal("invalid_request", more, spa);
  });
  it("is honoured for clients with a secret too", async () => {
    await refusal("invalid_request", { ...challenge, code_challenge_method: "plain" });
    await refusal("login_required", { ...challenge, prompt: "none" });
  });
});

describe("prompt and max_age (OpenID Connect Core 1.0 section 3.1.2.1)", () => {
  it("D08: none without a session: login_required; beside another or unknown: invalid_request", async () => {
    await refusal("login_required", { prompt: "none" });
    await refusal("invalid_request", { prompt: "none login" });
    await refusal("invalid_request", { prompt: "bogus" });
  });
  it("D10: what is no whole number of seconds: invalid_request", async () => {
    for (const max_age of ["-1", "1.5", "9e99", "9223372036854775808", "1 "]) {
      await refusal("invalid_request", { max_age, prompt: "none" });
    }
  });
  it("the largest whole number is fine", async () => {
    await refusal("login_required", { max_age: String(Number.MAX_SAFE_INTEGER), prompt: "none" });
  });
});

describe("request objects (OpenID Connect Core 1.0 section 6)", () => {
  it("are refused in words of their own, and nothing is fetched", async () => {
    await refusal("request_not_supported", { request: "e30.e30." });
    await refusal("request_uri_not_supported", { request_uri: "https://rp.test/request.jwt" });
  });

  it("are answered by the response_mode that they name, where nothing else does", async () => {
    const inside = (claims: object) =>
      `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
    const posted = inside({ response_mode: "form_post", state: "theirs" });
    const shown = await userAgent(peer.issuer).open(
      authorizeUrl(peer, web, { request: posted, state: "s" }),
    );
    assert.equal(shown.left, undefined);
    const { action, fields } = formOf(shown.html);
    assert.equal(action, redirectUri);
    assert.deepEqual(
      { ...fields, error_description: undefined },
      {
        error: "request_not_supported",
        error_description: undefined,
        state: "s",
        iss: peer.issuer,
      },
    );
    // What the request itself says counts, and so does what can only be one of them.
    for (const request of [
      inside({ response_mode: "teapot" }),
      "e30",
      "e30.bm90.e30",
      "e30..e30",
    ]) {
      await refusal("request_not_supported", { request });
    }
    await refusal("request_not_supported", { request: posted, response_mode: "query" });
  });
});

describe("what changes nothing (OpenID Connect Core 1.0 section 3.1.2.1)", () => {
  const ignored: Record<string, string> = {
    display: "popup",
    claims_locales: "se",
    acr_values: "1 2",
    ui_locales: "se",
    login_hint: "nobody@nowhere.test",
    unheard_of: "yes",
    id_token_hint: "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA",
  };
  for (const [name, value] of Object.entries(ignored)) {
    it(name, async () => {
      await refusal("login_required", { [name]: value, prompt: "none" });
    });
  }
  it("an id_token_hint that is no JWT: invalid_request", async () => {
    const hints = ["garbage", "a.b.c", "e30.e30", "W10.e30.AAAA", "e30.W10.AAAA"];
    for (const id_token_hint of hints) {
      await refusal("invalid_request", { id_token_hint, prompt: "none" });
    }
  });
  it("claims that are no object: invalid_request", async () => {
    for (const claims of ["[]", "{", "1"]) await refusal("invalid_request", { claims });
  });
});

describe("state", () => {
  const states = {
    quotes: `a"b'c`,
    markup: "<script>alert(1)</script>",
    "line breaks": "a\r\nSet-Cookie: x=1",
    emoji: "🙂",
    "2 KB": "s".repeat(2_048),
  };
  for (const [what, state] of Object.entries(states)) {
    it(`D09: ${what} come back byte by byte`, async () => {
      await refusal("login_required", { state, prompt: "none" });
      const posted = await ask({ state, prompt: "none", response_mode: "form_post" });
      assert.equal(formOf(posted.html).fields["state"], state.replaceAll("\r\n", "\r\n"));
      assert.doesNotMatch(posted.html, /<script>alert/);
    });
  }
});
