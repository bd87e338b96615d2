// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

const service = await startPeer();
const { get, post, patch, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());

const human = { given_name: "Ada", family_name: "Lovelace", preferred_language: "en" };
const userOf = async (id: string, token?: string) =>
  bodyOf(await get(`/users/${id}`, token === undefined ? {} : { token })).user;
const addUser = async (more: JsonObject = {}) =>
  String(
    bodyOf(await post("/users", { username: uniqueName("user"), data: human, ...more }), 201)
      .details.id,
  );

describe("patching the data of a user", () => {
  it("changes of the data what is named alone, and a member that is null goes", async () => {
    const address = { locality: "London", country: "UK" };
    const id = await addUser({ data: { ...human, nickname: "Countess", address } });
    bodyOf(await patch(`/users/${id}`, { data: { given_name: "Augusta" } }));
    const named = { ...human, given_name: "Augusta", nickname: "Countess" };
    assert.deepEqual((await userOf(id)).user.data, { ...named, address });
    bodyOf(await patch(`/users/${id}`, { data: { nickname: null, address: { country: "GB" } } }));
    const { nickname: _, ...rest } = { ...named, address: { ...address, country: "GB" } };
    assert.deepEqual((await userOf(id)).user.data, rest);
    assertRefused((await patch(`/users/${id}`, { data: { given_name: null, x: 1 } })).refusal, {
      code: 3,
      reason: "USER_DATA_INVALID",
    });
    assert.deepEqual((await userOf(id)).user.data, rest);
    bodyOf(await patch(`/users/${id}`, { data: { address: null } }));
    const { address: __, ...plain } = rest;
    assert.deepEqual((await userOf(id)).user.data, plain);
    // Beside a new schema too: what does not fit it has to be taken away.
    const machine = { schema_id: "machine", data: { name: "Robot" } };
    const stays = await patch(`/users/${id}`, machine);
    assertRefused(stays.refusal, { code: 3, reason: "USER_DATA_INVALID" });
    const gone = Object.fromEntries(Object.keys(plain).map((name) => [name, null]));
    bodyOf(await patch(`/users/${id}`, { ...machine, data: { ...gone, name: "Robot" } }));
    assert.deepEqual((await userOf(id)).user.data, { name: "Robot" });
  });

  it("keeps what patches at the same time change, all of them", async () => {
    const id = await addUser();
    const all = {
      given_name: "A",
      family_name: "B",
      middle_name: "C",
      nickname: "D",
      display_name: "E",
      zoneinfo: "Europe/London",
    };
    const answers = await Promise.all(
      Object.entries(all).map(([name, value]) =>
        patch(`/users/${id}`, { data: { [name]: value } }),
      ),
    );
    answers.forEach((answer) => bodyOf(answer));
    assert.deepEqual((await userOf(id)).user.data, { ...human, ...all });
  });

  it("lets a user write the properties that the schema gives them, and tells nothing of those that it hides", async () => {
    const permission = "urn:idsvc:schema:permission";
    const text = { type: "string" };
    const schema = {
      type: "object",
      properties: {
        motto: { ...text, [permission]: { owner: "rw", self: "rw" } },
        grade: { ...text, [permission]: { owner: "rw", self: "r" } },
        verdict: { ...text, [permission]: { owner: "rw" } },
      },
      required: ["grade", "verdict"],
      additionalProperties: false,
    };
    const made = await post("/user_schemas", { type: uniqueName("staff"), schema });
    const schema_id = String(bodyOf(made, 201).details.id);
    const { userId, token } = await addMember(await addOrganization(), []);
    const before = { motto: "onward", grade: "b", verdict: "secret" };
    const { data: old } = (await userOf(userId)).user;
    const gone = Object.fromEntries(Object.keys(old).map((name) => [name, null]));
    bodyOf(await patch(`/users/${userId}`, { schema_id, data: { ...gone, ...before } }));
    const own = (data: JsonObject) => patch(`/users/${userId}`, { data }, { token });
    bodyOf(await own({ motto: "upward" }));
    assert.deepEqual((await userOf(userId)).user.data, { ...before, motto: "upward" });
    assert.deepEqual((await userOf(userId, token)).user.data, { motto: "upward", grade: "b" });
    // What they read they may send back as it is.
    bodyOf(await own({ motto: "homeward", grade: "b" }));
    const readOnly = { code: 7, reason: "USER_DATA_READ_ONLY" };
    assertRefused((await own({ grade: "a" })).refusal, readOnly);
    const guesses = ["secret", "another", null, 5].map((verdict) => own({ motto: "x", verdict }));
    for (const { status, refusal } of await Promise.all(guesses)) {
      assert.equal(status, 403);
      assertRefused(refusal, readOnly);
      assert.equal(refusal?.message, "user.data.verdict may not be written by the caller");
    }
    assert.deepEqual((await userOf(userId)).user.data, { ...before, motto: "homeward" });
    bodyOf(await own({ motto: null }));
    assert.deepEqual((await userOf(userId, token)).user.data, { grade: "b" });
  });
});
