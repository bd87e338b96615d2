// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Secret, TOTP } from "otpauth";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startUserPeer, together } from "./user-peer.ts";

const service = await startUserPeer();
const { post, remove, checks, at, addPerson, addMachine, tokenOf, deps } = service;
const { authenticatorsOf, eventsOf, pass } = service;
after(() => service[Symbol.asyncDispose]());

const invalid = { code: 3, reason: "CODE_INVALID", field: "code" };
const machine = { code: 9, reason: "USER_IS_MACHINE" };
const minute = 60_000;
const wrongCode = (code: string) => (code === "000000" ? "000001" : "000000");

async function startTotp(id: string, options = {}) {
  const answer = bodyOf(await post(`/users/${id}/totp`, undefined, options));
  const secret = Secret.fromBase32(answer.secret);
  const app = new TOTP({ secret, algorithm: "SHA1", digits: 6, period: 30 });
  const code = (shiftMs = 0) => app.generate({ timestamp: deps.now().getTime() + shiftMs });
  return { ...answer, code, totpId: String(answer.totp_id) };
}

async function withTotp() {
  const id = await addPerson();
  const totp = await startTotp(id);
  bodyOf(await post(`/users/${id}/totp/${totp.totpId}/_verify`, totp.code()));
  // The code that ended the registration has counted.
  pass(minute);
  return { id, ...totp };
}

describe("an app for one-time passwords", () => {
  it("is registered with a URI and a secret that are shown once, and ended by a code of it", async () => {
    const id = await addPerson();
    const token = await tokenOf(id);
    const started = await startTotp(id, { token });
    const uri = new URL(started.uri);
    assert.equal(`${uri.protocol}//${uri.host}`, "otpauth://totp");
    assert.equal(uri.searchParams.get("secret"), started.secret);
    assert.equal(uri.searchParams.get("issuer"), "localhost");
    const { totpId } = started;
    const shown = async () => (await authenticatorsOf(id))["totps"];
    assert.deepEqual(await shown(), [{ totp_id: totpId, is_verified: false }]);
    const path = `/users/${id}/totp/${totpId}/_verify`;
    assert.equal(await checks.totp(at, id, started.code()), false);
    assertRefused((await post(path, wrongCode(started.code()), { token })).refusal, invalid);
    bodyOf(await post(path, started.code(), { token }));
    assert.deepEqual(await shown(), [{ totp_id: totpId, is_verified: true }]);
    const verified = { code: 9, reason: "TOTP_VERIFIED" };
    assertRefused((await post(path, started.code(), { token })).refusal, verified);
    const log = JSON.stringify((await eventsOf(id)).map(({ payload }) => payload));
    assert.ok(!log.includes(started.secret));
  });

  it("takes the place of a registration that was not ended", async () => {
    const id = await addPerson();
    const first = await startTotp(id);
    const { totpId } = await startTotp(id);
    const shown = (await authenticatorsOf(id))["totps"];
    assert.deepEqual(shown, [{ totp_id: totpId, is_verified: false }]);
    const { refusal } = await post(`/users/${id}/totp/${first.totpId}/_verify`, first.code());
    assertRefused(refusal, { code: 5, reason: "TOTP_NOT_FOUND" });
  });

  it("is checked: a code counts once, and none of before it after it (D53)", async () => {
    const { id, code } = await withTotp();
    const before = code(-30_000);
    assert.equal(await checks.totp(at, id, code()), true);
    assert.equal(await checks.totp(at, id, code()), false);
    assert.equal(await checks.totp(at, id, before), false);
    assert.equal(await checks.totp(at, undefined, code()), false);
    assert.equal(await checks.totp(at, "404", code()), false);
    assert.equal(await checks.totp(at, await addPerson(), code()), false);
    pass(minute);
    assert.equal(await checks.totp(at, id, code(-60_000)), false, "two steps old");
    assert.equal(await checks.totp(at, id, code().replace(/^.../, "$& ")), true);
  });

  it("counts one of two hundred tries of one code at the same time (D53)", async () => {
    const { id, code } = await withTotp();
    const right = code();
    const outcomes = await together(200, () => checks.totp(at, id, right));
    assert.equal(outcomes.filter(Boolean).length, 1);
  });

  it("is removed, and none of its codes counts any more", async () => {
    const { id, totpId, code } = await withTotp();
    bodyOf(await remove(`/users/${id}/totp/${totpId}`, { token: await tokenOf(id) }));
    assert.equal(await checks.totp(at, id, code()), false);
    const gone = { code: 5, reason: "TOTP_NOT_FOUND" };
    assertRefused((await remove(`/users/${id}/totp/${totpId}`)).refusal, gone);
  });

  it("is nothing for a machine", async () => {
    assertRefused((await post(`/users/${await addMachine()}/totp`)).refusal, machine);
  });
});

const channels = [
  {
    channel: "sms",
    path: "otp_sms",
    missing: "OTP_SMS_NOT_FOUND",
    verified: "OTP_SMS_VERIFIED",
    contact: (more: JsonObject = {}) => ({ number: "+41790000000", ...more }),
    shown: { phone: "+41790000000" },
  },
  {
    channel: "email",
    path: "otp_email",
    missing: "OTP_EMAIL_NOT_FOUND",
    verified: "OTP_EMAIL_VERIFIED",
    contact: (more: JsonObject = {}) => ({ address: "ada@example.com", ...more }),
    shown: { address: "ada@example.com" },
  },
] as const;

for (const { channel, path, missing, verified, contact, shown } of channels) {
  const add = (id: string, more: JsonObject, options = {}) =>
    post(`/users/${id}/${path}`, contact(more), options);
  const registered = async () => {
    const id = await addPerson();
    const made = bodyOf(await add(id, { is_verified: true }));
    return { id, otpId: String(made[`${path}_id`]) };
  };
  const issue = (id: string) =>
    deps.events.transact(at, (tx) =>
      checks.otp.issue(tx, { instanceId: at.instanceId, userId: id }, channel, "returned"),
    );
  const check = (id: string | undefined, code: string) =>
    checks.otp.check(at, id, { channel, code });

  describe(`one-time passwords by ${channel}`, () => {
    it("are registered by a code that counts once, for ten minutes (D52, D53)", async () => {
      const id = await addPerson();
      const token = await tokenOf(id);
      const begun = bodyOf(await add(id, { return_code: {} }));
      const here = `/users/${id}/${path}/${begun[`${path}_id`]}/_verify`;
      assertRefused((await post(here, "WRONG")).refusal, invalid);
      assertRefused((await post(`/users/${id}/${path}/404/_verify`, begun.code)).refusal, {
        code: 5,
        reason: missing,
      });
      const late = bodyOf(await add(await addPerson(), { return_code: {} }));
      const lateAt = `/users/${late.details.id}/${path}/${late[`${path}_id`]}/_verify`;
      bodyOf(await post(here, begun.code, { token }));
      assertRefused((await post(here, begun.code)).refusal, { code: 9, reason: verified });
      assert.deepEqual((await authenticatorsOf(id))[path], [
        { [`${path}_id`]: begun[`${path}_id`], ...shown, is_verified: true },
      ]);
      pass(10 * minute + 1);
      assertRefused((await post(lateAt, late.code)).refusal, invalid);
    });

    it("are registered by oneself with a code that is sent, never without or by a returned one", async () => {
      const id = await addPerson();
      const token = await tokenOf(id);
      const forOneself = { code: 7, reason: "PROOF_FOR_ONESELF" };
      for (const proof of [{ is_verified: true }, { return_code: {} }]) {
        assertRefused((await add(id, proof, { token })).refusal, forOneself);
      }
      const sent = bodyOf(await add(id, {}, { token }));
      assert.equal(sent.code, undefined);
      assertRefused((await add(await addMachine(), {})).refusal, machine);
      assertRefused((await add("404", {})).refusal, { code: 5, reason: "USER_NOT_FOUND" });
    });

    it("are issued and count once, for five minutes, for the user alone (D53)", async () => {
      const { id } = await registered();
      const other = await registered();
      const older = await issue(id);
      const issued = await issue(id);
      assert.match(String(issued?.code), /^\d{8}$/);
      const code = String(issued?.code);
      assert.equal(await check(id, String(older?.code)), false);
      assert.equal(await check(other.id, code), false);
      assert.equal(await check(undefined, code), false);
      assert.equal(await check(id, code), true);
      assert.equal(await check(id, code), false);
      const late = await issue(id);
      pass(5 * minute + 1);
      assert.equal(await check(id, String(late?.code)), false);
    });

    it("are not issued where nothing is registered", async () => {
      assert.equal(await issue(await addPerson()), undefined);
      const begun = await addPerson();
      bodyOf(await add(begun, {}));
      assert.equal(await issue(begun), undefined);
    });

    it("are dead after ten wrong tries, of however many at once (D52)", async () => {
      const { id } = await registered();
      const code = String((await issue(id))?.code);
      const wrong = wrongCode(code);
      const outcomes = await together(200, () => check(id, wrong));
      assert.ok(outcomes.every((isRight) => !isRight));
      const failures = (await eventsOf(id)).filter(({ type }) => type.endsWith("check.failed"));
      assert.equal(failures.length, 10);
      assert.equal(await check(id, code), false, "no more than the limit is evaluated");
    });

    it("are removed, and a code under way counts no more", async () => {
      const { id, otpId } = await registered();
      const issued = await issue(id);
      bodyOf(await remove(`/users/${id}/${path}/${otpId}`, { token: await tokenOf(id) }));
      assert.equal(await check(id, String(issued?.code)), false);
      bodyOf(await add(id, { is_verified: true }));
      assert.equal(await check(id, String(issued?.code)), false, "not for another one either");
      assertRefused((await remove(`/users/${id}/${path}/${otpId}`)).refusal, {
        code: 5,
        reason: missing,
      });
    });
  });
}

describe("recovery codes", () => {
  const generate = async (id: string, options = {}): Promise<string[]> =>
    bodyOf(await post(`/users/${id}/recovery_codes`, undefined, options)).recovery_codes;
  const remaining = async (id: string) => (await authenticatorsOf(id))["recovery_codes"];

  it("are ten, each counts once, in whatever spelling (D53)", async () => {
    const [id, other] = [await addPerson(), await addPerson()];
    const codes = await generate(id, { token: await tokenOf(id) });
    await generate(other);
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) assert.match(code, /^[a-z2-9]{5}-[a-z2-9]{5}$/);
    const [first = "", second = ""] = codes;
    assert.equal(await checks.recoveryCode(at, other, first), false, "of another user");
    assert.equal(await checks.recoveryCode(at, undefined, first), false);
    assert.equal(await checks.recoveryCode(at, id, first), true);
    assert.equal(await checks.recoveryCode(at, id, first), false);
    assert.deepEqual(await remaining(id), { remaining: 9 });
    const spoken = second.replace("-", " ").toUpperCase();
    const outcomes = await together(50, () => checks.recoveryCode(at, id, spoken));
    assert.equal(outcomes.filter(Boolean).length, 1);
    assert.deepEqual(await remaining(id), { remaining: 8 });
  });

  it("end those made before", async () => {
    const id = await addPerson();
    const [old = ""] = await generate(id);
    const [code = ""] = await generate(id);
    assert.deepEqual(await remaining(id), { remaining: 10 });
    assert.equal(await checks.recoveryCode(at, id, old), false);
    assert.equal(await checks.recoveryCode(at, id, code), true);
  });

  it("are removed all at once", async () => {
    const id = await addPerson();
    const [code = ""] = await generate(id);
    bodyOf(await remove(`/users/${id}/recovery_codes`));
    assert.equal(await checks.recoveryCode(at, id, code), false);
    assert.equal(await remaining(id), undefined);
    const none = { code: 9, reason: "RECOVERY_CODES_MISSING" };
    assertRefused((await remove(`/users/${id}/recovery_codes`)).refusal, none);
  });

  it("are nothing for a machine", async () => {
    const { refusal } = await post(`/users/${await addMachine()}/recovery_codes`);
    assertRefused(refusal, machine);
  });
});
