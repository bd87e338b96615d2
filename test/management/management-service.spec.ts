// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import type { CallOptions } from "../support/protocols.ts";
import { noticesSent } from "../support/notices.ts";

const base = "/management/v1";

let peer: ResourcePeer;
before(async () => {
  peer = await startPeer();
});
after(() => peer[Symbol.asyncDispose]());

const call = (path: string, body?: JsonValue, options: CallOptions = {}) =>
  peer.peer.rest("POST", path, body, { token: peer.app.token, ...options });

const person = (more: JsonObject = {}): JsonObject => ({
  userName: uniqueName("person").replace(" ", "-"),
  profile: { firstName: "Ada", lastName: "Lovelace" },
  email: { email: "ada@example.test", isEmailVerified: true },
  ...more,
});
const canLogIn = async (user_id: string, password: string) => {
  const checks = { user: { user_id }, password: { password } };
  return (await peer.post("/sessions", { checks })).status === 201;
};

describe("SetUpOrg (G1)", () => {
  for (const path of [`${base}/orgs/_setup`, "/admin/v1/orgs/_setup"]) {
    it(`makes an organization, its owner and their membership in one, at ${path}`, async () => {
      const name = uniqueName("organization");
      const human = person({
        password: "correct horse battery staple",
        phone: { phone: "+41 79 123 45 67", isPhoneVerified: true },
      });
      const { orgId, userId, details } = bodyOf(await call(path, { org: { name }, human }));
      assert.equal(details.resourceOwner, peer.app.made.instance_id);
      assert.match(details.sequence, /^\d+$/);
      assert.equal(details.creationDate, details.changeDate);
      const { organization } = bodyOf(await peer.get(`/organizations/${orgId}`)).organization;
      assert.equal(organization.name, name);
      const found = bodyOf(await peer.get(`/users/${userId}`)).user.user;
      assert.equal(found.data.display_name, "Ada Lovelace");
      assert.equal(found.contact.phone.number, "+41791234567");
      assert.ok(await canLogIn(userId, "correct horse battery staple"));
      const filters = [{ in_user_ids: { ids: [userId] } }];
      const { result } = bodyOf(await peer.post("/memberships/_search", filters));
      assert.deepEqual(result[0].membership.roles, ["ORG_OWNER"]);
    });
  }

  it("gives the roles that are named, and the domain", async () => {
    const org = { name: uniqueName("organization"), domain: "set-up.test" };
    const roles = ["ORG_USER_MANAGER"];
    const made = bodyOf(await call(`${base}/orgs/_setup`, { org, human: person(), roles }));
    const filters = [{ in_user_ids: { ids: [made.userId] } }];
    const { result } = bodyOf(await peer.post("/memberships/_search", filters));
    assert.deepEqual(result[0].membership.roles, roles);
  });

  const refused: Record<string, [JsonObject, number, string]> = {
    "D47: an unknown role": [{ roles: ["KING"] }, 400, "ROLE_UNKNOWN"],
    "a weak password": [{ human: person({ password: "abc" }) }, 400, "PASSWORD_POLICY"],
    "no name": [{ org: {} }, 400, "VALIDATION_FAILED"],
    "no user": [{ human: {} }, 400, "VALIDATION_FAILED"],
    "a phone number without digits": [
      { human: person({ phone: { phone: "+0" } }) },
      400,
      "PHONE_INVALID",
    ],
  };
  for (const [what, [more, code, reason]] of Object.entries(refused)) {
    it(`makes nothing of a request with ${what}`, async () => {
      // Letters of the tests before have events of their own.
      await noticesSent(peer.app);
      const events = await peer.eventCount();
      const wanted = { org: { name: uniqueName("organization") }, human: person(), ...more };
      const { status, refusal } = await call(`${base}/orgs/_setup`, wanted);
      assert.equal(refusal?.reason, reason);
      assert.equal(status, code);
      assert.equal(await peer.eventCount(), events);
    });
  }

  it("a taken name makes neither organization nor user; who may not is refused", async () => {
    const wanted = { org: { name: uniqueName("organization") }, human: person() };
    bodyOf(await call(`${base}/orgs/_setup`, wanted));
    await noticesSent(peer.app);
    const events = await peer.eventCount();
    const { status, refusal } = await call(`${base}/orgs/_setup`, wanted);
    assert.equal(status, 409);
    assert.equal(refusal?.reason, "ORGANIZATION_NAME_TAKEN");
    assert.equal(await peer.eventCount(), events);
    const { token } = await peer.addMember(await peer.addOrganization(), ["ORG_OWNER"]);
    assert.equal((await call(`${base}/orgs/_setup`, wanted, { token })).status, 403);
  });
});

describe("ImportHumanUser (G3)", () => {
  const path = `${base}/users/human/_import`;

  it("creates a person with a password, in the organization of the header", async () => {
    const organization = await peer.addOrganization();
    const password = "correct horse battery staple";
    const headers = { "x-idsvc-orgid": organization };
    const { userId, details } = bodyOf(await call(path, person({ password }), { headers }));
    assert.equal(details.resourceOwner, organization);
    assert.ok(await canLogIn(userId, password));
    assert.equal(await canLogIn(userId, "another"), false);
  });

  it("takes the hash of another system, which counts instead of a password", async () => {
    // PBKDF2-SHA256 of "password-of-old", 1,000 rounds, made by Python's hashlib.
    const value =
      "$pbkdf2-sha256$1000$c2FsdHNhbHRzYWx0c2FsdA==$77F0Ffurl4/4FFWsEaKMUUy+mPIEy1sMLtMmT35JxGs=";
    const made = await call(path, person({ hashedPassword: { value }, password: "ignored" }));
    const { userId } = bodyOf(made);
    assert.equal(await canLogIn(userId, "ignored"), false);
    assert.ok(await canLogIn(userId, "password-of-old"));
  });

  const hashes = {
    "an unknown scheme": "$rot13$abc$def",
    "bcrypt of cost 31": "$2b$31$" + "a".repeat(53),
    "argon2 of 4 GiB": "$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHRzYWx0$" + "a".repeat(43),
    "2^31 rounds": "$pbkdf2-sha256$2147483648$c2FsdHNhbHQ$YWJj",
    "no salt": "$pbkdf2-sha256$1000$$YWJj",
    "no base64": "$pbkdf2-sha256$1000$%%%$***",
    "a dollar alone": "$",
  };
  for (const [what, value] of Object.entries(hashes)) {
    it(`D59: refuses ${what}, and creates nobody`, async () => {
      const events = await peer.eventCount();
      const { status, refusal } = await call(path, person({ hashedPassword: { value } }));
      assert.equal(status, 400);
      assert.match(refusal?.reason ?? "", /HASH|VALIDATION/);
      assert.equal(refusal?.violations[0]?.field, "hashed_password.value");
      assert.equal(await peer.eventCount(), events);
    });
  }

  it("keeps a second factor, demands a change, and ignores what old exports carry along", async () => {
    const wanted = person({
      password: "correct horse battery staple",
      passwordChangeRequired: true,
      otpCode: "JBSWY3DPEHPK3PXP",
      somethingElse: { of: "another time" },
    });
    const { userId } = bodyOf(await call(path, wanted));
    const { user } = bodyOf(await peer.get(`/users/${userId}`)).user;
    assert.equal(user.authenticators.totps.length, 1);
    const checks = { user: { user_id: userId }, password: { password: wanted["password"] ?? "" } };
    const { refusal } = await peer.post("/sessions", { checks });
    assert.equal(refusal?.reason, "PASSWORD_CHANGE_REQUIRED");
  });

  it("takes recovery codes in clear, each of which counts once, however it is spelled", async () => {
    const password = "correct horse battery staple";
    const recoveryCodes = ["ABCD-efgh-12", "abcdefgh12", "zyxw vuts 98"];
    const { userId } = bodyOf(await call(path, person({ password, recoveryCodes })));
    const check = async (code: string) => {
      const checks = {
        user: { user_id: userId },
        password: { password },
        recovery_code: { code },
      };
      return (await peer.post("/sessions", { checks })).status;
    };
    assert.equal(await check("zyxwvuts99"), 400);
    assert.equal(await check("abcd-EFGH-12"), 201);
    assert.equal(await check("abcd-EFGH-12"), 400);
    assert.equal(await check("ZYXW-VUTS-98"), 201);
    for (const [wrong, reason] of [
      ["$2b$10$abcdefgh", "VALIDATION_FAILED"],
      ["a - b - c", "RECOVERY_CODE_INVALID"],
    ] as const) {
      const { status, refusal } = await call(path, person({ password, recoveryCodes: [wrong] }));
      assert.deepEqual([status, refusal?.reason], [400, reason]);
    }
  });

  it("links accounts of providers, and makes nothing of a provider that is not there", async () => {
    const events = await peer.eventCount();
    const idps = [{ configId: "404", externalUserId: "1", displayName: "ada" }];
    const { status, refusal } = await call(path, person({ idps }));
    assert.deepEqual([status, refusal?.reason], [404, "IDP_NOT_FOUND"]);
    assert.equal(await peer.eventCount(), events);
    const idp = { name: uniqueName("forge") };
    const config = { client_id: "a", client_secret: "b", issuer: "https://forge.example" };
    const made = bodyOf(await peer.post("/idps/forge_b", { idp, config }), 201);
    const link = { configId: made.details.id, externalUserId: "1", displayName: "ada" };
    const { userId } = bodyOf(await call(path, person({ idps: [link] })));
    const { user } = bodyOf(await peer.get(`/users/${userId}`)).user;
    assert.equal(user.authenticators.identity_providers[0].user_id, "1");
  });

  it("refuses a name that is taken, and whoever may not write users there", async () => {
    const wanted = person();
    bodyOf(await call(path, wanted));
    const { status, refusal } = await call(path, wanted);
    assert.equal(status, 409);
    assert.equal(refusal?.reason, "USERNAME_TAKEN");
    const organization = await peer.addOrganization();
    const { token } = await peer.addMember(organization, ["ORG_OWNER"]);
    const other = { "x-idsvc-orgid": await peer.addOrganization() };
    const elsewhere = await call(path, person(), { token, headers: other });
    assertRefused(elsewhere.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    assert.equal((await call(path, person(), { token })).status, 200);
  });
});

describe("ListProjectGrantChanges (G2)", () => {
  async function grant() {
    const project_id = bodyOf(await peer.post("/projects", { name: uniqueName("project") }), 201)
      .details.id;
    for (const key of ["reader", "writer"]) {
      bodyOf(await peer.post("/project_roles", { project_id, key }), 201);
    }
    const granted = await peer.addOrganization();
    const wanted = { project_id, granted_organization_id: granted, role_keys: ["reader"] };
    const id = bodyOf(await peer.post("/project_grants", wanted), 201).details.id;
    bodyOf(await peer.patch(`/project_grants/${id}`, { role_keys: ["reader", "writer"] }));
    bodyOf(await peer.post(`/project_grants/${id}/_deactivate`));
    bodyOf(await peer.post(`/project_grants/${id}/_activate`));
    return { project: project_id, id, granted, path: pathOf(project_id, id) };
  }
  const pathOf = (project: string, id: string) =>
    `${base}/projects/${project}/grants/${id}/changes/_search`;
  const keysOf = (entries: { eventType: { key: string } }[]) =>
    entries.map(({ eventType }) => eventType.key);
  const whole = ["added", "accepted", "changed", "deactivated", "reactivated"].map(
    (one) => `project.grant.${one}`,
  );

  it("tells what happened, newest first, or oldest first from a position on", async () => {
    const { path } = await grant();
    const { result } = bodyOf(await call(path));
    assert.deepEqual(keysOf(result), whole.toReversed());
    const [first] = result;
    assert.equal(first.editorId, peer.app.made.machine.user_id);
    assert.equal(first.editorDisplayName, "Machine user");
    assert.equal(first.editorPreferredLoginName, peer.app.made.machine.login_name);
    assert.equal(first.resourceOwnerId, peer.app.made.organization_id);
    assert.equal(first.eventType.localizedMessage, "Project grant reactivated");
    const oldest = bodyOf(await call(`${path}?query.asc=true&query.limit=2`)).result;
    assert.deepEqual(keysOf(oldest), whole.slice(0, 2));
    const { sequence } = oldest[1];
    const later = await call(`${path}?query.asc=true&query.sequence=${sequence}`);
    assert.deepEqual(keysOf(bodyOf(later).result), whole.slice(2));
    const earlier = await call(`${path}?query.sequence=${sequence}`);
    assert.deepEqual(keysOf(bodyOf(earlier).result), whole.slice(0, 1));
  });

  it("speaks the reader's language, as far as it has one", async () => {
    const { path } = await grant();
    const headers = { "accept-language": "xx, de-CH;q=0.8, en;q=0.5" };
    const { result } = bodyOf(await call(path, undefined, { headers }));
    assert.equal(result[0].eventType.localizedMessage, "Projektberechtigung reaktiviert");
  });

  it("has the grant's members in it, and outlives the grant", async () => {
    const { id, path } = await grant();
    const { userId } = await peer.addMember(await peer.addOrganization(), ["ORG_OWNER"]);
    const ctx = { project_grant_id: id };
    const roles = ["PROJECT_GRANT_OWNER"];
    const membership = await peer.post("/memberships", { ctx, user_id: userId, roles });
    bodyOf(await peer.remove(`/memberships/${bodyOf(membership, 201).details.id}`));
    bodyOf(await peer.remove(`/project_grants/${id}`));
    const { result } = bodyOf(await call(`${path}?query.asc=true`));
    assert.deepEqual(keysOf(result), [
      ...whole,
      "project.grant.member.added",
      "project.grant.member.removed",
      "project.grant.removed",
    ]);
  });

  it("refuses a limit above the greatest, and a grant of another project", async () => {
    const { path, id } = await grant();
    const { refusal } = await call(`${path}?query.limit=1000001`);
    assert.equal(refusal?.reason, "HISTORY_LIMIT_EXCEEDED");
    const other = await grant();
    const absent = await call(pathOf(other.project, id));
    assert.equal(absent.status, 404);
    assert.equal(absent.refusal?.reason, "PROJECT_GRANT_NOT_FOUND");
  });

  it("takes every position of 64 bits", async () => {
    const { path } = await grant();
    for (const position of ["9223372036854775807", "9223372036854775808", "18446744073709551615"]) {
      const earlier = bodyOf(await call(`${path}?query.sequence=${position}`)).result;
      assert.deepEqual(keysOf(earlier), whole.toReversed(), position);
      const behind = bodyOf(await call(`${path}?query.sequence=${position}&query.asc=true`)).result;
      assert.deepEqual(behind, [], position);
    }
  });

  it("is that of a grant of the caller's own organization, unless the header names another (specification 5.3)", async () => {
    const owner = await peer.addOrganization();
    const at = { headers: { "x-idsvc-orgid": owner } };
    const made = await peer.post(`/projects?ctx.org_id=${owner}`, { name: uniqueName("project") });
    const project_id = bodyOf(made, 201).details.id;
    const granted = await peer.addOrganization();
    const wanted = { project_id, granted_organization_id: granted, role_keys: [] };
    const { id } = bodyOf(await peer.post("/project_grants", wanted), 201).details;
    const path = pathOf(project_id, id);
    const absent = await call(path);
    assertRefused(absent.refusal, { code: 5, reason: "PROJECT_GRANT_NOT_FOUND" });
    assert.deepEqual(keysOf(bodyOf(await call(path, undefined, at)).result).at(-1), whole[0]);
    const party = { headers: { "x-idsvc-orgid": granted } };
    assert.equal((await call(path, undefined, party)).status, 200);
    const third = { headers: { "x-idsvc-orgid": await peer.addOrganization() } };
    assert.equal((await call(path, undefined, third)).status, 404);
    const inside = await peer.addMember(owner, ["ORG_OWNER"]);
    assert.equal((await call(path, undefined, { token: inside.token })).status, 200);
  });

  it("is read by both parties, and by nobody else", async () => {
    const { path, granted } = await grant();
    const party = await peer.addMember(granted, ["ORG_OWNER"]);
    assert.equal((await call(path, undefined, { token: party.token })).status, 200);
    const stranger = await peer.addMember(await peer.addOrganization(), ["ORG_OWNER"]);
    assert.equal((await call(path, undefined, { token: stranger.token })).status, 404);
  });
});
