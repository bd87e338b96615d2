// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { goodPassword } from "../resources/user/user-peer.ts";
import { startSessionPeer } from "../resources/session/session-peer.ts";

const service = await startSessionPeer();
const { app, peer, post, get, addLogin } = service;
after(() => service[Symbol.asyncDispose]());

const attempt = (user_id: string, password: string) =>
  post("/sessions", { checks: { user: { user_id }, password: { password } } });

/** Wrong passwords until none is looked at any more. */
async function throttle(id: string): Promise<void> {
  for (let count = 0; count < 10; count += 1) await attempt(id, "wrong");
  assert.equal((await attempt(id, goodPassword)).status, 400);
}
const throttlingOf = async (id: string) => bodyOf(await get(`/users/${id}`)).user.throttling;

describe("D83: a user whose passwords are not looked at (J15)", () => {
  it("is shown as such by GetUser, until when, and not by a search", async () => {
    const id = await addLogin();
    assert.equal(await throttlingOf(id), undefined);
    await throttle(id);
    const { passwords_until, second_factors_until } = await throttlingOf(id);
    const minutes = (new Date(passwords_until).getTime() - Date.now()) / 60_000;
    assert.ok(minutes > 9 && minutes <= 10, passwords_until);
    assert.equal(second_factors_until, undefined);
    const overGrpc = await peer.call(
      "grpc",
      UserService.method.getUser,
      { id },
      { token: app.token },
    );
    assert.ok(overGrpc.ok && overGrpc.message.user?.throttling?.passwordsUntil);
  });

  it("is unlocked by whoever may write users there, covering them or not", async () => {
    const id = await addLogin();
    const ctx = { instance_id: app.made.instance_id };
    bodyOf(await post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);
    const { token } = await addCaller(app, ["IAM_USER_MANAGER"]);
    await throttle(id);
    bodyOf(await post(`/users/${id}/_unlock`, undefined, { token }));
    assert.equal(await throttlingOf(id), undefined);
    bodyOf(await attempt(id, goodPassword), 201);
    assertRefused((await post(`/users/${id}/_unlock`, undefined, { token })).refusal, {
      code: 9,
      reason: "USER_NOT_LOCKED",
    });
    // Who is locked is given back by those alone who cover them.
    bodyOf(await post(`/users/${id}/_lock`));
    assertRefused((await post(`/users/${id}/_unlock`, undefined, { token })).refusal, {
      code: 7,
      reason: "USER_OUTRANKS_CALLER",
    });
  });
});
