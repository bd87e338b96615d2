// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { addCaller } from "../../support/app.ts";
import { settingValues } from "../../../src/settings/object/settings.ts";
import { bodyOf, startPeer } from "../../support/peer.ts";
import type { CallOptions, RestAnswer } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startPeer();
const { app, peer, remove, addOrganization, addMember } = service;
const { token, made } = app;
after(() => service[Symbol.asyncDispose]());

const path = "/settings/v3alpha/passwords";
const set = (settings: JsonObject, query = "", options: CallOptions = {}) =>
  peer.rest("PATCH", `${path}${query}`, settings, { token, ...options });
const resolve = (query = "", options: CallOptions = {}) =>
  peer.rest("GET", `${path}${query}`, undefined, { token, ...options });
const settingsOf = async (query = "") => bodyOf(await resolve(query)).settings;
const of = (organization: string) => `?ctx.org_id=${organization}`;

const system = { type: "OWNER_TYPE_SYSTEM", id: "" };
const instance = { type: "OWNER_TYPE_INSTANCE", id: made.instance_id };
const builtIn = {
  min_length: { value: "8", owner: system },
  requires_uppercase: { value: false, owner: system },
  requires_lowercase: { value: false, owner: system },
  requires_number: { value: false, owner: system },
  requires_symbol: { value: false, owner: system },
  blocklist: { value: true, owner: system },
  max_age: { value: "0s", owner: system },
  screen_passwords: { value: false, owner: system },
  screen_passwords_at_login: { value: false, owner: system },
};
function assertDenied({ refusal }: RestAnswer, permission: string): void {
  assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
  assert.deepEqual(refusal.metadata, { permission });
}

describe("password settings", () => {
  it("are those that the instance began with, and else the built-in ones, owned by the system", async () => {
    const { details, settings } = bodyOf(await resolve());
    assert.deepEqual(details.owner, instance);
    assert.deepEqual(settings, { ...builtIn, min_length: { value: "8" } });
  });

  it("are set for the instance, inherited by organizations, and set there for themselves", async () => {
    const organization = await addOrganization();
    bodyOf(await set({ min_length: { set: "12" }, max_age: { set: "86400.5s" } }));
    const inherited = {
      ...builtIn,
      min_length: { value: "12", owner: instance },
      max_age: { value: "86400.500s", owner: instance },
    };
    assert.deepEqual(await settingsOf(of(organization)), inherited);
    const { details } = bodyOf(
      await set({ min_length: { set: 20 }, requires_symbol: { set: true } }, of(organization)),
    );
    assert.deepEqual(details.owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(bodyOf(await resolve(of(organization))), {
      details,
      settings: { ...inherited, min_length: { value: "20" }, requires_symbol: { value: true } },
    });
    assert.deepEqual((await settingsOf()).min_length, { value: "12" });
    bodyOf(await set({ min_length: { reset: true }, max_age: { reset: true } }));
    assert.deepEqual(await settingsOf(), builtIn);
    const events = await app.kernel.events.read({
      instanceId: made.instance_id,
      aggregate: { type: "password", id: organization },
    });
    assert.deepEqual(
      events.map(({ type, payload }) => [type, payload]),
      [
        ["password.org.min_length.set", { value: "20" }],
        ["password.org.requires_symbol.set", { value: true }],
      ],
    );
  });

  it("change nothing and record nothing when nothing differs", async () => {
    const organization = await addOrganization();
    const first = bodyOf(await set({ blocklist: { set: false } }, of(organization)));
    for (const same of [{}, { blocklist: { set: false } }, { min_length: { reset: true } }]) {
      assert.deepEqual(bodyOf(await set(same, of(organization))), first);
    }
  });

  it("go with their organization", async () => {
    const organization = await addOrganization();
    bodyOf(await set({ min_length: { set: "30" } }, of(organization)));
    const rows = () => app.kernel.db.read.select().from(app.kernel.db.table(settingValues));
    const mine = async () => (await rows()).filter(({ ownerId }) => ownerId === organization);
    assert.equal((await mine()).length, 1);
    bodyOf(await remove(`/organizations/${organization}`));
    assert.equal((await mine()).length, 0);
    const gone = { code: 5, reason: "ORGANIZATION_NOT_FOUND" };
    assertRefused((await resolve(of(organization))).refusal, gone);
  });

  it("of the instance need iam.policy.write, those of an organization policy.write there", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const owner = await addMember(mine, ["ORG_OWNER"]);
    const viewer = await addMember(mine, ["ORG_OWNER_VIEWER"]);
    const manager = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const change = { requires_number: { set: true } };
    bodyOf(await set(change, of(mine), owner));
    bodyOf(await set(change, of(other), manager));
    assertDenied(await set(change, of(mine), viewer), "policy.write");
    assertDenied(await set(change, "", owner), "iam.policy.write");
    assertDenied(await set(change, "", manager), "iam.policy.write");
    assertDenied(await resolve("", owner), "iam.policy.read");
    const hidden = await set(change, of(other), owner);
    const absent = await set(change, of("404"), owner);
    assertRefused(hidden.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    assert.equal(hidden.status, absent.status);
  });

  const wrong: [string, JsonObject, string, string][] = [
    ["a length of 0", { min_length: { set: "0" } }, "", "settings.min_length"],
    ["a length of 201", { min_length: { set: "201" } }, "", "settings.min_length"],
    ["a negative age", { max_age: { set: "-1s" } }, "", "settings.max_age"],
    ["neither set nor reset", { blocklist: {} }, "", "settings.blocklist.value"],
  ];
  for (const [what, settings, query, field] of wrong) {
    it(`refuse ${what}`, async () => {
      const { refusal } = await set(settings, query);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }
});
