// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { user, userEvents } from "../../src/resources/user/index.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { goodPassword } from "../resources/user/user-peer.ts";
import { startSessionPeer } from "../resources/session/session-peer.ts";

const service = await startSessionPeer();
const { app, peer, post, put, patch, get, remove, pass, open, show } = service;
after(() => service[Symbol.asyncDispose]());

const mfa = { code: 7, reason: "MFA_REQUIRED" };
const policy = { code: 7, reason: "LOGIN_POLICY" };

/** A person with a password, of an organization with these login settings. */
async function personUnder(settings: JsonObject): Promise<string> {
  const org = await service.addOrganization();
  const set = await peer.rest("PATCH", `/settings/v3alpha/login?ctx.org_id=${org}`, settings, {
    token: app.token,
  });
  bodyOf(set);
  const person = {
    username: uniqueName("person"),
    data: { given_name: "Ada" },
    authenticators: { password: { password: goodPassword } },
  };
  return String(bodyOf(await post(`/users?ctx.org_id=${org}`, person), 201).details.id);
}
const logIn = (id: string) =>
  open({ checks: { user: { user_id: id }, password: { password: goodPassword } } });
const forced = { force_mfa: { set: true } };

describe("a session that does not satisfy the login settings (J11)", () => {
  it("by a password alone is no bearer where a second factor is demanded", async () => {
    const id = await personUnder(forced);
    const session = await logIn(id);
    const { token } = session;
    const request = { id, email: { address: "a@example.test" } };
    const overGrpc = await peer.call("grpc", UserService.method.setContactEmail, request, {
      token,
    });
    assertRefused(overGrpc, mfa);
    assert.equal(overGrpc.metadata["lacks"], "second_factor_setup");
    for (const refused of [
      await put(`/users/${id}/email`, { address: "a@example.test" }, { token }),
      await post("/users/_search", [], { token }),
      await post(`/users/${id}/recovery_codes`, undefined, { token }),
    ]) {
      assertRefused(refused.refusal, mfa);
      assert.equal(refused.status, 403);
    }
    bodyOf(await get(`/users/${id}`, { token }));
    const shown = bodyOf(await get(`/sessions/${session.id}`, { token }));
    assert.deepEqual(shown.session.lacks, ["second_factor_setup"]);
    assertRefused((await get(`/users/${app.made.admin.user_id}`, { token })).refusal, mfa);
    bodyOf(await remove(`/sessions/${session.id}`, { token }));
  });

  it("by a password is no bearer where passwords are not allowed", async () => {
    const id = await personUnder({ allow_username_password: { set: false } });
    const { token, id: sessionId } = await logIn(id);
    assertRefused((await post("/users/_search", [], { token })).refusal, policy);
    const { method } = SessionService;
    const overGrpc = await peer.call("grpc", method.searchSessions, {}, { token });
    assertRefused(overGrpc, policy);
    assert.equal(overGrpc.metadata["lacks"], "allowed_way");
    assert.deepEqual((await show(sessionId)).lacks, ["allowed_way"]);
  });

  it("may register a first second factor, and none beside one", async () => {
    const id = await personUnder(forced);
    const { token } = await logIn(id);
    bodyOf(await post(`/users/${id}/totp`, undefined, { token }));
    const { at, deps } = service;
    await deps.events.transact(at, async (tx) => {
      tx.record(user, await tx.load(user, id), [
        userEvents["human.mfa.otp.added"]({ totpId: "1" }),
        userEvents["human.mfa.otp.verified"]({ totpId: "1" }),
      ]);
    });
    assertRefused((await post(`/users/${id}/totp`, undefined, { token })).refusal, mfa);
  });

  it("uses none of the roles of its user on the way", async () => {
    const id = await personUnder(forced);
    const ctx = { instance_id: app.made.instance_id };
    bodyOf(await post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);
    const { token, id: sessionId } = await logIn(id);
    const longer = { checks: {}, lifetime: "864000s" };
    const refused = await patch(`/sessions/${sessionId}`, longer, { token });
    assertRefused(refused.refusal, { code: 7, reason: "PERMISSION_MISSING" });
  });

  it("adds what it lacks by itself, and nothing else", async () => {
    const id = await personUnder(forced);
    const { totp_id, secret } = bodyOf(await post(`/users/${id}/totp`));
    const codes = new TOTP({ secret: Secret.fromBase32(secret) });
    const code = (steps: number) => codes.generate({ timestamp: Date.now() + steps });
    bodyOf(await post(`/users/${id}/totp/${totp_id}/_verify`, code(0)));
    const [session, other] = [await logIn(id), await logIn(id)];
    const own = { token: session.token };
    const path = `/sessions/${session.id}`;
    assertRefused((await post("/users/_search", [], own)).refusal, mfa);
    const missing = { code: 7, reason: "PERMISSION_MISSING" };
    for (const more of [{ lifetime: "864000s" }, { metadata: { a: "cmVk" } }]) {
      assertRefused((await patch(path, { checks: {}, ...more }, own)).refusal, missing);
    }
    const check = { checks: { totp: { code: code(30_000) } } };
    const elsewhere = await patch(`/sessions/${other.id}`, check, own);
    assertRefused(elsewhere.refusal, mfa);
    const { session_token: token } = bodyOf(await patch(path, check, own));
    bodyOf(await post("/users/_search", [], { token }));
    // A finished session may prove itself again, too, but no other one.
    bodyOf(await patch(path, { checks: { password: { password: goodPassword } } }, { token }));
    const pat = bodyOf(await post(`/users/${await service.addMachine()}/personal_access_tokens`));
    for (const stranger of [{ token: pat.token }, { token: other.token }]) {
      const refused = (await patch(path, check, stranger)).refusal;
      assertRefused(refused, stranger.token === other.token ? mfa : missing);
    }
    assert.deepEqual((await show(session.id)).lacks ?? [], []);
  });

  it("force_mfa_administrators demands a second factor of every person with a role", async () => {
    const [plain, administrator] = [await personUnder({}), await personUnder({})];
    const ctx = { org_id: app.made.organization_id };
    const roles = ["ORG_SETTINGS_MANAGER"];
    bodyOf(await post("/memberships", { ctx, user_id: administrator, roles }), 201);
    const path = "/settings/v3alpha/login";
    const machine = { token: app.token };
    const demand = (value: object) =>
      peer.rest("PATCH", path, { force_mfa_administrators: value as JsonObject }, machine);
    const [withoutRole, withRole] = [await logIn(plain), await logIn(administrator)];
    bodyOf(await demand({ set: true }));
    try {
      bodyOf(await post("/users/_search", [], { token: withoutRole.token }));
      assertRefused((await post("/users/_search", [], { token: withRole.token })).refusal, mfa);
      assert.deepEqual((await show(withRole.id)).lacks, ["second_factor_setup"]);
      assert.deepEqual((await show(withoutRole.id)).lacks ?? [], []);
      // The machine user of the first start is an owner, and its token is no session.
      bodyOf(await post("/users/_search", [], machine));
    } finally {
      bodyOf(await demand({ reset: true }));
    }
    bodyOf(await post("/users/_search", [], { token: withRole.token }));
  });

  it("is one again when what was proven or the session itself is too old", async () => {
    const id = await personUnder({
      password_check_lifetime: { set: "3600s" },
      session_lifetime: { set: "7200s" },
    });
    const session = await logIn(id);
    const { token } = session;
    bodyOf(await post("/users/_search", [], { token }));
    pass(3_601_000);
    assertRefused((await post("/users/_search", [], { token })).refusal, policy);
    assert.deepEqual((await show(session.id)).lacks, ["first_factor"]);
    pass(3_601_000);
    assert.deepEqual((await show(session.id)).lacks, ["session_lifetime", "first_factor"]);
  });
});
