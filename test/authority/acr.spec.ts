// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { decodeJwt } from "jose";
import { Secret, TOTP } from "otpauth";
import { Authenticator } from "../support/authenticator.ts";
import { addPersonNamed, password, signIn } from "../support/login.ts";
import { codeIn, loginPages, pathOf } from "../support/login-pages.ts";
import { type Body, type MadeClient, paths } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { answerOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import { scope, startAppWorld } from "./app-world.ts";

let world: Awaited<ReturnType<typeof startAppWorld>>;
let app: MadeClient;
before(async () => {
  world = await startAppWorld();
  app = await world.peer.addClient();
});
after(() => world.peer[Symbol.asyncDispose]());

const acr = (level: string) => `urn:idsvc:acr:${level}`;
const essential = (level: string) =>
  JSON.stringify({ id_token: { acr: { essential: true, values: [acr(level)] } } });

async function addTotp(id: string): Promise<() => string> {
  const { peer } = world;
  const { totp_id, secret } = bodyOf(await peer.post(`/users/${id}/totp`));
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const next = () => {
    peer.pass(31_000);
    return totp.generate({ timestamp: peer.now().getTime() });
  };
  bodyOf(await peer.post(`/users/${id}/totp/${totp_id}/_verify`, next()));
  return next;
}

async function addPasskey(id: string): Promise<Authenticator> {
  const { post } = world.peer;
  const authenticator = new Authenticator();
  const started = bodyOf(await post(`/users/${id}/webauthn`, { domain: "localhost" }));
  const public_key_credential = authenticator.create(
    started.public_key_credential_creation_options,
  );
  const verified = { public_key_credential, web_auth_n_name: "phone" };
  bodyOf(await post(`/users/${id}/webauthn/${started.web_auth_n_id}/_verify`, verified));
  return authenticator;
}

/** Answers the page that asks for a passkey or key. */
async function present(agent: UserAgent, authenticator: Authenticator, manner = {}) {
  const [, options = ""] = /data-options="([^"]+)"/.exec(agent.last.html) ?? [];
  const asked = JSON.parse(
    options.replaceAll("&quot;", '"').replaceAll("&#34;", '"'),
  ) as JsonObject;
  const credential = authenticator.get(asked, { page: { origin: world.peer.issuer }, ...manner });
  return agent.submit({ credential: JSON.stringify(credential) });
}

async function claimsOf(shown: Shown): Promise<Body> {
  const { id_token } = await world.redeem(app, shown);
  return decodeJwt(id_token);
}

const begin = async (more: Record<string, string>, agent = userAgent(world.peer.issuer)) => {
  await world.ask(agent, app, { scope: "openid", ...more });
  return agent;
};

describe("what tokens tell of the strength of a log-in (J11)", () => {
  it("stands in ID tokens, JWT access tokens and introspection, and discovery names its values", async () => {
    const { peer } = world;
    const discovery = await fetch(`${peer.issuer}${paths.discovery}`);
    const body: Body = await discovery.json();
    const all = ["passkey", "mfa", "password", "provider", "email"].map(acr);
    assert.deepEqual(body.acr_values_supported, all);
    assert.ok(body.claims_supported.includes("acr"));
    const person = await addPersonNamed(peer);
    const jwt = await peer.addClient({ access_token_type: "OIDC_TOKEN_TYPE_JWT" });
    const agent = userAgent(peer.issuer);
    await world.ask(agent, jwt, { scope: "openid" });
    const tokens = await world.redeem(jwt, await signIn(agent, person.loginName));
    const [id, access] = [decodeJwt(tokens.id_token), decodeJwt(tokens.access_token)];
    const told = await peer.introspect(tokens.access_token, jwt);
    for (const claims of [id, access, told]) {
      assert.deepEqual([claims["acr"], claims["auth_time"]], [acr("password"), id["auth_time"]]);
    }
  });

  it("is what was asked for where that is met, and the strongest where nothing was", async () => {
    const person = await addPersonNamed(world.peer);
    const next = await addTotp(person.id);
    const agent = await begin({});
    await signIn(agent, person.loginName);
    assert.equal((await claimsOf(await agent.submit({ code: next() }))).acr, acr("mfa"));
    for (const [asked, told] of [
      ["1 2", acr("mfa")],
      [`1 ${acr("password")}`, acr("password")],
      [acr("passkey"), acr("mfa")],
    ] as const) {
      await begin({ acr_values: asked }, agent);
      codeIn(agent.last);
      assert.equal((await claimsOf(agent.last)).acr, told);
    }
  });

  it("counts no proof that is older than auth_time", async () => {
    const { peer } = world;
    const person = await addPersonNamed(peer);
    const next = await addTotp(person.id);
    const agent = await begin({});
    await signIn(agent, person.loginName);
    const { sid } = await claimsOf(await agent.submit({ code: next() }));
    peer.pass(60_000);
    bodyOf(await peer.patch(`/sessions/${sid}`, { checks: { password: { password } } }));
    const since = Math.floor(peer.now().getTime() / 1_000) - 30;
    await begin({ prompt: "none" }, agent);
    const claims = await claimsOf(agent.last);
    assert.equal(claims.acr, acr("password"));
    assert.ok(claims.auth_time > since && claims.amr.includes("mfa"));
    // Whoever wants both of the same time gets a log-in with both.
    await begin({ acr_values: acr("mfa") }, agent);
    assert.equal(pathOf(agent.last), "/ui/login/mfa/totp");
    assert.equal((await claimsOf(await agent.submit({ code: next() }))).acr, acr("mfa"));
  });
});

describe("what an app asks of the strength of a log-in (J11, L2)", () => {
  it("is an error only where it is essential", async () => {
    const person = await addPersonNamed(world.peer);
    const agent = await begin({ acr_values: acr("passkey") });
    assert.equal((await claimsOf(await signIn(agent, person.loginName))).acr, acr("password"));
    for (const claims of [essential("mfa"), essential("unheard-of")]) {
      for (const more of [{}, { prompt: "none" }]) {
        await begin({ claims, ...more }, agent);
        assert.equal(answerOf(agent.last).get("error"), "unmet_authentication_requirements");
      }
    }
    await begin({ claims: essential("password"), prompt: "none" }, agent);
    assert.equal((await claimsOf(agent.last)).acr, acr("password"));
  });

  it("leads a person with a passkey to it, without a password, and nobody around it by chance", async () => {
    const person = await addPersonNamed(world.peer);
    const pages = loginPages(world.peer, app);
    // Passkeys are no second factors here: a password alone logs in.
    await pages.change("login", { second_factors: { set: { value: ["recovery_code"] } } });
    try {
      const authenticator = await addPasskey(person.id);
      const agent = await begin({});
      await signIn(agent, person.loginName);
      assert.equal((await claimsOf(agent.last)).acr, acr("password"));
      await begin({ claims: essential("passkey"), prompt: "none" }, agent);
      assert.equal(answerOf(agent.last).get("error"), "login_required");
      await begin({ acr_values: acr("passkey"), prompt: "none" }, agent);
      assert.equal((await claimsOf(agent.last)).acr, acr("password"));

      await begin({ acr_values: acr("passkey"), max_age: "300" }, agent);
      assert.equal(pathOf(agent.last), "/ui/login/mfa");
      assert.equal(pathOf(await agent.submit({ factor: "passkey" })), "/ui/login/passkey");
      // A key that does not verify who holds it is no passkey.
      await present(agent, authenticator, { isVerified: false });
      assert.equal(pathOf(agent.last), "/ui/login/mfa");
      await agent.submit({ factor: "passkey" });
      const { acr: told, amr } = await claimsOf(await present(agent, authenticator));
      assert.deepEqual([told, amr.includes("user")], [acr("passkey"), true]);

      world.peer.pass(301_000);
      await begin({ claims: essential("passkey"), max_age: "300" }, agent);
      await agent.submit({ without: "passkey" });
      assert.equal(pathOf(agent.last), "/ui/login/password");
      const refused = await agent.submit({ password });
      assert.equal(answerOf(refused).get("error"), "unmet_authentication_requirements");
      await begin({ acr_values: acr("passkey") }, agent);
      await agent.submit({ without: "passkey" });
      codeIn(agent.last);
      assert.equal((await claimsOf(agent.last)).acr, acr("password"));
    } finally {
      await pages.change("login", { second_factors: { reset: true } });
    }
  });
});

describe("step-up with the token of an app (L2)", () => {
  /** An app that people let change how they log in. */
  async function keeper(): Promise<MadeClient> {
    const client = await world.peer.addClient();
    const access = { permissions: ["user.self.credential"], instance: true };
    bodyOf(await world.peer.patch(`/apps/${client.appId}`, { api_access: access }));
    return client;
  }
  const change = (id: string, token: string) =>
    world.peer.put(`/users/${id}/email`, { address: `a${Math.random()}@example.test` }, { token });

  /** What a refusal tells to ask for, from its header. */
  async function challengeOf(id: string, token: string): Promise<Record<string, string>> {
    const url = `${world.peer.issuer}/resources/v3alpha/users/${id}/email`;
    const answer = await fetch(url, {
      method: "PUT",
      body: JSON.stringify({ address: "a@example.test" }),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    assert.equal(answer.status, 401);
    const header = answer.headers.get("www-authenticate") ?? "";
    assert.match(header, /^Bearer error="insufficient_user_authentication"/);
    const value = (name: string) => new RegExp(`${name}="([^"]+)"`).exec(header)?.[1] ?? "";
    return { max_age: value("max_age"), acr_values: value("acr_values") };
  }

  it("is refused when the proof is old, and the log-in that it asks for gives a token that passes", async () => {
    const client = await keeper();
    const person = await addPersonNamed(world.peer);
    const agent = userAgent(world.peer.issuer);
    await world.ask(agent, client);
    await signIn(agent, person.loginName);
    const first = await world.redeem(
      client,
      await agent.submit({ consent: "allow", access: "given" }),
    );
    bodyOf(await change(person.id, first.access_token));
    world.peer.pass(301_000);
    const asked = await challengeOf(person.id, first.access_token);
    assert.deepEqual(asked, { max_age: "300", acr_values: acr("password") });
    await world.ask(agent, client, { scope, ...asked });
    assert.equal(pathOf(agent.last), "/ui/login/password");
    // Their address is another one since, which nobody has proven.
    assert.equal(pathOf(await agent.submit({ password })), "/ui/login/verify");
    const next = await world.redeem(client, await agent.submit({ skip: "true" }));
    bodyOf(await change(person.id, next.access_token));
    // What was issued before stays as old as it is.
    await challengeOf(person.id, first.access_token);
  });

  it("leads whoever has a passkey to it: no loop of refusals after password and code", async () => {
    const client = await keeper();
    const person = await addPersonNamed(world.peer);
    const next = await addTotp(person.id);
    const authenticator = await addPasskey(person.id);
    const agent = userAgent(world.peer.issuer);
    await world.ask(agent, client);
    await signIn(agent, person.loginName);
    await agent.submit({ factor: "totp" });
    await agent.submit({ code: next() });
    const by = await world.redeem(
      client,
      await agent.submit({ consent: "allow", access: "given" }),
    );
    const asked = await challengeOf(person.id, by.access_token);
    assert.deepEqual(asked, { max_age: "300", acr_values: acr("passkey") });
    await world.ask(agent, client, { scope, ...asked });
    assert.equal(pathOf(agent.last), "/ui/login/mfa");
    await agent.submit({ factor: "passkey" });
    const tokens = await world.redeem(client, await present(agent, authenticator));
    assert.equal(decodeJwt(tokens.id_token)["acr"], acr("passkey"));
    bodyOf(await change(person.id, tokens.access_token));
  });
});
