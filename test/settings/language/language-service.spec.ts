// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { languageReader } from "../../../src/settings/policy/language.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { systemCaller } from "../../support/system-caller.ts";
import { assertDenied, of, startSettingsPeer, system } from "../settings-peer.ts";

const operator = systemCaller();
const service = await startSettingsPeer("languages", { env: operator.env });
const { app, peer, deps, post, set, resolve, settingsOf, instanceId, instance } = service;
const { addOrganization, addMember, eventsOf } = service;
after(() => service[Symbol.asyncDispose]());

const read = languageReader(deps.db);
const supported = ["en", "de", "fr", "it", "es", "pt", "nl", "pl", "cs", "sv", "ja", "zh"];
const list = (...keys: string[]) => keys.map((key) => ({ key }));
const byDefault = (key: string) => ({ default_language: { key } });
const only = (...keys: string[]) => ({ restricted_languages: { languages: list(...keys) } });
const lifted = { restricted_languages: {} };
const usual = { reset_default_language: true };
const supportedLanguages = { value: list(...supported), owner: system };
const builtIn = {
  default_language: { value: "en", owner: system },
  restricted_languages: { value: [], owner: system },
  supported_languages: supportedLanguages,
};
const shutOut = (field: string) => ({ code: 3, reason: "LANGUAGE_NOT_ALLOWED", field });
const clear = async (query = "") => void bodyOf(await set({ ...lifted, ...usual }, query));

describe("language settings", () => {
  it("are the built-in ones, owned by the system, where nobody set any", async () => {
    assert.deepEqual(bodyOf(await resolve()), {
      details: { sequence: "0", owner: instance },
      settings: builtIn,
    });
    assert.deepEqual(await read(instanceId), { default: "en", allowed: supported });
  });

  it("are set for the instance, inherited by organizations, and set there for themselves", async () => {
    const organization = await addOrganization();
    const { details } = bodyOf(await set({ ...byDefault("de"), ...only("fr", "de", "fr") }));
    assert.deepEqual(bodyOf(await resolve()), {
      details: { ...details, owner: instance },
      settings: {
        default_language: { value: "de" },
        restricted_languages: { value: list("fr", "de") },
        supported_languages: supportedLanguages,
      },
    });
    assert.deepEqual(await settingsOf(of(organization)), {
      default_language: { value: "de", owner: instance },
      restricted_languages: { value: list("fr", "de"), owner: instance },
      supported_languages: supportedLanguages,
    });
    const own = bodyOf(await set(byDefault("fr"), of(organization)));
    assert.deepEqual(own.details.owner, { type: "OWNER_TYPE_ORG", id: organization });
    const resolved = await settingsOf(of(organization));
    assert.deepEqual(resolved.default_language, { value: "fr" });
    assert.deepEqual(resolved.restricted_languages.owner, instance);
    assert.deepEqual(await read(instanceId), { default: "de", allowed: ["fr", "de"] });
    assert.deepEqual(await read(instanceId, organization), {
      default: "fr",
      allowed: ["fr", "de"],
    });
    await clear(of(organization));
    await clear();
    assert.deepEqual(await settingsOf(of(organization)), builtIn);
    assert.deepEqual(await eventsOf("language", organization), [
      ["language.org.default_language.set", { value: "fr" }],
      ["language.org.default_language.reset", {}],
    ]);
  });

  it("lift a restriction by an empty one: that of the parent counts again (S1)", async () => {
    const organization = await addOrganization();
    bodyOf(await set(only("en", "de")));
    bodyOf(await set(only("en", "ja"), of(organization)));
    assert.deepEqual((await read(instanceId, organization)).allowed, ["en", "ja"]);
    bodyOf(await set(lifted, of(organization)));
    assert.deepEqual((await settingsOf(of(organization))).restricted_languages, {
      value: list("en", "de"),
      owner: instance,
    });
    bodyOf(await set(lifted));
    assert.deepEqual((await settingsOf(of(organization))).restricted_languages, {
      value: [],
      owner: system,
    });
  });

  it("change nothing and record nothing when nothing differs or nothing is given (S1)", async () => {
    const organization = await addOrganization();
    const query = of(organization);
    const { details } = bodyOf(await set({}, query));
    assert.deepEqual(details, {
      sequence: "0",
      owner: { type: "OWNER_TYPE_ORG", id: organization },
    });
    const first = bodyOf(await set({ ...byDefault("de"), ...only("de", "en") }, query));
    for (const same of [{}, byDefault("de"), only("de", "en"), only("de", "en", "de")]) {
      assert.deepEqual(bodyOf(await set(same, query)), first);
    }
    await clear(query);
    const cleared = bodyOf(await set({}, query));
    for (const same of [lifted, usual]) assert.deepEqual(bodyOf(await set(same, query)), cleared);
  });

  it("refuse languages that are not supported, naming them", async () => {
    for (const [change, field, language] of [
      [byDefault("xx"), "settings.default_language", "xx"],
      [only("en", "tr"), "settings.restricted_languages", "tr"],
    ] as const) {
      const { refusal } = await set(change);
      assertRefused(refusal, { code: 3, reason: "LANGUAGE_UNSUPPORTED", field });
      assert.deepEqual(refusal.metadata, { language });
      assert.match(refusal.message, new RegExp(`"${language}"`));
    }
    assert.deepEqual(await settingsOf(), builtIn);
  });

  it("refuse a default language outside the restriction, own or inherited, naming it", async () => {
    const organization = await addOrganization();
    const restriction = "settings.restricted_languages";
    const refused = await set(only("de", "fr"));
    assertRefused(refused.refusal, shutOut(restriction));
    assert.deepEqual(refused.refusal.metadata, { language: "en" });
    const both = await set({ ...byDefault("it"), ...only("de", "fr") });
    assertRefused(both.refusal, shutOut(restriction));
    bodyOf(await set({ ...byDefault("de"), ...only("de", "fr") }));

    const fields = "settings.default_language";
    assertRefused((await set(byDefault("en"))).refusal, shutOut(fields));
    assertRefused((await set(usual)).refusal, shutOut(fields));
    assertRefused((await set(byDefault("en"), of(organization))).refusal, shutOut(fields));
    const narrowed = await set(only("en", "fr"), of(organization));
    assertRefused(narrowed.refusal, shutOut(restriction));
    assert.deepEqual(narrowed.refusal.metadata, { language: "de" });
    bodyOf(await set({ ...byDefault("en"), ...only("en") }, of(organization)));
    assertRefused((await set(lifted, of(organization))).refusal, shutOut(restriction));
    assert.deepEqual(await read(instanceId, organization), { default: "en", allowed: ["en"] });
    await clear(of(organization));
    await clear();
  });

  it("give way to an allowed language where the instance shuts out that of an organization later", async () => {
    const organization = await addOrganization();
    bodyOf(await set(byDefault("ja"), of(organization)));
    bodyOf(await set(only("en", "de")));
    assert.deepEqual(await read(instanceId, organization), {
      default: "en",
      allowed: ["en", "de"],
    });
    assert.deepEqual((await settingsOf(of(organization))).default_language, { value: "ja" });
    bodyOf(await set({}, of(organization)));
    bodyOf(await set(usual, of(organization)));
    await clear();
  });

  it("are decided one after the other: default and restriction never part", async () => {
    const outcomes = await Promise.all(
      ["de", "fr", "it", "es"].flatMap((key) => [
        set(byDefault(key)),
        set({ ...only(key), ...byDefault(key) }),
        set(lifted),
      ]),
    );
    assert.ok(outcomes.every(({ status }) => [200, 400, 409].includes(status)));
    const { default_language, restricted_languages } = await settingsOf();
    const allowed = restricted_languages.value.map(({ key }: { key: string }) => key);
    assert.ok(allowed.length === 0 || allowed.includes(default_language.value));
    await clear();
  });

  it("of the instance and of the own organization are for everybody to read, not to write", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const owner = await addMember(mine, ["ORG_OWNER"]);
    const viewer = await addMember(mine, ["ORG_OWNER_VIEWER"]);
    const stranger = await addCaller(app, []);
    const change = byDefault("de");
    for (const caller of [owner, viewer, stranger]) {
      bodyOf(await resolve("", caller));
      const unread = await resolve(of(other), caller);
      assertRefused(unread.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
      assert.deepEqual(unread.json, (await resolve(of("404"), caller)).json);
      assertDenied(await set(change, "", caller), "iam.policy.write");
      const hidden = await set(change, of(other), caller);
      const absent = await set(change, of("404"), caller);
      assertRefused(hidden.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
      assert.deepEqual([hidden.status, hidden.json], [absent.status, absent.json]);
    }
    const member = await addMember(mine, []);
    bodyOf(await resolve(of(mine), member));
    assertDenied(await set(change, of(mine), member), "policy.write");
    bodyOf(await resolve(of(mine), viewer));
    bodyOf(await resolve(of(mine), await addCaller(app, ["IAM_OWNER_VIEWER"])));
    bodyOf(await set(change, of(mine), owner));
    assertDenied(await set(change, of(mine), viewer), "policy.write");
    assertRefused((await resolve("", { token: "none" })).refusal, {
      code: 16,
      reason: "TOKEN_INVALID",
    });
  });

  it("are behind the feature multitenancy_settings (B6)", async () => {
    const flag = (setter: JsonObject) =>
      peer.rest(
        "PATCH",
        "/settings/v3alpha/features",
        { multitenancy_settings: setter },
        { token: app.token },
      );
    bodyOf(await flag({ set: false }));
    for (const answer of [await set({}), await resolve()]) {
      assertRefused(answer.refusal, { code: 9, reason: "FEATURE_DISABLED" });
      assert.deepEqual(answer.refusal.metadata, { feature: "multitenancy_settings" });
    }
    bodyOf(await flag({ reset: true }));
    bodyOf(await resolve());
  });

  const key = "settings.default_language.key";
  const wrong: [string, JsonObject, string][] = [
    ...["", "d", "deu", "DE", "de-CH", "de\n"].map((text): [string, JsonObject, string] => [
      `the language ${JSON.stringify(text)}`,
      byDefault(text),
      key,
    ]),
    ["a restriction to DE", only("de", "DE"), "settings.restricted_languages.languages[1].key"],
    [
      "more than 100",
      only(...Array<string>(101).fill("de")),
      "settings.restricted_languages.languages",
    ],
    ["a reset that is none", { reset_default_language: false }, "settings.reset_default_language"],
    ["to set and reset the default", { ...byDefault("de"), ...usual }, "settings"],
  ];
  for (const [what, settings, field] of wrong) {
    it(`refuse ${what}`, async () => {
      const { refusal } = await set(settings);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("begin with the default language that an instance is made with", async () => {
    const token = await operator.tokenFor(app.made.issuer);
    const create = (domain: string, language: string) =>
      post(
        "/instances",
        {
          name: domain,
          domain,
          default_language: language,
          organization: { name: "First" },
          machine: { username: "owner", name: "Owner" },
        },
        { token },
      );
    const made = bodyOf(await create("de.test", "de"), 201);
    assert.deepEqual(await read(made.details.id), { default: "de", allowed: supported });
    const there = { token: made.personal_access_token, host: "de.test" };
    const { settings } = bodyOf(await resolve("", there));
    assert.deepEqual(settings.default_language, { value: "de" });
    bodyOf(await set(usual, "", there));
    assert.deepEqual(await read(made.details.id), { default: "en", allowed: supported });
    const { refusal } = await create("xx.test", "xx");
    const field = "instance.default_language";
    assertRefused(refusal, { code: 3, reason: "LANGUAGE_UNSUPPORTED", field });
  });
});
