// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { paths } from "../support/oidc.ts";
import { startPeer } from "../support/peer.ts";

const issuer = "https://id.test";
const service = await startPeer({ env: { IDSVC_EXTERNAL_URL: issuer } });
after(() => service[Symbol.asyncDispose]());

const get = async (path: string) => {
  const headers = { host: "id.test" };
  const answer = await service.peer.rest("GET", path, undefined, { headers });
  assert.equal(answer.status, 200);
  return Object(answer.json);
};

const texts = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "jwks_uri",
  "end_session_endpoint",
];
const lists = [
  "response_types_supported",
  "subject_types_supported",
  "scopes_supported",
  "id_token_signing_alg_values_supported",
  "claims_supported",
  "ui_locales_supported",
  "token_endpoint_auth_methods_supported",
  "code_challenge_methods_supported",
  "response_modes_supported",
  "grant_types_supported",
];
const switches = [
  "claims_parameter_supported",
  "request_parameter_supported",
  "request_uri_parameter_supported",
  "authorization_response_iss_parameter_supported",
];

describe("the certification profile Config", () => {
  it("oidcc-discovery-endpoint-verification: the document is whole, and each member of its type", async () => {
    const document = await get(paths.discovery);
    assert.equal(document.issuer, issuer);
    for (const name of texts) assert.equal(typeof document[name], "string", name);
    for (const name of switches) assert.equal(typeof document[name], "boolean", name);
    for (const name of lists) {
      assert.ok(Array.isArray(document[name]) && document[name].length > 0, name);
      assert.ok(
        document[name].every((one: unknown) => typeof one === "string"),
        name,
      );
    }
    assert.ok(document.id_token_signing_alg_values_supported.includes("RS256"));
    assert.ok(document.scopes_supported.includes("openid"));
    assert.deepEqual(document.subject_types_supported, ["public"]);
    assert.equal(document.request_uri_parameter_supported, false);
    for (const method of ["client_secret_basic", "client_secret_post"]) {
      assert.ok(document.token_endpoint_auth_methods_supported.includes(method));
    }
    for (const tag of document.ui_locales_supported)
      assert.doesNotThrow(() => new Intl.Locale(tag));
  });

  it("oidcc-discovery-endpoint-verification: every address has TLS and is below the issuer", async () => {
    const document = await get(paths.discovery);
    const named = Object.entries(document).filter(
      ([name]) => name.endsWith("_endpoint") || name === "jwks_uri",
    );
    assert.ok(named.length >= 7);
    for (const [name, address] of named) assert.ok(String(address).startsWith(`${issuer}/`), name);
  });

  it("oidcc-discovery-endpoint-verification: each key has its own kid, and none is private", async () => {
    const { keys } = await get(paths.keys);
    assert.ok(keys.length > 0);
    const kids = keys.map(({ kid }: { kid: string }) => kid);
    assert.equal(new Set(kids).size, kids.length);
    for (const key of keys) {
      assert.ok(["RSA", "EC", "OKP"].includes(key.kty));
      for (const secret of ["d", "p", "q", "dp", "dq", "qi", "k"]) assert.ok(!(secret in key));
    }
  });
});
