// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer } from "../../support/peer.ts";

const service = await startPeer();
const { get, post, put, remove, addOrganization, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const organization = await addOrganization();
const { userId, token } = await addMember(organization, []);
const path = (key: string) => `/users/${userId}/metadata/${encodeURIComponent(key)}`;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const set = async (key: string, text: string) =>
  bodyOf(await put(path(key), { value: base64(text) })).details;
const notFound = { code: 5, reason: "METADATA_NOT_FOUND" };

describe("the metadata of a user", () => {
  it("keep bytes under a key; the same ones again are no event", async () => {
    const details = await set("colour / one", "blue");
    assert.equal(details.id, userId);
    const read = bodyOf(await get(path("colour / one"))).metadata;
    assert.deepEqual(read, { details, key: "colour / one", value: base64("blue") });
    const before = await eventCount();
    assert.deepEqual(await set("colour / one", "blue"), details);
    assert.equal(await eventCount(), before);
    await set("colour / one", "red");
    assert.equal(bodyOf(await get(path("colour / one"))).metadata.value, base64("red"));
  });

  it("hold up to 500000 bytes", async () => {
    await set("large", "x".repeat(500_000));
    const { refusal } = await put(path("large"), { value: base64("x".repeat(500_001)) });
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "metadata.value" });
    bodyOf(await remove(path("large")));
  });

  it("are gone once they are deleted, or their user is", async () => {
    await set("short", "life");
    bodyOf(await remove(path("short")));
    assertRefused((await get(path("short"))).refusal, notFound);
    assertRefused((await remove(path("short"))).refusal, notFound);
    const other = await addMember(organization, []);
    bodyOf(await put(`/users/${other.userId}/metadata/a`, { value: base64("x") }));
    bodyOf(await remove(`/users/${other.userId}`));
    const { refusal } = await get(`/users/${other.userId}/metadata/a`);
    assertRefused(refusal, { code: 5, reason: "USER_NOT_FOUND" });
  });

  it("are found by key, from A to Z", async () => {
    for (const key of ["b", "a", "other"]) await set(key, key);
    const found = bodyOf(await post(`/users/${userId}/metadata/_search`));
    const keys = found.result.map(({ key }: { key: string }) => key);
    assert.deepEqual(keys, keys.toSorted());
    const named = { key: { name: "OTH", method: "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE" } };
    const one = bodyOf(await post(`/users/${userId}/metadata/_search`, [named]));
    assert.deepEqual([one.result.length, one.details.total_result], [1, "1"]);
  });

  it("are read by the user, and written by who may write users", async () => {
    await set("mine", "x");
    bodyOf(await get(path("mine"), { token }));
    const { status, refusal } = await put(path("mine"), { value: base64("y") }, { token });
    assert.equal(status, 403);
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const stranger = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const hidden = await get(path("mine"), { token: stranger.token });
    assertRefused(hidden.refusal, { code: 5, reason: "USER_NOT_FOUND" });
  });
});
