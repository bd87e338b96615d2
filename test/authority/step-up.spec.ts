// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { method as methodOptions } from "#gen/idsvc/options/v1/options_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { user, userEvents } from "../../src/resources/user/index.ts";
import { bodyOf } from "../support/peer.ts";
import { protocols } from "../support/protocols.ts";
import { assertRefused, type Refusal } from "../support/refusal.ts";
import { type Checked, sessionTokenFor } from "../support/session-token.ts";
import { goodPassword, startUserPeer } from "../resources/user/user-peer.ts";

const peer = await startUserPeer();
const { app, post, put, patch, remove, get, pass, addPerson, addMachine } = peer;
after(() => peer[Symbol.asyncDispose]());

const as = async (id: string, ...methods: Checked[]) => ({
  token: await sessionTokenFor(app, id, { methods }),
});
const withPassword = () => addPerson({ authenticators: { password: { password: goodPassword } } });
/** The same facts over every protocol. */
function assertNeeds(outcome: { ok: true } | Refusal | undefined, strength: string): void {
  assertRefused(outcome, { code: 16, reason: "STEP_UP_REQUIRED" });
  assert.deepEqual(
    [outcome.metadata["max_age"], outcome.metadata["acr_values"]],
    ["300", `urn:idsvc:acr:${strength}`],
  );
}
const address = () => ({ address: `a${Math.random()}@example.test` });
/** A change of the person's own mail. */
const change = async (id: string, options: { token: string }) =>
  (await put(`/users/${id}/email`, address(), options)).refusal;
const addTotp = async (id: string) => {
  const { at, deps } = peer;

  await deps.events.transact(at, async (tx) => {
    const loaded = await tx.load(user, id);
    tx.record(user, loaded, [
      userEvents["human.mfa.otp.added"]({ totpId: "1" }),
      userEvents["human.mfa.otp.verified"]({ totpId: "1" }),
    ]);
  });
};

describe("step-up (L2)", () => {
  it("asks whoever proved themselves more than five minutes ago to do it again", async () => {
    const id = await withPassword();
    const token = await as(id, "password");
    assert.equal(await change(id, token), undefined);
    pass(301_000);
    assertNeeds(await change(id, token), "password");
    assert.equal(await change(id, await as(id, "password")), undefined);
    bodyOf(await get(`/users/${id}`, token));
    bodyOf(await patch(`/users/${id}`, { data: { given_name: "Ada L" } }, token));
    assertNeeds(
      (await patch(`/users/${id}`, { username: "another-name" }, token)).refusal,
      "password",
    );
  });

  it("wants the strongest factor that the person has", async () => {
    const id = await withPassword();
    await addTotp(id);
    const older = await as(id, "password", "totp");
    assert.equal(await change(id, older), undefined);
    pass(301_000);
    assertNeeds(await change(id, older), "mfa");
    for (const one of ["totp", "u2f", "passkey", "recovery_code"] as const) {
      assert.equal(await change(id, await as(id, "password", one)), undefined, one);
    }
    const byProvider = await addPerson();
    assert.equal(await change(byProvider, await as(byProvider, "provider")), undefined);
  });

  it("takes the current password for the proof of it, and of nothing more", async () => {
    const id = await withPassword();
    const token = await as(id, "password", "totp");
    pass(301_000);
    const next = (password: string, current?: string) => ({
      password,
      ...(current && { current_password: current }),
    });
    const set = async (body: object) =>
      (await post(`/users/${id}/password`, { ...body }, token)).refusal;
    assertRefused(await set(next("another good password", "wrong password")), {
      code: 3,
      reason: "INVALID_CREDENTIALS",
      field: "new_password.current_password",
    });
    await addTotp(id);
    assertNeeds(await set(next("another good password", goodPassword)), "mfa");
    bodyOf(await remove(`/users/${id}/totp/1`));
    assert.equal(await set(next("another good password", goodPassword)), undefined);
  });

  it("is told in the same words over every protocol", async () => {
    const id = await withPassword();
    await addTotp(id);
    const token = await as(id, "password", "totp");
    pass(301_000);
    for (const protocol of protocols) {
      const { method } = UserService;
      const email = { address: "b@example.test" };
      const answer = await peer.peer.call(protocol, method.setContactEmail, { id, email }, token);
      assertNeeds(answer, "mfa");
    }
    const url = `http://localhost:${app.port}/resources/v3alpha/users/${id}/email`;
    const { status, headers } = await fetch(url, {
      method: "PUT",
      body: JSON.stringify(address()),
      headers: { authorization: `Bearer ${token.token}`, "content-type": "application/json" },
    });
    assert.equal(status, 401);
    assert.match(
      headers.get("www-authenticate") ?? "",
      /^Bearer error="insufficient_user_authentication", .*max_age="300", acr_values="urn:idsvc:acr:mfa"$/,
    );
  });

  it("is never satisfied by a personal access token, but lets machine users act on their own keys", async () => {
    const id = await withPassword();
    const made = bodyOf(
      await post(`/users/${id}/personal_access_tokens`, {}, await as(id, "password")),
    );
    assertNeeds(await change(id, { token: made.token }), "password");
    const machine = await addMachine();
    const token = bodyOf(await post(`/users/${machine}/personal_access_tokens`, {})).token;
    bodyOf(await post(`/users/${machine}/public_keys`, {}, { token }));
    bodyOf(await post(`/users/${machine}/secret`, undefined, { token }));
  });

  it("is asked for by every method that lets users change how they log in", () => {
    const without = UserService.methods
      .filter((each) => {
        const options = hasOption(each, methodOptions) ? getOption(each, methodOptions) : undefined;
        return options?.ownData === true && !options.stepUp;
      })
      .map(({ name }) => name)
      .toSorted();
    assert.deepEqual(without, [
      // Read, send a code to an address that is set already, or say what a key is called, which proves nothing (decision 0315).
      "GetUser",
      "GetUserMetadata",
      "RenameWebAuthNAuthenticator",
      "RequestPasswordReset",
      "ResendContactEmailCode",
      "ResendContactPhoneCode",
      "SearchIDPAuthenticators",
      "SearchUserEvents",
      "SearchUserMetadata",
      "SearchUsers",
    ]);
  });
});
