// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { goodPassword, startUserPeer } from "../../resources/user/user-peer.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startUserPeer();
const { app, peer, get, post, patch, checks, at, addPerson, addOrganization, pass } = service;
after(() => service[Symbol.asyncDispose]());

const set = async (settings: JsonObject, query = "") =>
  bodyOf(
    await peer.rest("PATCH", `/settings/v3alpha/login${query}`, settings, { token: app.token }),
  );
const minute = 60_000;
const newDomain = () => `${uniqueName("w").replace(" ", "")}.example.com`;
type Found = { domain: { name: string; is_verified: boolean; is_primary: boolean } };
const domainsOf = async (organization: string): Promise<Found[]> =>
  bodyOf(await post(`/domains/_search?ctx.org_id=${organization}`)).result;

describe("the login setting max_password_attempts", () => {
  const withPassword = () =>
    addPerson({ authenticators: { password: { password: goodPassword } } });
  const isRight = async (id: string, password: string) =>
    (await checks.password(at, id, password)).isRight;

  it("closes the check of passwords for 10 minutes, doubling, of those who belong there (D51)", async () => {
    const ctx = `?ctx.org_id=${app.made.organization_id}`;
    await set({ max_password_attempts: { set: "3" } }, ctx);
    const id = await withPassword();
    for (let turn = 0; turn < 2; turn++) assert.equal(await isRight(id, "wrong"), false);
    assert.equal(await isRight(id, goodPassword), true, "two are forgiven");
    for (let turn = 0; turn < 3; turn++) assert.equal(await isRight(id, "wrong"), false);
    assert.equal(await isRight(id, goodPassword), false);
    pass(10 * minute + 1);
    assert.equal(await isRight(id, "wrong"), false);
    pass(19 * minute);
    assert.equal(await isRight(id, goodPassword), false);
    pass(minute + 1);
    assert.equal(await isRight(id, goodPassword), true);

    const other = await withPassword();
    for (let turn = 0; turn < 3; turn++) assert.equal(await isRight(other, "wrong"), false);
    assert.equal(await isRight(other, goodPassword), false);
    await set({ max_password_attempts: { reset: true } }, ctx);
    assert.equal(await isRight(other, goodPassword), true, "what counts is the setting of today");
  });

  it("allows no more attempts at second factors than ten", async () => {
    await set({ max_password_attempts: { set: "100" } });
    const id = await withPassword();
    const [code = ""] = bodyOf(await post(`/users/${id}/recovery_codes`)).recovery_codes;
    for (let turn = 0; turn < 10; turn++) {
      assert.equal(await checks.recoveryCode(at, id, "wrong"), false);
      assert.equal(await isRight(id, "wrong"), false);
    }
    assert.equal(await isRight(id, goodPassword), true);
    assert.equal(await checks.recoveryCode(at, id, code), false);
    await set({ max_password_attempts: { reset: true } });
  });
});

describe("the login setting validate_org_domains", () => {
  it("asks for the proof of every domain of organizations, by TXT where nothing is chosen", async () => {
    const organization = await addOrganization();
    const ctx = `?ctx.org_id=${organization}`;
    const create = async (more: JsonObject = {}) =>
      bodyOf(await post(`/domains${ctx}`, { name: newDomain(), ...more }), 201);
    const isVerified = async (made: { details: { id: string } }) =>
      bodyOf(await get(`/domains/${made.details.id}`)).domain.domain.is_verified;
    assert.equal(await isVerified(await create()), true);

    await set({ validate_org_domains: { set: true } });
    const made = await create();
    assert.equal(await isVerified(made), false);
    assert.deepEqual(Object.keys(made.validation).toSorted(), ["record", "token"]);
    const byHttp = await create({ validation_type: "DOMAIN_VALIDATION_TYPE_HTTP" });
    assert.equal(await isVerified(byHttp), false);
    assert.deepEqual(Object.keys(byHttp.validation).toSorted(), ["token", "url"]);

    await set({ validate_org_domains: { reset: true } });
    assert.equal(await isVerified(await create()), true);
    assert.equal(await isVerified(made), false, "what is there already stays to be proven");
  });

  it("lets a new organization begin with its generated domain, and the one it names unproven", async () => {
    const name = newDomain();
    await set({ validate_org_domains: { set: true } });
    const organization = await addOrganization({ domain: name });
    const generated = await addOrganization();
    await set({ validate_org_domains: { reset: true } });
    const trusted = await addOrganization({ domain: name });

    const domains = await domainsOf(organization);
    const told = domains.map(({ domain }) => ({ ...domain, name: domain.name === name }));
    const [named] = told.filter((domain) => domain.name);
    const [first, ...others] = told.filter((domain) => !domain.name);
    assert.deepEqual([named?.is_verified, named?.is_primary], [false, false]);
    assert.deepEqual([first?.is_verified, first?.is_primary], [true, true]);
    assert.deepEqual(others, []);
    assert.equal((await domainsOf(generated)).length, 1);
    assert.deepEqual(
      (await domainsOf(trusted)).map(({ domain }) => domain.name),
      [name],
      "a claim is made by a proof",
    );

    const { result } = bodyOf(await post(`/domains/_search?ctx.org_id=${organization}`));
    const id = String(result.find(({ domain }: Found) => domain.name === name)?.details.id);
    const unchosen = { code: 9, reason: "DOMAIN_VALIDATION_MISSING" };
    assertRefused((await post(`/domains/${id}/_validate`)).refusal, unchosen);
    const chosen = bodyOf(
      await patch(`/domains/${id}`, { validation_type: "DOMAIN_VALIDATION_TYPE_DNS" }),
    );
    assert.equal(chosen.validation.record, `_idsvc-challenge.${name}`);
  });
});
