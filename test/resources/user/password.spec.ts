// Run: shared, costly
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { digestBytes } from "../../../src/resources/user/password/common.ts";
import { bodyOf } from "../../support/peer.ts";
import { processorMs } from "../../support/processor-time.ts";
import { assertRefused } from "../../support/refusal.ts";
import { goodPassword, startUserPeer } from "./user-peer.ts";

const service = await startUserPeer();
const { post, remove, patch, checks, at, addPerson, addMachine, tokenOf } = service;
const { authenticatorsOf, addOrganization, addMember, eventsOf, pass } = service;
after(() => service[Symbol.asyncDispose]());

const other = "another long pass phrase";
const withPassword = (password: JsonObject = { password: goodPassword }) =>
  addPerson({ authenticators: { password } });
const set = (id: string, body: JsonObject, options = {}) =>
  post(`/users/${id}/password`, body, options);
const check = (id: string | undefined, password: string) => checks.password(at, id, password);
const wrong = { isRight: false };
const right = { isRight: true, changeRequired: false };
const reset = async (id: string) =>
  String(bodyOf(await post(`/users/${id}/password/_reset`, { return_code: {} })).verification_code);

describe("setting a password", () => {
  it("needs no proof of who may write credentials, and shows when it was set", async () => {
    const id = await addPerson();
    assertRefused((await set("404", { password: other })).refusal, {
      code: 5,
      reason: "USER_NOT_FOUND",
    });
    const { details } = bodyOf(await set(id, { password: other }));
    assert.equal(details.id, id);
    assert.deepEqual(await authenticatorsOf(id).then(({ password }) => password), {
      last_changed: details.change_date,
      change_required: false,
    });
    assert.deepEqual(await check(id, other), right);
    assert.deepEqual(await check(id, `${other} `), wrong);
  });

  it("may demand that the user chooses another one", async () => {
    const id = await addPerson();
    bodyOf(await set(id, { password: other, change_required: true }));
    assert.deepEqual(await check(id, other), { isRight: true, changeRequired: true });
  });

  it("is refused to a machine", async () => {
    const machine = { code: 9, reason: "USER_IS_MACHINE" };
    const id = await addMachine();
    assertRefused((await set(id, { password: other })).refusal, machine);
    const body = { username: "m", schema_id: "machine", data: { name: "x" } };
    const authenticators = { password: { password: other } };
    assertRefused((await post("/users", { ...body, authenticators })).refusal, machine);
  });

  it("needs a proof of the user's own: their password", async () => {
    const id = await withPassword();
    const token = await tokenOf(id);
    const { refusal } = await set(id, { password: other }, { token });
    assertRefused(refusal, {
      code: 3,
      reason: "PASSWORD_PROOF_MISSING",
      field: "new_password.current_password",
    });
    const mistaken = { password: other, current_password: "mistaken" };
    assertRefused((await set(id, mistaken, { token })).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
      field: "new_password.current_password",
    });
    assert.deepEqual(await check(id, goodPassword), right);
    bodyOf(await set(id, { password: other, current_password: goodPassword }, { token }));
    assert.deepEqual(await check(id, other), right);
    assert.deepEqual(await check(id, goodPassword), wrong);
  });

  it("needs a proof of the user's own: a code, which counts once and for them alone (D53)", async () => {
    const [id, stranger] = [await withPassword(), await withPassword()];
    const [older, foreign] = [await reset(id), await reset(stranger)];
    const code = await reset(id);
    const invalid = { code: 3, reason: "CODE_INVALID", field: "new_password.verification_code" };
    // The sessions of the user end with each change of the password.
    const by = async (verification_code: string) =>
      set(id, { password: other, verification_code }, { token: await tokenOf(id) });
    assertRefused((await by(older)).refusal, invalid, "after a newer one");
    assertRefused((await by(foreign)).refusal, invalid, "of another user");
    bodyOf(await by(code));
    assert.deepEqual(await check(id, other), right);
    assertRefused((await by(code)).refusal, invalid, "used twice");
    const late = await reset(id);
    pass(60 * 60_000 + 1);
    assertRefused((await by(late)).refusal, invalid, "after its life");
  });

  it("spends no code on a password that the policy refuses", async () => {
    const id = await addPerson();
    const code = await reset(id);
    const { refusal } = await set(id, { password: "short", verification_code: code });
    assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY", field: "new_password.password" });
    bodyOf(await set(id, { password: other, verification_code: code }));
  });

  it("is not done by a hash of the user's own: the policy could not be asked", async () => {
    const id = await withPassword();
    const body = { hash: "$1$saltsalt$NuzA7WTAelpl95xgBGWN60", current_password: goodPassword };
    const denied = { code: 7, reason: "PERMISSION_MISSING" };
    assertRefused((await set(id, body, { token: await tokenOf(id) })).refusal, denied);
  });

  it("is refused to who may only read the user, and unseen by another organization", async () => {
    const organizationId = await addOrganization();
    const users = `/users?ctx.org_id=${organizationId}`;
    const made = await post(users, { username: "x", data: {} });
    const id = String(bodyOf(made, 201).details.id);
    const viewer = await addMember(organizationId, ["ORG_OWNER_VIEWER"]);
    const outsider = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const body = { password: other };
    assertRefused((await set(id, body, viewer)).refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const absent = await set("404", body, outsider);
    assert.deepEqual((await set(id, body, outsider)).json, absent.json);
    assert.equal(absent.refusal?.reason, "USER_NOT_FOUND");
  });
});

describe("the policy of passwords", () => {
  const lacking: [string, string, string][] = [
    ["abcdefg", "min_length", "PASSWORD_TOO_SHORT"],
    ["password1", "blocklist", "PASSWORD_GUESSABLE"],
    ["PassWord1", "blocklist", "PASSWORD_GUESSABLE"],
    ["lovelace12", "blocklist", "PASSWORD_GUESSABLE"],
    ["idsvc-idsvc", "blocklist", "PASSWORD_GUESSABLE"],
    // Long enough without the name, which it holds all the same.
    ["Lovelace rode a quiet horse", "blocklist", "PASSWORD_GUESSABLE"],
    ["a quiet horse of engine.mail", "blocklist", "PASSWORD_GUESSABLE"],
  ];
  for (const [password, missing, reason] of lacking) {
    it(`refuses ${password}, and says what is missing: ${missing}`, async () => {
      const id = await addPerson({
        data: { given_name: "Ada", family_name: "Lovelace" },
        contact: { email: { address: "engine.mail@example.com" } },
      });
      const { refusal } = await set(id, { password });
      assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY" });
      assert.equal(refusal.metadata["missing"], missing);
      assert.deepEqual(
        refusal.violations.map((one) => [one.field, one.reason]),
        [["new_password.password", reason]],
      );
    });
  }

  it("knows at least 100,000 common passwords (L7)", async () => {
    const list = join(import.meta.dirname, "../../../third_party/passwords/common.bin");
    const { size } = await stat(list);
    assert.ok(size / digestBytes >= 100_000, `${size / digestBytes} passwords`);
  });

  it("refuses one that holds the login name, with what follows the @ and without", async () => {
    const id = await addPerson({ username: "countess-of-engines@example.com" });
    for (const password of [
      "a countess-of-engines on horses",
      "countess-of-engines@example.com !",
    ]) {
      const { refusal } = await set(id, { password });
      assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY" });
      assert.equal(refusal.metadata["missing"], "blocklist");
    }
  });

  it("takes no short name for held: it stands in words that have nothing to do with it", async () => {
    const id = await addPerson({ data: { given_name: "Ada", family_name: "Lee" } });
    bodyOf(await set(id, { password: "adamant sleepless horses" }));
  });

  it("holds for new users too, of whom nothing is left then", async () => {
    const username = "refused-user";
    const authenticators = { password: { password: "short" } };
    const { refusal } = await post("/users", { username, data: {}, authenticators });
    assertRefused(refusal, {
      code: 3,
      reason: "PASSWORD_POLICY",
      field: "user.authenticators.password.password",
    });
    bodyOf(await post("/users", { username, data: {} }), 201);
  });

  it("is that of the organization: all that is missing is told at once", async () => {
    const organizationId = await addOrganization();
    const settings = {
      min_length: { set: "20" },
      requires_uppercase: { set: true },
      requires_number: { set: true },
      requires_symbol: { set: true },
      max_age: { set: "3600s" },
    };
    const path = `/settings/v3alpha/passwords?ctx.org_id=${organizationId}`;
    const { token } = service.app;
    const changed = await service.peer.rest("PATCH", path, settings, { token });
    assert.equal(changed.status, 200, JSON.stringify(changed.json));
    const made = await post(`/users?ctx.org_id=${organizationId}`, { username: "x", data: {} });
    const id = String(bodyOf(made, 201).details.id);
    const { refusal } = await set(id, { password: "quiet river" });
    assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY", field: "new_password.password" });
    const missing = "min_length,requires_uppercase,requires_number,requires_symbol";
    assert.equal(refusal.metadata["missing"], missing);
    const good = "Quiet River under 7 bridges!";
    bodyOf(await set(id, { password: good }));
    assert.deepEqual(await check(id, good), right);
    pass(3_600_001);
    assert.deepEqual(await check(id, good), { isRight: true, changeRequired: true });
  });
});

describe("a code to reset a password", () => {
  it("is announced by an event without the code", async () => {
    const id = await addPerson();
    const code = await reset(id);
    const events = await eventsOf(id);
    assert.equal(events.at(-1)?.type, "user.human.password.code.added");
    assert.doesNotMatch(JSON.stringify(events.map(({ payload }) => payload)), new RegExp(code));
  });

  it("is never returned for oneself", async () => {
    const id = await addPerson();
    const { refusal } = await post(
      `/users/${id}/password/_reset`,
      { return_code: {} },
      { token: await tokenOf(id) },
    );
    assertRefused(refusal, { code: 7, reason: "PROOF_FOR_ONESELF" });
  });

  it("is sent only to an address that is there", async () => {
    const missing = { code: 9, reason: "CONTACT_MISSING" };
    const id = await addPerson();
    const ways: JsonValue[] = [{}, { send_email: {} }, { send_sms: {} }];
    for (const way of ways) {
      assertRefused((await post(`/users/${id}/password/_reset`, way)).refusal, missing);
    }
    const email = { address: "ada@example.com", is_verified: true };
    const reachable = await addPerson({ contact: { email } });
    const answer = bodyOf(await post(`/users/${reachable}/password/_reset`, { send_email: {} }));
    assert.deepEqual(Object.keys(answer), ["details"]);
  });

  it("is refused for a machine", async () => {
    const path = `/users/${await addMachine()}/password/_reset`;
    const machine = { code: 9, reason: "USER_IS_MACHINE" };
    assertRefused((await post(path, { return_code: {} })).refusal, machine);
  });

  it("counts no more after ten wrong ones (D52)", async () => {
    const id = await addPerson();
    const code = await reset(id);
    const invalid = { code: 3, reason: "CODE_INVALID", field: "new_password.verification_code" };
    const by = (verification_code: string) => set(id, { password: other, verification_code });
    for (let turn = 0; turn < 10; turn++) assertRefused((await by("WRONG")).refusal, invalid);
    assertRefused((await by(code)).refusal, invalid);
  });
});

describe("removing a password", () => {
  it("ends its use", async () => {
    const id = await withPassword();
    bodyOf(await remove(`/users/${id}/password`));
    assert.deepEqual(await check(id, goodPassword), wrong);
    assert.equal((await authenticatorsOf(id))["password"], undefined);
    assertRefused((await remove(`/users/${id}/password`)).refusal, {
      code: 9,
      reason: "PASSWORD_MISSING",
    });
  });

  it("is not for the user whose it is", async () => {
    const id = await withPassword();
    const { refusal } = await remove(`/users/${id}/password`, { token: await tokenOf(id) });
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
  });
});

describe("an imported hash (G3)", () => {
  const bcrypt = "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2";

  it("is verified, and replaced by our own at the first right password", async () => {
    const id = await withPassword({ hash: bcrypt });
    const secret = async () => {
      const ref = { instanceId: at.instanceId, ownerType: "user", ownerId: id };
      const bytes = await service.deps.secrets.open({ ...ref, kind: "password", id: "1" });
      return JSON.parse(Buffer.from(bytes ?? []).toString("utf8"));
    };
    assert.deepEqual(await secret(), { imported: bcrypt });
    assert.deepEqual(await check(id, "wrong horse"), wrong);
    assert.deepEqual(await check(id, "correct horse"), right);
    assert.match((await secret()).phc, /^\$argon2id\$/);
    assert.deepEqual(
      (await eventsOf(id)).slice(-3).map(({ type }) => type),
      ["check.failed", "check.succeeded", "hash.updated"].map(
        (how) => `user.human.password.${how}`,
      ),
    );
    assert.deepEqual(await check(id, "correct horse"), right);
  });

  const refused: [string, string, string][] = [
    ["of an unknown scheme", "$whirlpool$abc", "PASSWORD_HASH_UNKNOWN"],
    ["bcrypt of cost 31", bcrypt.replace("$05$", "$31$"), "PASSWORD_HASH_TOO_COSTLY"],
    [
      "argon2 of 4 GiB",
      "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHRzYWx0$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0c2FsdHNhbHQ",
      "PASSWORD_HASH_TOO_COSTLY",
    ],
    [
      "pbkdf2 of 2^31 rounds",
      "$pbkdf2-sha256$2147483648$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdHNhbHRzYWx0c2FsdHNhbHQ",
      "PASSWORD_HASH_TOO_COSTLY",
    ],
    ["bad base64", "$pbkdf2-sha256$1000$c2FsdHNhbHQ$!!!!", "PASSWORD_HASH_MALFORMED"],
    ["1 MB of text", "x".repeat(1_000_000), "VALIDATION_FAILED"],
    ["only a dollar", "$", "PASSWORD_HASH_UNKNOWN"],
  ];
  for (const [what, hash, reason] of refused) {
    it(`is refused for less than a second of a processor, and makes no user: ${what} (D59)`, async () => {
      const count = await service.eventCount();
      const begin = processorMs();
      const answer = await post("/users", {
        username: "importer",
        data: {},
        authenticators: { password: { hash } },
      });
      assert.ok(processorMs() - begin < 1_000);
      assert.equal(answer.status, 400);
      const field = "user.authenticators.password.hash";
      assertRefused(answer.refusal, { code: 3, reason, field });
      assert.equal(await service.eventCount(), count);
    });
  }
});

describe("checking a password", () => {
  it("answers alike whoever it is asked of", async () => {
    const ids = {
      nobody: undefined,
      stranger: "404",
      without: await addPerson(),
      machine: await addMachine(),
      locked: await withPassword(),
      inactive: await withPassword(),
    };
    await post(`/users/${ids.locked}/_lock`);
    await post(`/users/${ids.inactive}/_deactivate`);
    for (const [who, id] of Object.entries(ids)) {
      assert.deepEqual(await check(id, goodPassword), wrong, who);
    }
    await post(`/users/${ids.locked}/_unlock`);
    assert.deepEqual(await check(ids.locked, goodPassword), right);
  });

  it("is wrong while the organization is not active", async () => {
    const organizationId = await addOrganization();
    const authenticators = { password: { password: goodPassword } };
    const user = { username: "x", data: {}, authenticators };
    const made = await post(`/users?ctx.org_id=${organizationId}`, user);
    const id = String(bodyOf(made, 201).details.id);
    assert.deepEqual(await check(id, goodPassword), right);
    bodyOf(await post(`/organizations/${organizationId}/_deactivate`));
    assert.deepEqual(await check(id, goodPassword), wrong);
  });

  it("takes no password that begins with the right one, or is another text (D59)", async () => {
    const id = await addPerson();
    const long = "x".repeat(180);
    bodyOf(await set(id, { password: long }));
    assert.deepEqual(await check(id, long.slice(0, 72)), wrong);
    assert.deepEqual(await check(id, `${long}\u0000`), wrong);
    assert.deepEqual(await check(id, long), right);
  });

  it("keeps patching a user out of their credentials", async () => {
    const { refusal } = await patch(`/users/${await withPassword()}`, { authenticators: {} });
    assert.equal(refusal?.code, 3);
  });
});
