// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

let shift = 0;
const service = await startPeer({ now: () => new Date(Date.now() + shift) });
const { get, post, put, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());

const addUser = async (contact: JsonObject = {}) => {
  const body = {
    username: uniqueName("user"),
    data: { given_name: "A", family_name: "B" },
    contact,
  };
  return bodyOf(await post("/users", body), 201);
};
const contactOf = async (id: string) => bodyOf(await get(`/users/${id}`)).user.user.contact;
const invalid = { code: 3, reason: "CODE_INVALID", field: "verification_code" };

const kinds = [
  {
    kind: "email",
    set: (more: JsonObject = {}) => ({ address: "ada@example.com", return_code: {}, ...more }),
    other: { address: "other@example.com" },
    lifeMs: 60 * 60_000,
  },
  {
    kind: "phone",
    set: (more: JsonObject = {}) => ({ number: "+41790000000", return_code: {}, ...more }),
    other: { number: "+41790000001" },
    lifeMs: 10 * 60_000,
  },
] as const;

for (const { kind, set, other: another, lifeMs } of kinds) {
  const make = async () => {
    const { details, ...codes } = await addUser({ [kind]: set() });
    const id = String(details.id);
    const verify = (code: string, options = {}) =>
      post(`/users/${id}/${kind}/_verify`, code, options);
    return { id, code: String(codes[`${kind}_code`]), verify };
  };

  describe(`the ${kind} of a user`, () => {
    it("is proven by its code, which counts once (D53)", async () => {
      const { id, code, verify } = await make();
      assert.equal((await contactOf(id))[kind].is_verified, false);
      bodyOf(await verify(code));
      assert.equal((await contactOf(id))[kind].is_verified, true);
      assertRefused((await verify(code)).refusal, { code: 9, reason: "CONTACT_VERIFIED" });
    });

    it("is not proven by the code of another user (D53)", async () => {
      const [mine, other] = [await make(), await make()];
      assertRefused((await mine.verify(other.code)).refusal, invalid);
      bodyOf(await other.verify(other.code));
    });

    it("is not proven by a code that is older than its life (D52)", async () => {
      const { code, verify } = await make();
      shift += lifeMs + 1;
      assertRefused((await verify(code)).refusal, invalid);
    });

    it("is not proven by any code after ten wrong ones (D52)", async () => {
      const { code, verify } = await make();
      for (let turn = 0; turn < 10; turn++) assertRefused((await verify("WRONG")).refusal, invalid);
      assertRefused((await verify(code)).refusal, invalid);
    });

    it("is proven once by two hundred tries at once, of which ten are wrong at most (D52)", async () => {
      const { id, code, verify } = await make();
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, turn) => verify(turn === 20 ? code : "WRONG")),
      );
      const right = answers.filter(({ status }) => status === 200).length;
      assert.ok(right <= 1);
      const events = await service.app.kernel.events.read({
        instanceId: service.app.made.instance_id,
        aggregate: { type: "user", id },
      });
      const proven = events.filter(({ type }) => type === `user.human.${kind}.verified`).length;
      assert.equal(proven, right);
    });

    it("gets another code, which ends the one before (D53)", async () => {
      const { id, code, verify } = await make();
      const again = bodyOf(await post(`/users/${id}/${kind}/_resend`, { return_code: {} }));
      assertRefused((await verify(code)).refusal, invalid);
      bodyOf(await verify(again.verification_code));
      const { refusal } = await post(`/users/${id}/${kind}/_resend`, { return_code: {} });
      assertRefused(refusal, { code: 9, reason: "CONTACT_VERIFIED" });
    });

    it("is unproven again once it is another one, and the old code does not prove it", async () => {
      const { id, code, verify } = await make();
      bodyOf(await put(`/users/${id}/${kind}`, another));
      assertRefused((await verify(code)).refusal, invalid);
      assert.deepEqual((await contactOf(id))[kind], { ...another, is_verified: false });
      bodyOf(await put(`/users/${id}/${kind}`, { ...another, is_verified: true }));
      assert.equal((await contactOf(id))[kind].is_verified, true);
      bodyOf(await put(`/users/${id}/${kind}`, set()));
      assert.equal((await contactOf(id))[kind].is_verified, false);
    });

    it("goes unproven to whoever sets their own, and the code only to the address", async () => {
      const { userId, token } = await addMember(await addOrganization(), []);
      const owner = { userId: service.app.made.machine.user_id };
      const forOneself = { code: 7, reason: "PROOF_FOR_ONESELF" };
      for (const caller of [{ userId, token }, owner]) {
        const path = `/users/${caller.userId}/${kind}`;
        const as = "token" in caller ? { token: caller.token } : {};
        for (const proof of [{ return_code: {} }, { is_verified: true }]) {
          const wanted = { ...another, ...proof };
          assertRefused((await put(path, wanted, as)).refusal, forOneself);
          const patch = { contact: { [kind]: wanted } };
          const patched = await service.patch(`/users/${caller.userId}`, patch, as);
          assertRefused(patched.refusal, forOneself);
        }
        assert.deepEqual(Object.keys(bodyOf(await put(path, another, as))), ["details"]);
        assertRefused((await post(`${path}/_resend`, { return_code: {} }, as)).refusal, forOneself);
        assert.deepEqual(Object.keys(bodyOf(await post(`${path}/_resend`, {}, as))), ["details"]);
        assert.equal((await contactOf(caller.userId))[kind].is_verified, false);
      }
      const { verification_code } = bodyOf(
        await post(`/users/${userId}/${kind}/_resend`, { return_code: {} }),
      );
      bodyOf(await post(`/users/${userId}/${kind}/_verify`, verification_code, { token }));
      assert.equal((await contactOf(userId))[kind].is_verified, true);
    });

    it("cannot be proven where there is none", async () => {
      const { details } = await addUser();
      const missing = { code: 9, reason: "CONTACT_MISSING" };
      assertRefused((await post(`/users/${details.id}/${kind}/_verify`, "X")).refusal, missing);
      assertRefused((await post(`/users/${details.id}/${kind}/_resend`, {})).refusal, missing);
    });
  });
}
