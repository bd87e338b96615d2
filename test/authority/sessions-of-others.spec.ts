// Run: shared
import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { startExecutorPeer } from "../executor/executor-peer.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { pathOf } from "../support/protocols.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";

let passed = 0;
const peer = await startExecutorPeer({ now: () => new Date(Date.now() + passed) });
const { app, receiver } = peer;
after(() => peer[Symbol.asyncDispose]());
afterEach(() => peer.clear());
const { instance_id: instanceId } = app.made;

const password = "correct horse battery staple";
const addPerson = async (organizationId = app.made.organization_id): Promise<string> => {
  const made = await peer.post(`/users?ctx.org_id=${organizationId}`, {
    username: uniqueName("user").replaceAll(" ", "-"),
    data: { given_name: "Ada" },
    authenticators: { password: { password } },
  });
  return String(bodyOf(made, 201).details.id);
};
/** A session that somebody makes for a user, who gives their password. */
const openFor = async (user_id: string, token: string) => {
  const checks = { user: { user_id }, password: { password } };
  const made = bodyOf(await peer.post("/sessions", { checks }, { token }), 201);
  return { id: String(made.details.id), token: String(made.session_token) };
};
const promote = async (user_id: string, query = "") => {
  const given = { ctx: { instance_id: instanceId }, user_id, roles: ["IAM_OWNER_VIEWER"] };
  return bodyOf(await peer.post(`/memberships${query}`, given), 201);
};
const reads = async (userId: string, token: string) =>
  (await peer.get(`/users/${userId}`, { token })).status;

describe("sessions that others made, when their user comes to power (J20)", () => {
  it("end though the user proved themselves in them: a login client has their tokens", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const id = await addPerson();
    const [theirs, others] = [await openFor(id, client.token), await openFor(id, app.token)];
    assert.deepEqual([await reads(id, theirs.token), await reads(id, others.token)], [200, 200]);
    const { holds } = await promote(id);
    const told = new Map(
      holds.map((hold: { id: string; maker_id: string; kept: boolean }) => [
        hold.id,
        [hold.maker_id, hold.kept],
      ]),
    );
    assert.deepEqual(told.get(`session/${theirs.id}`), [client.userId, false]);
    assert.deepEqual(told.get(`session/${others.id}`), [app.made.machine.user_id, true]);
    assert.equal(await reads(id, theirs.token), 401);
    assert.equal(await reads(id, others.token), 200, "made by who covers the power");
    assertRefused(restRefusal(await peer.get(`/sessions/${theirs.id}`)), {
      code: 5,
      reason: "SESSION_NOT_FOUND",
    });
  });

  it("stay where the giver says so", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const id = await addPerson();
    const session = await openFor(id, client.token);
    const { holds } = await promote(
      id,
      `?keep_holds=${encodeURIComponent(`session/${session.id}`)}`,
    );
    const hold = holds.find((each: { id: string }) => each.id === `session/${session.id}`);
    assert.equal(hold.kept, true);
    assert.equal(await reads(id, session.token), 200);
  });

  it("end all together where they are many, and do not end somebody else's", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const [id, other] = [await addPerson(), await addPerson()];
    const theirs = await openFor(other, client.token);
    const many = [];
    for (let nth = 0; nth < 22; nth++) many.push(await openFor(id, client.token));
    await promote(id);
    for (const { token } of many) assert.equal(await reads(id, token), 401);
    assert.equal(await reads(other, theirs.token), 200);
  });
});

describe("a new token of a session that others proved themselves in (J1, J2a)", () => {
  const patch = async (id: string, token: string, session: JsonObject = { lifetime: "60s" }) =>
    peer.patch(`/sessions/${id}`, session, { token });
  const missing = { code: 7, reason: "PERMISSION_MISSING" };
  const changes = [
    { lifetime: "60s" },
    { metadata: { note: "aGk=" } },
    { challenges: { otp_email: { send_code: {} } } },
    { checks: { password: { password } } },
  ];

  it("is no login client's that did not make the session, whatever it changes", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const id = await addPerson();
    const session = await openFor(id, app.token);
    for (const change of changes) {
      assertRefused(restRefusal(await patch(session.id, client.token, change)), missing);
    }
    assert.equal(await reads(id, session.token), 200, "the token that its user has still counts");
  });

  it("is that of a login client that made it", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const id = await addPerson();
    const session = await openFor(id, client.token);
    const changed = bodyOf(await patch(session.id, client.token));
    assert.equal(await reads(id, changed.session_token), 200);
  });

  it("is that of a login client that meets a session without a user, and names them", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const user_id = await addPerson();
    const { details } = bodyOf(await peer.post("/sessions", {}), 201);
    bodyOf(await patch(details.id, client.token, { checks: { user: { user_id } } }));
    const refused = await patch(details.id, client.token, { checks: { password: { password } } });
    assertRefused(restRefusal(refused), missing);
  });

  it("is nobody's who may write credentials but does not cover the user", async () => {
    const helper = await addCaller(app, ["IAM_LOGIN_CLIENT", "IAM_ORG_MANAGER"]);
    const [plain, owner] = [await addPerson(), await addPerson()];
    await promote(owner);
    const ofPlain = await openFor(plain, app.token);
    const changed = bodyOf(await patch(ofPlain.id, helper.token));
    assert.equal(await reads(plain, changed.session_token), 200);
    const ofOwner = await openFor(owner, app.token);
    assertRefused(restRefusal(await patch(ofOwner.id, helper.token)), {
      code: 7,
      reason: "USER_OUTRANKS_CALLER",
    });
    assert.equal(await reads(owner, ofOwner.token), 200);
  });

  it("needs a step-up where it is another session of one's own (L2)", async () => {
    const id = await addPerson();
    const given = { ctx: { instance_id: instanceId }, user_id: id, roles: ["IAM_OWNER"] };
    bodyOf(await peer.post("/memberships", given), 201);
    const [older, newer] = [await openFor(id, app.token), await openFor(id, app.token)];
    passed += 301_000;
    const fresh = await openFor(id, app.token);
    assertRefused(restRefusal(await patch(fresh.id, older.token)), {
      code: 16,
      reason: "STEP_UP_REQUIRED",
    });
    bodyOf(await patch(older.id, fresh.token));
    bodyOf(await patch(newer.id, newer.token, { metadata: { note: "aGk=" } }));
  });
});

describe("holds on all users of an organization (J1)", () => {
  it("are judged in the unit too: somebody who is promoted meanwhile protects it", async () => {
    const { token } = await addCaller(app, ["IAM_ORG_MANAGER"]);
    for (const method of ["DeactivateOrganization", "DeleteOrganization"] as const) {
      const organizationId = await peer.addOrganization();
      const userId = await addPerson(organizationId);
      const path = `/${uniqueName("promote").replaceAll(" ", "-")}`;
      receiver.each(path, async () => {
        const given = { ctx: { instance_id: instanceId }, user_id: userId, roles: ["IAM_OWNER"] };
        bodyOf(await peer.post("/memberships", given), 201);
        return {};
      });
      const { id } = await peer.webhook({ interrupt_on_error: true }, path);
      const named = OrganizationService.methods.find(({ name }) => name === method);
      assert.ok(named !== undefined);
      await peer.set({ request: { method: pathOf(named) } }, [id]);
      const answer =
        method === "DeleteOrganization"
          ? await peer.remove(`/organizations/${organizationId}`, { token })
          : await peer.post(`/organizations/${organizationId}/_deactivate`, undefined, { token });
      assertRefused(restRefusal(answer), { code: 7, reason: "USER_OUTRANKS_CALLER" });
      assert.equal(receiver.at(path).length, 1);
      bodyOf(await peer.get(`/organizations/${organizationId}`));
      await peer.clear();
    }
  });
});
