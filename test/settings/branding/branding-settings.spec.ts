// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { brandingReader } from "../../../src/settings/policy/branding.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { allBuiltIn, assertDenied, of, startSettingsPeer, system } from "../settings-peer.ts";

const service = await startSettingsPeer("branding");
const { app, deps, set, resolve, settingsOf, instanceId, instance, addOrganization } = service;
const { addMember, eventsOf, remove } = service;
after(() => service[Symbol.asyncDispose]());

const builtIn: JsonObject = {
  ...allBuiltIn({ product_name: "idsvc", primary_color: "", background_color: "", theme: "auto" }),
  logo: { url: "", media_type: "", owner: system },
  logo_dark: { url: "", media_type: "", owner: system },
};
const reset = Object.fromEntries(Object.keys(builtIn).map((name) => [name, { reset: true }]));
const setAll = {
  product_name: { set: "Bücher & Söhne" },
  primary_color: { set: "#1D4ed8" },
  background_color: { set: "#000000" },
  theme: { set: "dark" },
};
const usual = { productName: "idsvc", primaryColor: "", backgroundColor: "", theme: "auto" };

describe("branding settings", () => {
  it("are the built-in ones, owned by the system, where nobody set any", async () => {
    assert.deepEqual(bodyOf(await resolve()), {
      details: { sequence: "0", owner: instance },
      settings: builtIn,
    });
    assert.deepEqual(await brandingReader(deps.db)(instanceId), usual);
  });

  it("are told as they were set, also texts that look like JSON", async () => {
    for (const value of ["1e5", "null", '"quoted"', "[1]"]) {
      bodyOf(await set({ product_name: { set: value } }));
      assert.deepEqual((await settingsOf()).product_name, { value });
    }
    bodyOf(await set(reset));
  });

  it("are set for the instance, inherited by organizations, set there for themselves, and reset", async () => {
    const organization = await addOrganization();
    bodyOf(await set(setAll));
    const inherited = {
      ...builtIn,
      product_name: { value: "Bücher & Söhne", owner: instance },
      primary_color: { value: "#1D4ed8", owner: instance },
      background_color: { value: "#000000", owner: instance },
      theme: { value: "dark", owner: instance },
    };
    assert.deepEqual(await settingsOf(of(organization)), inherited);
    const change = { theme: { set: "light" } };
    const first = bodyOf(await set(change, of(organization)));
    for (const same of [{}, change, { logo: { reset: true } }]) {
      assert.deepEqual(bodyOf(await set(same, of(organization))), first);
    }
    assert.deepEqual(bodyOf(await resolve(of(organization))), {
      details: { ...first.details, owner: { type: "OWNER_TYPE_ORG", id: organization } },
      settings: { ...inherited, theme: { value: "light" } },
    });
    assert.deepEqual(await brandingReader(deps.db)(instanceId, organization), {
      productName: "Bücher & Söhne",
      primaryColor: "#1D4ed8",
      backgroundColor: "#000000",
      theme: "light",
    });
    bodyOf(await set({ theme: { reset: true } }, of(organization)));
    assert.deepEqual(await settingsOf(of(organization)), inherited);
    bodyOf(await set(reset));
    assert.deepEqual(await settingsOf(), builtIn);
    assert.deepEqual(await eventsOf("branding", organization), [
      ["branding.org.theme.set", { value: "light" }],
      ["branding.org.theme.reset", {}],
    ]);
    bodyOf(await set(change, of(organization)));
    bodyOf(await remove(`/organizations/${organization}`));
    assert.deepEqual(await brandingReader(deps.db)(instanceId, organization), usual);
  });

  it("of the instance need iam.policy.write, those of an organization policy.write there", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const owner = await addMember(mine, ["ORG_OWNER"]);
    const viewer = await addMember(mine, ["ORG_OWNER_VIEWER"]);
    const manager = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const change = { theme: { set: "dark" } };
    bodyOf(await set(change, of(mine), owner));
    bodyOf(await set(change, of(other), manager));
    bodyOf(await resolve(of(mine), viewer));
    assertDenied(await set(change, of(mine), viewer), "policy.write");
    for (const caller of [owner, manager, await addCaller(app, [])]) {
      assertDenied(await set(change, "", caller), "iam.policy.write");
      assertDenied(await resolve("", caller), "iam.policy.read");
    }
    const hidden = await set(change, of(other), owner);
    const absent = await set(change, of("404"), owner);
    assertRefused(hidden.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    assert.deepEqual([hidden.status, hidden.json], [absent.status, absent.json]);
  });

  const wrong: [string, JsonObject, string?][] = [
    ...["", " ", "idsvc ", "a\u0000b", "a\nb", "a\u200bb", "a\u202eb"].map(
      (name): [string, JsonObject] => [
        `to be called ${JSON.stringify(name)}`,
        { product_name: { set: name } },
      ],
    ),
    [
      "a name of 257 characters",
      { product_name: { set: "a".repeat(257) } },
      "settings.product_name.set",
    ],
    ...["", "red", "#fff", "1d4ed8", "#1d4ed8ff", "#1d4edg", "#1d4ed8;}", "#1d4ed8\n"].flatMap(
      (colour): [string, JsonObject][] => [
        [`the colour ${JSON.stringify(colour)}`, { primary_color: { set: colour } }],
        [`the ground ${JSON.stringify(colour)}`, { background_color: { set: colour } }],
      ],
    ),
    ["the theme blue", { theme: { set: "blue" } }],
    ["the theme of no name", { theme: { set: "" } }],
    ["neither set nor reset", { theme: {} }, "settings.theme.value"],
    ["a logo that is neither set nor reset", { logo: {} }, "settings.logo.value"],
  ];
  for (const [what, settings, field = `settings.${Object.keys(settings)[0]}`] of wrong) {
    it(`refuse ${what}`, async () => {
      const { refusal } = await set(settings);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }
});
