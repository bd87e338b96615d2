// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { oidcSettingsReader, rotationTimes } from "../../../src/settings/oidc/index.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { allBuiltIn, assertDenied, of, startSettingsPeer } from "../settings-peer.ts";

const service = await startSettingsPeer("oidc");
const { app, deps, set, resolve, settingsOf, instanceId, instance, addOrganization } = service;
const { addMember, eventsOf } = service;
after(() => service[Symbol.asyncDispose]());

const hourMs = 3_600_000;
const builtIn = allBuiltIn({
  access_token_lifetime: "43200s",
  id_token_lifetime: "43200s",
  refresh_token_idle_expiration: "2592000s",
  refresh_token_expiration: "7776000s",
  authorization_code_lifetime: "60s",
  key_rotation_period: "2592000s",
});
const reset = () =>
  set(Object.fromEntries(Object.keys(builtIn).map((name) => [name, { reset: true }])));

describe("OIDC settings", () => {
  it("are the built-in ones, owned by the system, where nobody set any", async () => {
    assert.deepEqual(bodyOf(await resolve()), {
      details: { sequence: "0", owner: instance },
      settings: builtIn,
    });
  });

  it("are set one by one for the instance, and reset", async () => {
    const { details } = bodyOf(
      await set({
        access_token_lifetime: { set: "300s" },
        authorization_code_lifetime: { set: "1.5s" },
      }),
    );
    assert.deepEqual(details.owner, instance);
    assert.deepEqual(bodyOf(await resolve()), {
      details,
      settings: {
        ...builtIn,
        access_token_lifetime: { value: "300s" },
        authorization_code_lifetime: { value: "1.500s" },
      },
    });
    bodyOf(await reset());
    assert.deepEqual(await settingsOf(), builtIn);
    assert.deepEqual(await eventsOf("oidc", instanceId), [
      ["oidc.instance.access_token_lifetime.set", { value: "300s" }],
      ["oidc.instance.authorization_code_lifetime.set", { value: "1.500s" }],
      ["oidc.instance.access_token_lifetime.reset", {}],
      ["oidc.instance.authorization_code_lifetime.reset", {}],
    ]);
  });

  it("change nothing and record nothing when nothing differs", async () => {
    const first = bodyOf(await set({ id_token_lifetime: { set: "60s" } }));
    for (const same of [{}, { id_token_lifetime: { set: "60s" } }]) {
      assert.deepEqual(bodyOf(await set(same)), first);
    }
    bodyOf(await reset());
  });

  it("are read at once by who issues tokens, without a promise once they are known", async () => {
    const read = oidcSettingsReader(deps.db);
    const usual = {
      accessTokenLifetimeMs: 12 * hourMs,
      idTokenLifetimeMs: 12 * hourMs,
      refreshTokenIdleMs: 720 * hourMs,
      refreshTokenMs: 2160 * hourMs,
      codeLifetimeMs: 60_000,
      keyRotationMs: 720 * hourMs,
    };
    assert.deepEqual(await read(instanceId), usual);
    bodyOf(await set({ authorization_code_lifetime: { set: "0s" } }), 400);
    bodyOf(await set({ refresh_token_expiration: { set: "3600.5s" } }));
    assert.deepEqual(await read(instanceId), { ...usual, refreshTokenMs: hourMs + 500 });
    if (app.kernel.config.databaseUrl.kind === "sqlite") {
      assert.equal(Reflect.get(Object(read(instanceId)), "refreshTokenMs"), hourMs + 500);
    }
    bodyOf(await reset());
    assert.deepEqual(await read(instanceId), usual);
  });

  it("say how often web keys rotate, and how long a key stays for what it signed", async () => {
    const timesOf = rotationTimes(deps.db);
    assert.deepEqual(await timesOf(instanceId), {
      periodMs: 720 * hourMs,
      tokenLifeMs: 12 * hourMs,
    });
    bodyOf(
      await set({
        key_rotation_period: { set: "86400s" },
        access_token_lifetime: { set: "60s" },
        id_token_lifetime: { set: "172800s" },
      }),
    );
    assert.deepEqual(await timesOf(instanceId), {
      periodMs: 24 * hourMs,
      tokenLifeMs: 48 * hourMs,
    });
    bodyOf(await set({ id_token_lifetime: { set: "60s" } }));
    assert.equal((await timesOf(instanceId)).tokenLifeMs, 12 * hourMs);
    bodyOf(await reset());
  });

  it("need iam.policy.write on the instance, and iam.policy.read to be read", async () => {
    const change = { id_token_lifetime: { set: "60s" } };
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const manager = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const owner = await addMember(await addOrganization(), ["ORG_OWNER"]);
    bodyOf(await resolve("", viewer));
    assertDenied(await set(change, "", viewer), "iam.policy.write");
    for (const other of [manager, owner, await addCaller(app, [])]) {
      assertDenied(await set(change, "", other), "iam.policy.write");
      assertDenied(await resolve("", other), "iam.policy.read");
    }
  });

  it("are set for an organization, which inherits what it does not set", async () => {
    const organization = await addOrganization();
    const owner = await addMember(organization, ["ORG_OWNER"]);
    bodyOf(await set({ access_token_lifetime: { set: "600s" } }));
    const change = { access_token_lifetime: { set: "60s" }, id_token_lifetime: { set: "120s" } };
    const { details } = bodyOf(await set(change, of(organization), owner));
    assert.deepEqual(details.owner, { type: "OWNER_TYPE_ORG", id: organization });
    const inherited = { ...builtIn, access_token_lifetime: { value: "600s", owner: instance } };
    assert.deepEqual(bodyOf(await resolve(of(organization), owner)), {
      details,
      settings: {
        ...inherited,
        access_token_lifetime: { value: "60s" },
        id_token_lifetime: { value: "120s" },
      },
    });
    const read = oidcSettingsReader(deps.db);
    const lives = async (...asked: [string, string?]) => {
      const { accessTokenLifetimeMs, idTokenLifetimeMs } = await read(...asked);
      return [accessTokenLifetimeMs, idTokenLifetimeMs];
    };
    assert.deepEqual(await lives(instanceId, organization), [60_000, 120_000]);
    assert.deepEqual(await lives(instanceId), [600_000, 12 * hourMs]);
    bodyOf(await set({ access_token_lifetime: { reset: true } }, of(organization), owner));
    const settings = await settingsOf(of(organization));
    assert.deepEqual(settings.access_token_lifetime, { value: "600s", owner: instance });
    assert.deepEqual(
      (await eventsOf("oidc", organization)).map(([type]) => type),
      [
        "oidc.org.access_token_lifetime.set",
        "oidc.org.id_token_lifetime.set",
        "oidc.org.access_token_lifetime.reset",
      ],
    );
    bodyOf(await reset());
  });

  it("need policy.write in the organization, and policy.read to be read", async () => {
    const organization = await addOrganization();
    const change = { id_token_lifetime: { set: "60s" } };
    const stranger = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const viewer = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    bodyOf(await resolve(of(organization), viewer));
    assertDenied(await set(change, of(organization), viewer), "policy.write");
    for (const call of [
      set(change, of(organization), stranger),
      resolve(of(organization), stranger),
    ])
      assertRefused((await call).refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
  });

  it("keep keys for as long as the longest life that counts in an organization", async () => {
    const timesOf = rotationTimes(deps.db);
    const [one, other] = [await addOrganization(), await addOrganization()];
    bodyOf(await set({ access_token_lifetime: { set: "172800s" } }, of(one)));
    bodyOf(await set({ id_token_lifetime: { set: "86400s" } }, of(other)));
    assert.equal((await timesOf(instanceId)).tokenLifeMs, 48 * hourMs);
    // What is looser than the instance's counts for nothing.
    bodyOf(await set({ access_token_lifetime: { set: "3600s" } }));
    assert.equal((await timesOf(instanceId)).tokenLifeMs, 24 * hourMs);
    bodyOf(await set({ id_token_lifetime: { set: "3600s" } }));
    assert.equal((await timesOf(instanceId)).tokenLifeMs, 12 * hourMs);
    bodyOf(await reset());
    for (const id of [one, other]) {
      const nothing = {
        access_token_lifetime: { reset: true },
        id_token_lifetime: { reset: true },
      };
      bodyOf(await set(nothing, of(id)));
    }
  });

  it("are none of the system", async () => {
    const above = { code: 3, reason: "CONTEXT_INVALID", field: "ctx.system" };
    const change = { id_token_lifetime: { set: "60s" } };
    assertRefused((await set(change, "?ctx.system=true")).refusal, above);
  });

  const wrong: [string, JsonObject, string?][] = [
    ["an access token of no time", { access_token_lifetime: { set: "0s" } }],
    ["an access token of more than 30 days", { access_token_lifetime: { set: "2592001s" } }],
    ["an ID token of no time", { id_token_lifetime: { set: "0.999s" } }],
    ["an ID token of more than 30 days", { id_token_lifetime: { set: "2592000.1s" } }],
    ["idling of no time", { refresh_token_idle_expiration: { set: "-1s" } }],
    ["idling of more than a year", { refresh_token_idle_expiration: { set: "31536001s" } }],
    ["refreshing of no time", { refresh_token_expiration: { set: "0s" } }],
    ["refreshing of more than a year", { refresh_token_expiration: { set: "31536001s" } }],
    ["a code of no time", { authorization_code_lifetime: { set: "0s" } }],
    ["a code of more than ten minutes", { authorization_code_lifetime: { set: "601s" } }],
    ["keys that change within a day", { key_rotation_period: { set: "86399s" } }],
    ["keys older than a year", { key_rotation_period: { set: "31536001s" } }],
    ["neither set nor reset", { id_token_lifetime: {} }, "settings.id_token_lifetime.value"],
  ];
  for (const [what, settings, field = `settings.${Object.keys(settings)[0]}`] of wrong) {
    it(`refuse ${what}`, async () => {
      const { refusal } = await set(settings);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("take the shortest and the longest times", async () => {
    const years = "31536000s";
    for (const [name, shortest, longest] of [
      ["access_token_lifetime", "1s", "2592000s"],
      ["id_token_lifetime", "1s", "2592000s"],
      ["refresh_token_idle_expiration", "1s", years],
      ["refresh_token_expiration", "1s", years],
      ["authorization_code_lifetime", "1s", "600s"],
      ["key_rotation_period", "86400s", years],
    ] as const) {
      for (const value of [shortest, longest]) {
        bodyOf(await set({ [name]: { set: value } }));
        assert.deepEqual((await settingsOf())[name], { value });
      }
    }
    bodyOf(await reset());
  });
});
