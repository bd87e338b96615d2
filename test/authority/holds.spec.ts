// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { PatchSessionRequestSchema } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { UnlockUserRequestSchema } from "#gen/idsvc/resources/user/v3alpha/user_requests_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Scope } from "../../src/authz/context.ts";
import type { Held } from "../../src/authz/holds.ts";
import type { Awaitable } from "../../src/awaitable.ts";
import type { Transaction } from "../../src/eventstore/transaction.ts";
import { usersOfSessions } from "../../src/resources/session/held-by.ts";
import { usersHeldBy } from "../../src/resources/user/held-by.ts";
import { user, userEvents } from "../../src/resources/user/index.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { app, post, remove } = peer;
after(() => peer[Symbol.asyncDispose]());
const { organization_id: defaultId, instance_id: instanceId, admin } = app.made;

const outranked = { code: 7, reason: "USER_OUTRANKS_CALLER" };
const password = "correct horse battery staple";
const { method: of } = UserService;
const named = (request: JsonObject = {}) => request;

/** Every road by which somebody who may write users comes to act as another user, or keeps them out. */
const roads: readonly [string, DescMethod, JsonObject][] = [
  ["a personal access token", of.addPersonalAccessToken, named()],
  ["a password", of.setPassword, { new_password: { password } }],
  [
    "a hash of a password",
    of.setPassword,
    { new_password: { hash: "$2b$10$abcdefghijklmnopqrstuu" } },
  ],
  ["a code that resets the password", of.requestPasswordReset, { medium: { return_code: {} } }],
  ["no password any more", of.removePassword, named()],
  [
    "a mail that is called proven",
    of.setContactEmail,
    { email: { address: "m@evil.test", is_verified: true } },
  ],
  [
    "a mail by a returned code",
    of.setContactEmail,
    { email: { address: "m@evil.test", return_code: {} } },
  ],
  [
    "a mail that is sent a code",
    of.setContactEmail,
    { email: { address: "m@evil.test", send_code: {} } },
  ],
  ["a mail's code once more", of.resendContactEmailCode, { code: { return_code: {} } }],
  ["the proof of a mail", of.verifyContactEmail, { verification_code: "123456" }],
  [
    "a phone that is called proven",
    of.setContactPhone,
    { phone: { number: "+41791234567", is_verified: true } },
  ],
  ["the proof of a phone", of.verifyContactPhone, { verification_code: "123456" }],
  ["a phone's code once more", of.resendContactPhoneCode, { code: { return_code: {} } }],
  ["another username", of.patchUser, { user: { username: "taken-over" } }],
  ["another external ID", of.patchUser, { user: { external_id: "taken-over" } }],
  [
    "a mail with a patch",
    of.patchUser,
    { user: { contact: { email: { address: "m@evil.test", is_verified: true } } } },
  ],
  ["a passkey", of.startWebAuthNRegistration, { registration: { domain: "localhost" } }],
  ["a passkey's link", of.createWebAuthNRegistrationLink, { delivery: { return_code: {} } }],
  ["an authenticator app", of.startTOTPRegistration, named()],
  [
    "one-time passwords by phone",
    of.addOTPSMSAuthenticator,
    { phone: { number: "+41791234567", is_verified: true } },
  ],
  [
    "one-time passwords by mail",
    of.addOTPEmailAuthenticator,
    { email: { address: "m@evil.test", is_verified: true } },
  ],
  ["recovery codes", of.generateRecoveryCodes, named()],
  ["no recovery codes any more", of.removeRecoveryCodes, named()],
  [
    "a link to a provider",
    of.addIDPAuthenticator,
    { authenticator: { idp_intent: { idp_intent_id: "1", idp_intent_token: "t" } } },
  ],
  ["a key", of.addPublicKey, named()],
  ["a secret", of.setSecret, named()],
  ["being deactivated", of.deactivateUser, named()],
  ["being activated", of.activateUser, named()],
  ["being locked", of.lockUser, named()],
  ["being deleted", of.deleteUser, named()],
];

const callers = {
  ORG_USER_MANAGER: () => peer.addMember(defaultId, ["ORG_USER_MANAGER"]),
  ORG_OWNER: () => peer.addMember(defaultId, ["ORG_OWNER"]),
  IAM_USER_MANAGER: () => addCaller(app, ["IAM_USER_MANAGER"]),
  IAM_ORG_MANAGER: () => addCaller(app, ["IAM_ORG_MANAGER"]),
  IAM_LOGIN_CLIENT: () => addCaller(app, ["IAM_LOGIN_CLIENT"]),
};

const ask = (protocol: "grpc" | "rest", method: DescMethod, request: JsonObject, token: string) =>
  peer.peer.call(protocol, method, fromJson(method.input, request), { token });

const person = async (organizationId = defaultId) =>
  String(
    bodyOf(
      await post(`/users?ctx.org_id=${organizationId}`, {
        username: uniqueName("user").replaceAll(" ", "-"),
        data: { given_name: "Ada" },
      }),
      201,
    ).details.id,
  );

describe("who may write users, and an owner of the instance (J1)", () => {
  for (const [role, make] of Object.entries(callers)) {
    it(`${role} gets no hold on an owner, by none of ${roads.length} roads`, async () => {
      const { token } = await make();
      for (const [what, method, request] of roads) {
        for (const protocol of ["grpc", "rest"] as const) {
          const outcome = await ask(protocol, method, { ...request, id: admin.user_id }, token);
          assert.ok(!outcome.ok, `${role} gives ${what} over ${protocol}`);
          const { code, reason } = outcome;
          const isForbidden =
            code === 7 && ["USER_OUTRANKS_CALLER", "PERMISSION_MISSING"].includes(reason);
          assert.ok(isForbidden, `${role} and ${what} over ${protocol}: ${code} ${reason}`);
        }
      }
    });
  }

  it("a manager still manages those who may do nothing", async () => {
    const { token } = await callers.ORG_USER_MANAGER();
    for (const [what, method, request] of roads) {
      const id = await person();
      const outcome = await ask("grpc", method, { ...request, id }, token);
      if (!outcome.ok) assert.notEqual(outcome.reason, outranked.reason, what);
    }
  });

  it("an owner of an organization manages everybody who holds nothing beyond it", async () => {
    const organizationId = await peer.addOrganization();
    const { token } = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const { userId } = await peer.addMember(organizationId, ["ORG_ADMIN_IMPERSONATOR"]);
    bodyOf(await post(`/users/${userId}/personal_access_tokens`, {}, { token }));
    bodyOf(await post(`/users/${userId}/_deactivate`, undefined, { token }));
  });

  it("what somebody holds elsewhere protects from being taken over, and not from being shut out", async () => {
    const [home, elsewhere] = [await peer.addOrganization(), await peer.addOrganization()];
    const { token } = await peer.addMember(home, ["ORG_USER_MANAGER"]);
    const { userId } = await peer.addMember(home, []);
    const ctx = { org_id: elsewhere };
    bodyOf(await post("/memberships", { ctx, user_id: userId, roles: ["ORG_OWNER"] }), 201);
    const taken = await post(`/users/${userId}/personal_access_tokens`, {}, { token });
    assertRefused(taken.refusal, outranked);
    bodyOf(await post(`/users/${userId}/_lock`, undefined, { token }));
    assertRefused(
      (await post(`/users/${userId}/_unlock`, undefined, { token })).refusal,
      outranked,
    );
  });

  it("a user of another organization is as absent as before: the refusal tells nothing of them", async () => {
    const organizationId = await peer.addOrganization();
    const { token } = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const there = await post(`/users/${admin.user_id}/_lock`, undefined, { token });
    const absent = await post("/users/404/_lock", undefined, { token });
    assertRefused(there.refusal, { code: 5, reason: "USER_NOT_FOUND" });
    assert.deepEqual(there.json, absent.json);
  });

  it("IAM_USER_MANAGER takes no membership from an organization's owner (J2)", async () => {
    const organizationId = await peer.addOrganization();
    const { userId } = await peer.addMember(organizationId, []);
    const ctx = { org_id: organizationId };
    const given = { ctx, user_id: userId, roles: ["ORG_OWNER"] };
    const { details } = bodyOf(await post("/memberships", given), 201);
    const { token } = await callers.IAM_USER_MANAGER();
    for (const protocol of ["grpc", "rest"] as const) {
      const refused = await ask(
        protocol,
        MembershipService.method.deleteMembership,
        { id: details.id },
        token,
      );
      assertRefused(refused, { code: 7, reason: "ROLE_NOT_REVOCABLE" });
    }
  });

  it("a manager of organizations deactivates none whose users hold more", async () => {
    const organizationId = await peer.addOrganization();
    const { userId } = await peer.addMember(organizationId, []);
    const onInstance = { ctx: { instance_id: instanceId }, user_id: userId };
    bodyOf(await post("/memberships", { ...onInstance, roles: ["IAM_OWNER"] }), 201);
    const { token } = await callers.IAM_ORG_MANAGER();
    for (const method of [
      OrganizationService.method.deactivateOrganization,
      OrganizationService.method.deleteOrganization,
    ]) {
      assertRefused(await ask("grpc", method, { id: organizationId }, token), outranked);
    }
  });
});

describe("memberships of users of other organizations (J1)", () => {
  it("count only when they are accepted, by the user or who manages the user", async () => {
    const [place, home] = [await peer.addOrganization(), await peer.addOrganization()];
    const giver = await peer.addMember(place, ["ORG_OWNER"]);
    const member = await peer.addMember(home, []);
    const given = { ctx: { org_id: place }, user_id: member.userId, roles: ["ORG_USER_MANAGER"] };
    const { details } = bodyOf(await post("/memberships", given, giver), 201);
    const path = `/memberships/${details.id}`;
    const told = async () => bodyOf(await peer.get(path, member)).membership.accepted;
    const read = () => peer.get(`/organizations/${place}`, member);
    assert.equal(await told(), false);
    assertRefused((await read()).refusal, { code: 7, reason: "PERMISSION_MISSING" });
    assertRefused((await post(`${path}/_accept`, undefined, giver)).refusal, {
      code: 7,
      reason: "PERMISSION_MISSING",
    });
    bodyOf(await post(`${path}/_accept`, undefined, member));
    assert.equal(await told(), true);
    bodyOf(await read());
    assertRefused((await post(`${path}/_accept`, undefined, member)).refusal, {
      code: 9,
      reason: "MEMBERSHIP_ACCEPTED",
    });
    bodyOf(await post(`${path}/_decline`, undefined, member));
    assertRefused((await peer.get(path, member)).refusal, {
      code: 5,
      reason: "MEMBERSHIP_NOT_FOUND",
    });
  });

  it("need a giver who still covers the roles when they are accepted (J2)", async () => {
    const [place, home] = [await peer.addOrganization(), await peer.addOrganization()];
    const giver = await peer.addMember(place, []);
    const owns = { ctx: { org_id: place }, user_id: giver.userId, roles: ["ORG_OWNER"] };
    const { details: own } = bodyOf(await post("/memberships", owns), 201);
    const again = bodyOf(await post(`/users/${giver.userId}/personal_access_tokens`, {}));
    const member = await peer.addMember(home, []);
    const given = { ctx: { org_id: place }, user_id: member.userId, roles: ["ORG_OWNER"] };
    const by = { token: String(again.token) };
    const { details } = bodyOf(await post("/memberships", given, by), 201);
    bodyOf(await remove(`/memberships/${own.id}`));
    assertRefused((await post(`/memberships/${details.id}/_accept`, undefined, member)).refusal, {
      code: 7,
      reason: "ROLE_NOT_GRANTABLE",
    });
  });
});

describe("new power meets clean hands (J20)", () => {
  it("a manager's token on an account ends when its user comes to power, and the answer tells of it", async () => {
    const organizationId = await peer.addOrganization();
    const manager = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
    const { userId } = await peer.addMember(organizationId, []);
    const { token, token_id } = bodyOf(
      await post(`/users/${userId}/personal_access_tokens`, {}, manager),
    );
    bodyOf(await peer.get(`/users/${userId}`, { token }));
    const ctx = { org_id: organizationId };
    const { holds } = bodyOf(
      await post("/memberships", { ctx, user_id: userId, roles: ["ORG_OWNER"] }),
      201,
    );
    assertRefused((await peer.get(`/users/${userId}`, { token })).refusal, {
      code: 16,
      reason: "TOKEN_INVALID",
    });
    const ended = holds.find(({ id }: { id: string }) => id === `pat/${token_id}`);
    assert.equal(ended.kept, false);
    assert.equal(ended.maker_id, manager.userId);
    assert.ok(ended.creation_date !== undefined);
  });

  it("keeps what the giver names, and what somebody made who covers the new power", async () => {
    const organizationId = await peer.addOrganization();
    const manager = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
    const { userId } = await peer.addMember(organizationId, []);
    const path = `/users/${userId}/personal_access_tokens`;
    const weak = bodyOf(await post(path, {}, manager));
    const strong = bodyOf(await post(path, {}));
    const ctx = { org_id: organizationId };
    const keep = `pat/${weak.token_id}`;
    const { holds } = bodyOf(
      await post(`/memberships?keep_holds=${encodeURIComponent(keep)}`, {
        ctx,
        user_id: userId,
        roles: ["ORG_OWNER"],
      }),
      201,
    );
    assert.ok(holds.every(({ kept }: { kept: boolean }) => kept));
    for (const { token } of [weak, strong]) bodyOf(await peer.get(`/users/${userId}`, { token }));
  });

  it("a password that a manager set goes, and a mail that they entered must be proven anew", async () => {
    const organizationId = await peer.addOrganization();
    const manager = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
    const id = await person(organizationId);
    const email = { address: `${id}@mail.test`, is_verified: true };
    bodyOf(await peer.put(`/users/${id}/email`, email, manager));
    const owner = await peer.addMember(organizationId, ["ORG_OWNER"]);
    bodyOf(await post(`/users/${id}/password`, { password }, owner));
    const ctx = { instance_id: instanceId };
    const given = { ctx, user_id: id, roles: ["IAM_OWNER_VIEWER"] };
    const { holds } = bodyOf(await post("/memberships", given), 201);
    assert.deepEqual(holds.map((hold: { id: string }) => hold.id).sort(), ["email", "password"]);
    const checks = { user: { user_id: id }, password: { password } };
    assertRefused((await post("/sessions", { checks })).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
    });
    const { contact } = bodyOf(await peer.get(`/users/${id}`)).user.user;
    assert.equal(contact.email.is_verified, false);
  });

  it("a code that a manager holds is worth nothing afterwards", async () => {
    const organizationId = await peer.addOrganization();
    const manager = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const id = await person(organizationId);
    const asked = { return_code: {} };
    const { verification_code } = bodyOf(
      await post(`/users/${id}/password/_reset`, asked, manager),
    );
    const ctx = { instance_id: instanceId };
    bodyOf(await post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER_VIEWER"] }), 201);
    assertRefused(
      (await post(`/users/${id}/password`, { password, verification_code }, manager)).refusal,
      { code: 3, reason: "CODE_INVALID" },
    );
  });
});

describe("a hold that comes of the state of something", () => {
  const { kernel } = app;
  const by = {
    instanceId,
    editorId: "system:test",
    service: "test",
    clientId: "",
    requestId: "test",
  };

  /** How many users are held, each time that a unit is decided in whose midst something else happens first. */
  async function judgedWhile(
    heldBy: (scope: Scope, tx: Transaction) => Awaitable<readonly Held[]>,
    meanwhile: () => Promise<unknown>,
  ): Promise<number[]> {
    const other = await person();
    const judged: number[] = [];
    await kernel.events.transact(by, async (tx) => {
      judged.push((await heldBy({ instanceId } as Scope, tx)).length);
      if (judged.length === 1) await meanwhile();
      const loaded = await tx.load(user, other);
      tx.record(user, loaded, [userEvents["deactivated"]({})]);
    });
    return judged;
  }

  it("is judged at the commit: a lock that comes meanwhile makes a hold of _unlock (J1)", async () => {
    const id = await person();
    const { unlockUser } = usersHeldBy(kernel);
    const request = create(UnlockUserRequestSchema, { id });
    const judged = await judgedWhile(
      (...at) => unlockUser?.(request, ...at) ?? [],
      async () => bodyOf(await post(`/users/${id}/_lock`)),
    );
    assert.deepEqual(judged, [0, 1]);
  });

  it("is judged at the commit: a session that gets its user meanwhile is a session of theirs (J1)", async () => {
    const { details } = bodyOf(await post("/sessions", {}), 201);
    const id = String(details.id);
    const { patchSession } = usersOfSessions(kernel);
    const session = { challenges: { otpSms: { returnCode: true } } };
    const request = create(PatchSessionRequestSchema, { id, session });
    const checks = { user: { user_id: await person() } };
    const judged = await judgedWhile(
      (...at) => patchSession?.(request, ...at) ?? [],
      async () => bodyOf(await peer.patch(`/sessions/${id}`, { checks })),
    );
    assert.deepEqual(judged, [0, 1]);
  });
});
