// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { addCaller } from "../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { app, post, put } = peer;
after(() => peer[Symbol.asyncDispose]());

const password = "correct horse battery staple";
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
const username = () => uniqueName("user").replaceAll(" ", "-");
const person = () => ({
  username: username(),
  data: { given_name: "Ada" },
  authenticators: { password: { password } },
});
const logIn = async (user_id: string) => {
  const checks = { user: { user_id }, password: { password } };
  return bodyOf(await post("/sessions", { checks }, client), 201).session_token as string;
};
const registered = async () =>
  String(bodyOf(await post("/users", person(), client), 201).details.id);

describe("a login client (J2a)", () => {
  it("writes no user, no membership and no grant by itself", async () => {
    const id = String(bodyOf(await post("/users", person()), 201).details.id);
    const calls: readonly [string, JsonValue | undefined][] = [
      [`/users/${id}/password`, { password: "another horse battery staple" }],
      [`/users/${id}/totp`, undefined],
      [`/users/${id}/recovery_codes`, undefined],
      [`/users/${id}/_lock`, undefined],
      ["/user_grants", { user_id: id, project_id: app.made.project_id, role_keys: [] }],
    ];
    for (const [path, body] of calls) {
      const { status } = await post(path, body, client);
      assert.ok(status === 403 || status === 400, `${path}: ${status}`);
    }
    assertRefused((await post(`/users/${id}/totp`, undefined, client)).refusal, missing);
  });

  it("registers users where the login settings allow it, and nowhere else", async () => {
    await registered();
    const organizationId = await peer.addOrganization();
    bodyOf(
      await peer.peer.rest(
        "PATCH",
        `/settings/v3alpha/login?ctx.org_id=${organizationId}`,
        { allow_register: { set: false } },
        { token: app.token },
      ),
    );
    const refused = await post(`/users?ctx.org_id=${organizationId}`, person(), client);
    assertRefused(refused.refusal, missing);
    const keyed = await post("/users", { ...person(), external_id: "E-1" }, client);
    assertRefused(keyed.refusal, missing);
  });

  it("finishes the account of a user whom it registered, until their first log-in", async () => {
    const id = await registered();
    bodyOf(await put(`/users/${id}/email`, { address: `${id}@mail.test`, send_code: {} }, client));
    const { totp_id, secret } = bodyOf(await post(`/users/${id}/totp`, undefined, client));
    const code = new TOTP({ secret: Secret.fromBase32(String(secret)) }).generate();
    bodyOf(await post(`/users/${id}/totp/${totp_id}/_verify`, code, client));
    assertRefused((await post(`/users/${id}/totp`, undefined, client)).refusal, missing);
  });

  it("acts for a user by the token of a session of that user, and only for that user", async () => {
    const [id, other] = [await registered(), await registered()];
    const session = encodeURIComponent(await logIn(id));
    assertRefused((await post(`/users/${id}/recovery_codes`, undefined, client)).refusal, missing);
    const path = (user: string) => `/users/${user}/recovery_codes?session_token=${session}`;
    const { recovery_codes } = bodyOf(await post(path(id), undefined, client));
    assert.ok(recovery_codes.length > 0);
    const wrong = { code: 3, reason: "SESSION_TOKEN_INVALID", field: "session_token" };
    assertRefused((await post(path(other), undefined, client)).refusal, wrong);
    const unknown = `/users/${id}/recovery_codes?session_token=unknown`;
    assertRefused((await post(unknown, undefined, client)).refusal, wrong);
  });

  it("gets no hold on an owner by a session of its own making", async () => {
    const { admin } = app.made;
    const checks = { user: { user_id: admin.user_id } };
    const { session_token } = bodyOf(await post("/sessions", { checks }, client), 201);
    const token = encodeURIComponent(String(session_token));
    const path = `/users/${admin.user_id}/recovery_codes?session_token=${token}`;
    assertRefused((await post(path, undefined, client)).refusal, {
      code: 3,
      reason: "SESSION_TOKEN_INVALID",
    });
  });

  it("is not handed the one-time password of somebody who may do more", async () => {
    const { admin } = app.made;
    for (const challenges of [
      { otp_sms: { return_code: true } },
      { otp_email: { return_code: {} } },
    ]) {
      const checks = { user: { user_id: admin.user_id } };
      const { refusal } = await post("/sessions", { checks, challenges }, client);
      assertRefused(refusal, { code: 7, reason: "USER_OUTRANKS_CALLER" });
    }
  });

  it("for others than login clients the field changes nothing", async () => {
    const id = await registered();
    const session = encodeURIComponent(await logIn(id));
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const path = `/users/${id}/recovery_codes?session_token=${session}`;
    assertRefused((await post(path, undefined, viewer)).refusal, missing);
  });
});
