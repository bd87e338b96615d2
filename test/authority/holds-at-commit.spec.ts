// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { PatchSessionRequestSchema } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { UnlockUserRequestSchema } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Scope } from "../../src/authz/context.ts";
import type { Held } from "../../src/authz/holds.ts";
import type { Awaitable } from "../../src/awaitable.ts";
import type { Transaction } from "../../src/eventstore/transaction.ts";
import { usersOfSessions } from "../../src/resources/session/held-by.ts";
import { usersHeldBy } from "../../src/resources/user/held-by.ts";
import { user, userEvents } from "../../src/resources/user/index.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { app, post } = peer;
after(() => peer[Symbol.asyncDispose]());
const { organization_id: defaultId, instance_id: instanceId } = app.made;

const outranked = { code: 7, reason: "USER_OUTRANKS_CALLER" };
const person = async () => {
  const username = uniqueName("user").replaceAll(" ", "-");
  return String(
    bodyOf(await post("/users", { username, data: { given_name: "Ada" } }), 201).details.id,
  );
};

describe("a hold that was judged before the unit", () => {
  it("is judged again at the commit: somebody who is promoted in between is not taken over (J1)", async () => {
    const { kernel } = app;
    const { token } = await peer.addMember(defaultId, ["ORG_USER_MANAGER"]);
    const id = await person();
    const { commit } = kernel.db;
    kernel.db.commit = async (unit) => {
      if (unit.events.some(({ type }) => type === "user.deactivated")) {
        kernel.db.commit = commit;
        const given = { ctx: { instance_id: instanceId }, user_id: id, roles: ["IAM_OWNER"] };
        bodyOf(await post("/memberships", given), 201);
      }
      return commit(unit);
    };
    const answer = await post(`/users/${id}/_deactivate`, undefined, { token });
    assert.equal(kernel.db.commit, commit, "somebody was promoted in between");
    assertRefused(answer.refusal, outranked);
    assert.notEqual(bodyOf(await peer.get(`/users/${id}`)).user.state, "USER_STATE_INACTIVE");
  });
});

describe("a hold that comes of the state of something", () => {
  const { kernel } = app;
  const by = {
    ...{ instanceId, editorId: "system:test", service: "test", clientId: "", requestId: "test" },
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
