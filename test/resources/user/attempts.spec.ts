// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { Secret, TOTP } from "otpauth";
import { waitAfter } from "../../../src/resources/user/check/attempts.ts";
import { bodyOf } from "../../support/peer.ts";
import { goodPassword, startUserPeer, together } from "./user-peer.ts";

const service = await startUserPeer();
const { get, post, checks, at, addPerson, eventsOf, pass, deps } = service;
after(() => service[Symbol.asyncDispose]());

const minute = 60_000;
const withPassword = () => addPerson({ authenticators: { password: { password: goodPassword } } });
const wrong = { isRight: false };
const right = { isRight: true, changeRequired: false };
const check = (id: string, password = "wrong") => checks.password(at, id, password);
const failures = async (id: string) =>
  (await eventsOf(id)).filter(({ type }) => type.endsWith("check.failed")).length;

describe("wrong attempts", () => {
  it("stop all judging after ten, the right password gets the same answer (D51)", async () => {
    const id = await withPassword();
    for (let turn = 0; turn < 10; turn++) assert.deepEqual(await check(id), wrong);
    assert.deepEqual(await check(id, goodPassword), wrong);
    assert.equal(await failures(id), 10);
    const { state } = bodyOf(await get(`/users/${id}`)).user;
    assert.equal(state, "USER_STATE_ACTIVE", "only people lock users");
    pass(9 * minute);
    assert.deepEqual(await check(id, goodPassword), wrong);
    pass(minute + 1);
    assert.deepEqual(await check(id), wrong);
    assert.equal(await failures(id), 11);
    pass(19 * minute);
    assert.deepEqual(await check(id, goodPassword), wrong);
    pass(minute + 1);
    assert.deepEqual(await check(id, goodPassword), right);
    assert.deepEqual(await check(id), wrong);
    assert.deepEqual(await check(id, goodPassword), right);
  });

  it("are judged ten times at most, of however many at the same time (D51)", async () => {
    const id = await withPassword();
    const outcomes = await together(40, () => check(id));
    assert.ok(outcomes.every(({ isRight }) => !isRight));
    assert.equal(await failures(id), 10);
  });

  it("below ten make nobody wait where the clock steps back, and from ten on nobody less (F20)", async () => {
    const id = await withPassword();
    assert.deepEqual(await check(id), wrong);
    pass(-minute);
    assert.deepEqual(await check(id, goodPassword), right);
    for (let turn = 0; turn < 10; turn++) assert.deepEqual(await check(id), wrong);
    pass(-minute);
    assert.deepEqual(await check(id, goodPassword), wrong);
    pass(10 * minute);
    assert.deepEqual(await check(id, goodPassword), wrong);
    pass(minute);
    assert.deepEqual(await check(id, goodPassword), right);
  });

  it("are forgiven by a new password, at second factors they are not", async () => {
    const id = await withPassword();
    const { totp_id, secret } = bodyOf(await post(`/users/${id}/totp`));
    const app = new TOTP({ secret: Secret.fromBase32(secret) });
    const code = () => app.generate({ timestamp: deps.now().getTime() });
    bodyOf(await post(`/users/${id}/totp/${totp_id}/_verify`, code()));
    pass(minute);
    const wrongCode = code() === "000000" ? "000001" : "000000";
    for (let turn = 0; turn < 10; turn++) {
      assert.deepEqual(await check(id), wrong);
      assert.equal(await checks.totp(at, id, wrongCode), false);
    }
    const another = "another long pass phrase";
    bodyOf(await post(`/users/${id}/password`, { password: another }));
    assert.deepEqual(await check(id, another), right);
    assert.equal(await checks.totp(at, id, code()), false);
    pass(10 * minute);
    assert.equal(await checks.totp(at, id, code()), true);
  });

  it("at one kind of second factor count for all (D52)", async () => {
    const id = await addPerson();
    const [code = ""] = bodyOf(await post(`/users/${id}/recovery_codes`)).recovery_codes;
    bodyOf(await post(`/users/${id}/otp_email`, { address: "a@example.com", is_verified: true }));
    const tried = { channel: "email", code: "WRONG" } as const;
    for (let turn = 0; turn < 10; turn++)
      assert.equal(await checks.otp.check(at, id, tried), false);
    assert.equal(await checks.recoveryCode(at, id, code), false);
  });
});

describe("the wait after wrong attempts", () => {
  it("is ten minutes after the tenth, doubles, and is a day at most", () => {
    const minutes = [0, 9, 10, 11, 12, 17, 18, 1_000].map((count) => waitAfter(count) / minute);
    assert.deepEqual(minutes, [0, 0, 10, 20, 40, 1_280, 1_440, 1_440]);
  });
});
