// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { allLanguages, isLanguage } from "../../../src/texts/languages.ts";
import { isTextKey, shippedTexts, textKeys } from "../../../src/texts/texts.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { assertDenied, of, startSettingsPeer, system } from "../settings-peer.ts";

const service = await startSettingsPeer("texts");
const { app, peer, instance, addOrganization, addMember, eventsOf, remove } = service;
after(() => service[Symbol.asyncDispose]());

type Change = { key?: string; language?: string; set?: string; reset?: boolean };
const change = (texts: Change[], query = "", token = app.token) =>
  peer.rest("PATCH", `/settings/v3alpha/texts${query}`, texts, { token });
const key = "loginName.title";
const otherKey = "password.title";
const shipped = shippedTexts("de")[key];
const german = (value: Change): Change => ({ key, language: "de", ...value });
async function textsIn(query: string): Promise<JsonObject[]> {
  const { texts } = bodyOf(await service.resolve(query));
  return texts;
}
const only = `?language=de&key_prefix=${key}`;
const oneOf = (organization: string) => `${only}&ctx.org_id=${organization}`;
const page = async (): Promise<string> => {
  const url = `${app.url}/ui/login/register`;
  return (await fetch(url, { headers: { "accept-language": "de" } })).text();
};

describe("texts", () => {
  it("are those that are shipped, owned by the system, where nobody set any", async () => {
    const { details, texts } = bodyOf(await service.resolve());
    assert.deepEqual(details, { sequence: "0", owner: instance });
    assert.equal(texts.length, textKeys.length * allLanguages.length);
    for (const each of texts) {
      const { key: named, language } = each;
      assert.ok(isLanguage(language) && isTextKey(named));
      const value = shippedTexts(language)[named];
      assert.deepEqual(each, { key: named, language, value, owner: system });
    }
    const places = texts.map(({ key: named }: JsonObject) => String(named));
    assert.deepEqual(places, places.toSorted(), "sorted by key");
  });

  it("are set for the instance, inherited by organizations key by key, and set there for themselves", async () => {
    const organization = await addOrganization();
    bodyOf(await change([german({ set: "Willkommen" })]));
    assert.deepEqual(await textsIn(only), [{ key, language: "de", value: "Willkommen" }]);
    assert.deepEqual(await textsIn(oneOf(organization)), [
      { key, language: "de", value: "Willkommen", owner: instance },
    ]);
    const { details } = bodyOf(await change([german({ set: "Hallo" })], of(organization)));
    assert.deepEqual(details.owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(await textsIn(oneOf(organization)), [{ key, language: "de", value: "Hallo" }]);
    const [other] = await textsIn(`?language=fr&key_prefix=${key}&ctx.org_id=${organization}`);
    assert.deepEqual(other?.["owner"], system, "another language is not touched");

    bodyOf(await change([german({ reset: true })], of(organization)));
    assert.deepEqual((await textsIn(oneOf(organization)))[0]?.["value"], "Willkommen");
    bodyOf(await change([german({ reset: true })]));
    assert.deepEqual(await textsIn(oneOf(organization)), [
      { key, language: "de", value: shipped, owner: system },
    ]);
    assert.deepEqual(await eventsOf("text", organization), [
      ["text.org.set", { property: `de.${key}`, value: "Hallo" }],
      ["text.org.reset", { property: `de.${key}` }],
    ]);
  });

  it("change nothing, and succeed, where they are so already", async () => {
    const first = bodyOf(await change([german({ set: "Hallo" })]));
    const again = bodyOf(await change([german({ set: "Hallo" })]));
    assert.deepEqual(again, first);
    assert.deepEqual(bodyOf(await change([])), first);
    bodyOf(await change([german({ reset: true })]));
  });

  it("stand on the pages of the login, as text and not as markup", async () => {
    const title = { key: "register.title", language: "de" };
    bodyOf(await change([{ ...title, set: "<b>Grüß Gott</b>" }]));
    assert.match(await page(), /&lt;b&gt;Grüß Gott&lt;\/b&gt;/);
    bodyOf(await change([{ ...title, reset: true }]));
    assert.doesNotMatch(await page(), /Grüß Gott/);
  });

  it("go with their organization", async () => {
    const organization = await addOrganization();
    bodyOf(await change([german({ set: "Hallo" })], of(organization)));
    bodyOf(await remove(`/organizations/${organization}`));
    const answer = await service.resolve(oneOf(organization));
    assertRefused(answer.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
  });
});

describe("a text that cannot stand in", () => {
  const refused: [title: string, text: Change, field: string, reason: string][] = [
    ["of an unknown key", { key: "no.such", language: "de", set: "x" }, "key", "TEXT_KEY_UNKNOWN"],
    [
      "in a language that is not supported",
      { key, language: "xx", set: "x" },
      "language",
      "LANGUAGE_UNSUPPORTED",
    ],
    ["that is no message", german({ set: "{open" }), "set", "TEXT_INVALID"],
    ["that names a value there is not", german({ set: "Hallo {secret}" }), "set", "TEXT_INVALID"],
    [
      "that names one within a choice",
      german({ set: "{app, select, a {x {secret}} other {y}}" }),
      "set",
      "TEXT_INVALID",
    ],
  ];
  for (const [title, text, field, reason] of refused) {
    it(`is refused ${title}, and with it all others of the call`, async () => {
      const answer = await change([german({ key: otherKey, set: "Hallo" }), text]);
      assertRefused(answer.refusal, { code: 3, reason, field: `texts[1].${field}` });
      const [unchanged] = await textsIn(`?language=de&key_prefix=${otherKey}`);
      assert.equal(unchanged?.["value"], shippedTexts("de")[otherKey]);
    });
  }

  it("is refused without a value, with a reset that is false, too long, and twice", async () => {
    const long = "x".repeat(2049);
    for (const [texts, field] of [
      [[german({})], "texts[0].value"],
      [[german({ reset: false })], "texts[0].reset"],
      [[german({ set: long })], "texts[0].set"],
      [[german({ set: "a" }), german({ set: "b" })], "texts"],
    ] as const) {
      const reason = "VALIDATION_FAILED";
      assertRefused((await change([...texts])).refusal, { code: 3, reason, field });
    }
  });

  it("is read in no unknown language", async () => {
    const read = await service.resolve("?language=xx");
    assertRefused(read.refusal, { code: 3, reason: "LANGUAGE_UNSUPPORTED", field: "language" });
  });

  it("is refused to who may not write the settings of the context", async () => {
    const organization = await addOrganization();
    const owner = await addMember(organization, ["ORG_OWNER"]);
    bodyOf(await change([german({ set: "Hallo" })], of(organization), owner.token));
    assertDenied(await change([german({ set: "Hallo" })], "", owner.token), "iam.policy.write");
  });
});
