// Run: shared
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { codeIn, pathOf } from "../support/login-pages.ts";
import { errorOf, type Shown } from "../support/user-agent.ts";
import { type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";

let world: ProviderWorld;
before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());
beforeEach(() => world.fake.reset());

const options = { is_auto_creation: true };
const client = () => ({ client_id: world.fake.clientId, client_secret: world.fake.secret });
const endpoints = (): JsonObject => ({
  authorization_endpoint: `${world.fake.issuer}/authorize`,
  token_endpoint: `${world.fake.issuer}/token`,
  user_endpoint: `${world.fake.issuer}/user`,
});

/** Who came of a login: names, address and whether it counts as proven. */
async function madeBy(shown: Shown) {
  const { sub } = await world.claimsOf(shown);
  const { user } = (await world.peer.get(`/users/${sub}`)).json as { user: JsonObject };
  // oxlint-disable-next-line no-explicit-any -- what an answer holds is for the test to know
  const { username, data, contact, authenticators } = user["user"] as any;
  const { given_name, family_name } = data;
  const [{ user_id }] = authenticators.identity_providers;
  return { username, given_name, family_name, email: contact.email, user_id };
}
const expected = (isVerified: boolean) => {
  const { user } = world.fake.script;
  return {
    username: user["preferred_username"],
    given_name: "Mona",
    family_name: "Lisa",
    email: { address: user["email"], is_verified: isVerified },
    user_id: user.sub,
  };
};

describe("a provider of the type", () => {
  const proving: Record<string, () => JsonObject> = {
    oidc: () => ({ issuer: world.fake.issuer, ...client(), is_id_token_mapping: false }),
    forge_b: () => ({ issuer: world.fake.issuer, ...client() }),
    forge_b_self_hosted: () => ({ issuer: world.fake.issuer, ...client() }),
    social_a: () => ({ issuer: world.fake.issuer, ...client() }),
    oauth: () => ({ ...client(), ...endpoints(), id_attribute: "id", use_pkce: true }),
    forge_a: () => ({ issuer: world.fake.issuer, ...client() }),
    forge_a_es: () => ({ ...client(), ...endpoints() }),
    directory_a: () => ({
      issuer: world.fake.issuer,
      ...client(),
      tenant: { tenant_id: "a-tenant" },
      email_verified: true,
    }),
  };
  for (const [type, config] of Object.entries(proving)) {
    it(`${type} tells who logs in`, async () => {
      const idpId = await world.addIdp(type, config(), options);
      assert.deepEqual(await madeBy(await world.logIn(idpId)), expected(true));
      const asked = world.fake.asked.at(-1);
      assert.equal(asked?.get("code_challenge_method"), "S256");
      assert.equal(asked?.get("nonce") !== null, !isOAuth.includes(type));
    });
  }
  const isOAuth = ["oauth", "forge_a", "forge_a_es", "directory_a"];

  it("oidc reads the ID token alone where it is told so", async () => {
    const config = { issuer: world.fake.issuer, ...client(), is_id_token_mapping: true };
    const idpId = await world.addIdp("oidc", config, options);
    world.fake.script.idToken = { given_name: "Token" };
    assert.equal((await madeBy(await world.logIn(idpId))).given_name, "Token");
    assert.equal(world.fake.hits.get("/userinfo"), undefined);
  });

  it("D60: forge_a proves no address that its list of addresses does not", async () => {
    world.fake.script.tellsEmails = false;
    const idpId = await world.addIdp(
      "forge_a",
      { issuer: world.fake.issuer, ...client() },
      options,
    );
    const shown = await world.logIn(idpId);
    assert.equal(pathOf(shown), "/ui/login/verify");
  });

  it("D60: directory_a proves an address only where its configuration says so", async () => {
    const config = { issuer: world.fake.issuer, ...client(), tenant: { tenant_id: "a-tenant" } };
    const idpId = await world.addIdp("directory_a", config, options);
    assert.equal(pathOf(await world.logIn(idpId)), "/ui/login/verify");
  });

  it("oauth is refused where its user has no id, and where the secret is wrong", async () => {
    const config = { ...client(), ...endpoints(), id_attribute: "number" };
    const unnamed = await world.logIn(await world.addIdp("oauth", config, options));
    assert.equal(errorOf(unnamed), "PROVIDER_FAILED");
    assert.match(unnamed.html, /IDP_ANSWER_INVALID: .*has no &quot;number&quot;/);
    const wrong = { ...config, client_secret: "wrong" };
    const foreign = await world.logIn(await world.addIdp("oauth", wrong, options));
    assert.equal(errorOf(foreign), "PROVIDER_FAILED");
    assert.match(foreign.html, /IDP_CONFIG_INVALID/);
  });

  it("social_b takes a signed secret, and posts its answer with the name of the user", async () => {
    const { fake } = world;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const config = {
      issuer: fake.issuer,
      client_id: fake.clientId,
      team_id: "TEAM",
      key_id: "KEY",
      private_key: Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" })).toString(
        "base64",
      ),
    };
    const idpId = await world.addIdp("social_b", config, options);
    fake.reset({ given_name: undefined, family_name: undefined, name: undefined });
    fake.script.user["email_verified"] = "true";
    fake.script.isClient = async (secret) => {
      const { payload } = await jwtVerify(secret, publicKey, {
        issuer: "TEAM",
        subject: fake.clientId,
        audience: fake.issuer,
      });
      return payload.exp !== undefined && decodeProtectedHeader(secret).kid === "KEY";
    };
    const agent = await world.begin();
    const back = await world.visit(await world.choose(agent, idpId));
    assert.equal(fake.asked.at(-1)?.get("response_mode"), "form_post");
    assert.equal(fake.asked.at(-1)?.get("scope"), "openid name email");
    const user = JSON.stringify({ name: { firstName: "Mona", lastName: "Lisa" } });
    const body = new URLSearchParams([...back.searchParams, ["user", user]]);
    // The cookies of the service do not come with a form of another site.
    const cookies = new Map(agent.cookies);
    agent.cookies.clear();
    const between = await agent.open("/idps/callback", { method: "POST", body });
    assert.equal(between.status, 200);
    assert.equal(between.headers.getSetCookie().length, 0);
    for (const [name, value] of cookies) agent.cookies.set(name, value);
    const shown = await agent.submit({});
    codeIn(shown);
    const { given_name, family_name, email } = await madeBy(shown);
    assert.deepEqual([given_name, family_name], ["Mona", "Lisa"]);
    assert.equal(email.is_verified, true);
  });
});

describe("a provider of the type jwt", () => {
  const begin = async () => {
    const { issuer } = world.fake;
    const config = {
      issuer,
      jwt_endpoint: `${issuer}/gateway`,
      keys_endpoint: `${issuer}/jwks`,
      header_name: "x-gateway-token",
    };
    const idpId = await world.addIdp("jwt", config, options);
    const agent = await world.begin();
    const to = await world.choose(agent, idpId);
    assert.equal(to.origin + to.pathname, `${issuer}/gateway`);
    const back = new URL(to.searchParams.get("return_to") ?? "");
    back.searchParams.set("state", to.searchParams.get("state") ?? "");
    return { agent, back };
  };
  const now = () => Math.floor(Date.now() / 1_000);
  const good = () => ({
    ...world.fake.script.user,
    iss: world.fake.issuer,
    iat: now(),
    exp: now() + 60,
  });

  it("reads who it is in a header that a gateway sends", async () => {
    const { agent, back } = await begin();
    const headers = { "x-gateway-token": await world.fake.sign(good()) };
    assert.deepEqual(await madeBy(await agent.open(back, { headers })), expected(true));
  });

  it("D61: refuses a token that is missing, of another issuer, too old, or without exp", async () => {
    const { exp: _, ...endless } = good();
    const { sub: __, ...nobody } = good();
    for (const claims of [
      undefined,
      endless,
      nobody,
      { ...good(), iss: "https://evil.test" },
      { ...good(), iat: now() - 7_200 },
      { ...good(), exp: now() - 120 },
    ]) {
      const { agent, back } = await begin();
      const headers: Record<string, string> =
        claims === undefined ? {} : { "x-gateway-token": await world.fake.sign(claims) };
      const shown = await agent.open(back, { headers });
      assert.equal(errorOf(shown), "PROVIDER_FAILED");
      assert.match(shown.html, /IDP_ANSWER_INVALID/);
    }
  });
});
