// Run: shared
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createFederation, type Provider } from "../../src/federation/index.ts";
import type { HttpCall } from "../../src/egress/client.ts";
import { client, names } from "../egress/egress.ts";
import { type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";
import { type FakeProvider, startFakeProvider } from "../support/fake-provider.ts";
import { addPersonNamed, signIn } from "../support/login.ts";
import { codeIn } from "../support/login-pages.ts";
import { errorOf, type Shown } from "../support/user-agent.ts";

const discovery = "/.well-known/openid-configuration";

describe("F19: the documents of a provider", () => {
  let fake: FakeProvider;
  before(async () => {
    fake = await startFakeProvider();
  });
  after(() => fake[Symbol.asyncDispose]());
  beforeEach(() => fake.reset());

  /** Logins without pages, on a clock of their own. */
  function federation(shortMs = 5_000) {
    let shift = 0;
    const { resolver } = names({ localhost: [["127.0.0.1"]] });
    const outside = client([`localhost`, "127.0.0.1/32"], resolver);
    const asked: HttpCall[] = [];
    const made = createFederation({
      egress: {
        ...outside,
        call(call) {
          asked.push(call);
          return outside.call({ ...call, timeoutMs: Math.min(call.timeoutMs, shortMs) });
        },
      },
      now: () => new Date(Date.now() + shift),
    });
    const { issuer, clientId, secret } = fake;
    const provider: Provider = {
      instanceId: "1",
      id: "1",
      secret,
      config: { type: "forge_b", issuer, clientId, scopes: [] },
    };
    const baseUrl = "http://service.test";
    const begin = () => made.begin(provider, { state: "a-state", baseUrl, isFresh: false });
    return {
      asked,
      begin,
      pass: (ms: number) => (shift += ms),
      async logIn(then = () => {}) {
        const { way, kept } = await begin();
        const answer = await fetch(way.url, { redirect: "manual" });
        const back = new URL(answer.headers.get("location") ?? "");
        const parameters = new Map(back.searchParams);
        then();
        return made.finish(provider, { baseUrl, parameters, header: () => null }, kept);
      },
    };
  }
  const hits = (path: string) => fake.hits.get(path) ?? 0;
  const unavailable = { kind: "unavailable", reason: "IDP_UNAVAILABLE" };

  it("are asked for once by a thousand logins at the same time", async () => {
    const { begin } = federation();
    fake.script.delayMs = 50;
    await Promise.all(Array.from({ length: 1_000 }, begin));
    assert.equal(hits(discovery), 1);
  });

  it("are kept as long as they say, ten minutes where they do not, and used while it is down", async () => {
    const { logIn, pass } = federation();
    await logIn();
    fake.script.isDown = "/jwks";
    for (let each = 0; each < 3; each += 1) await logIn();
    pass(9 * 60_000);
    fake.script.idToken = { iat: inMs(9 * 60_000), exp: inMs(14 * 60_000) };
    await logIn();
    assert.deepEqual([hits(discovery), hits("/jwks")], [1, 1]);
    pass(2 * 60_000);
    await assert.rejects(logIn(), unavailable);
    fake.script.isDown = false;
    fake.script.cacheControl = "max-age=60";
    await logIn();
    assert.deepEqual([hits(discovery), hits("/jwks")], [2, 3]);
    pass(61_000);
    await logIn();
    assert.deepEqual([hits(discovery), hits("/jwks")], [2, 4]);
  });

  it("are kept for a minute where they say less, so that a login does not ask for one twice", async () => {
    for (const cacheControl of ["no-cache, no-store, max-age=0, must-revalidate", "max-age=1"]) {
      fake.reset();
      fake.script.cacheControl = cacheControl;
      const { logIn, pass } = federation();
      await logIn();
      pass(30_000);
      await logIn();
      assert.deepEqual([hits(discovery), hits("/jwks")], [1, 1]);
      pass(31_000);
      await logIn();
      assert.deepEqual([hits(discovery), hits("/jwks")], [2, 2]);
    }
  });

  it("are kept until they expire where they say so by Expires, less the age that they come with", async () => {
    const { logIn, pass } = federation();
    fake.script.headers = { expires: new Date(Date.now() + 20 * 60_000).toUTCString() };
    await logIn();
    pass(15 * 60_000);
    fake.script.idToken = { iat: inMs(15 * 60_000), exp: inMs(20 * 60_000) };
    await logIn();
    assert.deepEqual([hits(discovery), hits("/jwks")], [1, 1]);
    const aged = federation();
    fake.script.headers = { age: "500" };
    fake.script.cacheControl = "max-age=600";
    fake.script.idToken = {};
    await aged.logIn();
    aged.pass(101_000);
    await aged.logIn();
    assert.deepEqual([hits(discovery), hits("/jwks")], [3, 3]);
  });

  it("are told of when they are of another issuer, as are tokens", async () => {
    const { begin, logIn, pass } = federation();
    fake.script.discovery = { issuer: "https://other.test" };
    await assert.rejects(begin(), {
      kind: "failedPrecondition",
      reason: "IDP_CONFIG_INVALID",
      message: new RegExp(`issuer https://other\\.test.*${fake.issuer}`),
    });
    fake.reset();
    const again = federation();
    fake.script.idToken = { iss: "https://other.test" };
    await assert.rejects(again.logIn(), { reason: "IDP_ANSWER_INVALID", message: /\(iss\)/ });
    // What the provider has mended counts soon.
    pass(11_000);
    fake.script.idToken = {};
    await logIn();
  });

  it("are not kept when they failed", async () => {
    const { begin } = federation();
    fake.script.isDown = true;
    await assert.rejects(begin(), unavailable);
    fake.script.isDown = false;
    await begin();
  });

  it("hold a new key as soon as it signs, and forged tokens do not have them read each time", async () => {
    const { logIn, pass } = federation();
    await logIn();
    pass(11_000);
    await fake.rotate();
    await logIn();
    assert.equal(hits("/jwks"), 2);
    fake.script.idToken = {};
    fake.script.signature = "none";
    for (let each = 0; each < 5; each += 1) await assert.rejects(logIn());
    fake.script.signature = "unknown";
    for (let each = 0; each < 5; each += 1) {
      await assert.rejects(logIn(), { reason: "IDP_ANSWER_INVALID" });
    }
    assert.equal(hits("/jwks"), 2);
  });

  it("are waited for ten seconds at most, as is every answer", async () => {
    const { begin, logIn, asked } = federation(200);
    fake.script.delayMs = 60_000;
    await assert.rejects(begin(), unavailable);
    fake.reset();
    const isSlowNow = () => void (fake.script.delayMs = 60_000);
    await assert.rejects(logIn(isSlowNow), unavailable);
    assert.ok(asked.every(({ timeoutMs }) => timeoutMs <= 10_000));
  });

  it("that are not what they should be let nobody in", async () => {
    const { resolver } = names({});
    const made = createFederation({ egress: client([], resolver), now: () => new Date() });
    const provider: Provider = {
      instanceId: "1",
      id: "1",
      secret: "s",
      config: {
        type: "oidc",
        issuer: "https://nowhere.test",
        clientId: "c",
        scopes: [],
        usePkce: true,
        isIdTokenMapping: false,
      },
    };
    const begin = { state: "s", baseUrl: "http://service.test", isFresh: false };
    await assert.rejects(made.begin(provider, begin), unavailable);
  });
});

const inMs = (ms: number) => Math.floor((Date.now() + ms) / 1_000);

describe("F19: a provider that is down", () => {
  let world: ProviderWorld;
  before(async () => {
    world = await startProviderWorld();
  });
  after(() => world[Symbol.asyncDispose]());

  const down = (shown: Shown) => {
    assert.equal(errorOf(shown), "PROVIDER_UNAVAILABLE");
    assert.equal(shown.status, 503);
    assert.match(shown.html, /does not answer at the moment. Try again in a minute/);
  };

  it("stops the logins with it at each of its steps, and no others", async () => {
    const { fake, other } = world;
    const options = { is_auto_creation: true };
    const [lost, well] = [
      await world.addForgeB({ options }),
      await world.addForgeB({ options, of: other }),
    ];
    const counts = [await world.userCount(), await world.sessionCount()];
    const start = async (idp: string) => {
      const agent = await world.begin();
      const flow = agent.last.url.searchParams.get("flow") ?? "";
      return agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`);
    };
    fake.script.isDown = true;
    down(await start(lost));
    for (const path of ["/token", "/jwks", "/userinfo"]) {
      fake.script.isDown = false;
      const agent = await world.begin();
      const back = await world.visit(await world.choose(agent, lost));
      fake.script.isDown = path;
      down(await agent.open(back));
      // The state is used up: the user begins anew.
      assert.equal(errorOf(await agent.open(back)), "PROVIDER_FAILED");
    }
    assert.deepEqual([await world.userCount(), await world.sessionCount()], counts);
    codeIn(await world.logIn(well));
    const person = await addPersonNamed(world.peer);
    codeIn(await signIn(await world.begin(), person.loginName));
    fake.script.isDown = false;
    codeIn(await world.logIn(lost));
  });

  it("or whose name nobody knows has a page that says so", async () => {
    const { clientId: client_id, secret: client_secret } = world.fake;
    const config = { issuer: "http://nowhere.localhost.invalid", client_id, client_secret };
    const idp = await world.addIdp("oidc", config);
    const agent = await world.begin();
    const flow = agent.last.url.searchParams.get("flow") ?? "";
    down(await agent.open(`/ui/login/idp?${new URLSearchParams({ flow, idp })}`));
  });
});
