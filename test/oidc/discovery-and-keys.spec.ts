// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import * as oauth from "oauth4webapi";
import { paths, read, startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { issuer } = service;
after(() => service[Symbol.asyncDispose]());

const get = async (path: string, headers = {}) =>
  read(await fetch(`${issuer}${path}`, { headers }));
const document = async () => (await get(paths.discovery)).body;

describe("discovery (OpenID Connect Discovery 1.0 section 4)", () => {
  it("is found by an independent client, and its issuer is where it lies", async () => {
    const url = new URL(issuer);
    // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: the service under test has no TLS.
    const options = { [oauth.allowInsecureRequests]: true };
    const server = await oauth.processDiscoveryResponse(
      url,
      await oauth.discoveryRequest(url, options),
    );
    assert.equal(server.issuer, issuer);
  });

  it("tells its endpoints (specification 4.3), below the issuer", async () => {
    const found = await document();
    const expected = {
      token_endpoint: paths.token,
      introspection_endpoint: paths.introspect,
      userinfo_endpoint: paths.userinfo,
      revocation_endpoint: paths.revoke,
      device_authorization_endpoint: paths.device,
      jwks_uri: paths.keys,
    };
    for (const [name, path] of Object.entries(expected)) assert.equal(found[name], issuer + path);
  });

  it("tells what the provider can do, with registered names only", async () => {
    const found = await document();
    const { grant_types_supported: grants, ...rest } = found;
    for (const grant of [
      "authorization_code",
      "refresh_token",
      "client_credentials",
      "urn:ietf:params:oauth:grant-type:jwt-bearer",
      "urn:ietf:params:oauth:grant-type:device_code",
    ]) {
      assert.ok(grants.includes(grant), grant);
    }
    assert.deepEqual(rest.scopes_supported, [
      "openid",
      "profile",
      "email",
      "phone",
      "address",
      "offline_access",
    ]);
    assert.deepEqual(rest.response_types_supported, ["code", "id_token", "id_token token"]);
    assert.deepEqual(rest.response_modes_supported, ["query", "fragment", "form_post"]);
    assert.deepEqual(rest.subject_types_supported, ["public"]);
    assert.deepEqual(rest.id_token_signing_alg_values_supported, ["RS256"]);
    const methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];
    assert.deepEqual(rest.token_endpoint_auth_methods_supported, methods);
    assert.deepEqual(rest.revocation_endpoint_auth_methods_supported, methods);
    assert.deepEqual(rest.introspection_endpoint_auth_methods_supported, [
      "client_secret_basic",
      "private_key_jwt",
    ]);
    for (const at of ["token", "introspection", "revocation"]) {
      const algs = rest[`${at}_endpoint_auth_signing_alg_values_supported`];
      assert.ok(algs.includes("RS256") && !algs.includes("none"));
      assert.ok(!algs.some((alg: string) => alg.startsWith("HS")));
    }
    assert.deepEqual(rest.code_challenge_methods_supported, ["S256"]);
    assert.equal(rest.request_parameter_supported, false);
    assert.equal(rest.request_uri_parameter_supported, false);
    assert.equal(rest.claims_parameter_supported, true);
    assert.ok(rest.claims_supported.includes("email_verified"));
    assert.ok(rest.ui_locales_supported.includes("en"));
    for (const name of Object.keys(found)) assert.doesNotMatch(name, /idsvc/);
  });

  it("tells of token exchange only where it is on (B6)", async () => {
    const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
    assert.ok(!(await document()).grant_types_supported.includes(exchange));
    const settings = { oidc_token_exchange: { set: true } };
    const { token } = service.app;
    const set = await service.peer.rest("PATCH", "/settings/v3alpha/features", settings, { token });
    assert.equal(set.status, 200);
    assert.ok((await document()).grant_types_supported.includes(exchange));
  });

  it("tells the algorithms of the keys", async () => {
    const made = await service.post("/web_keys", { ed25519: {} });
    assert.equal(made.status, 201, made.refusal?.message);
    assert.deepEqual((await document()).id_token_signing_alg_values_supported, ["RS256", "EdDSA"]);
  });

  it("has an issuer for each domain of the instance, and none for others", async () => {
    const other = await read(await fetch(`http://127.0.0.1:${service.app.port}${paths.discovery}`));
    assert.equal(other.body.issuer, `http://127.0.0.1:${service.app.port}`);
    const text = await service.peer.rest("GET", paths.discovery, undefined, {
      headers: { host: "unknown.test" },
    });
    assert.equal(text.status, 404);
  });
});

describe("the key set (RFC 7517 section 5)", () => {
  it("has a distinct kid on every key, and no private member", async () => {
    const { body } = await get(paths.keys);
    const kids = body.keys.map(({ kid }: { kid: string }) => kid);
    assert.ok(kids.length > 0);
    assert.equal(new Set(kids).size, kids.length);
    const known = new Set(["kty", "kid", "use", "alg", "n", "e", "crv", "x", "y"]);
    for (const key of body.keys) {
      for (const member of Object.keys(key)) assert.ok(known.has(member), member);
      assert.equal(key.use, "sig");
    }
  });
});

describe("what anybody may read", () => {
  for (const path of [paths.discovery, paths.keys]) {
    it(`D79: ${path} is open to every page, is kept for five minutes, and takes GET only`, async () => {
      const answer = await get(path, { origin: "https://evil.test" });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), "application/json");
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.equal(answer.headers.get("access-control-allow-credentials"), null);
      assert.match(answer.headers.get("cache-control") ?? "", /max-age=300/);
      const posted = await fetch(`${issuer}${path}`, { method: "POST" });
      assert.equal(posted.status, 405);
      assert.equal(posted.headers.get("allow"), "GET, HEAD");
    });
  }
});
