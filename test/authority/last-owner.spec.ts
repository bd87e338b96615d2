// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addCaller } from "../support/app.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const lastOwner = { code: 9, reason: "LAST_OWNER" };
const owners = [{ role: { role: "IAM_OWNER" } }];

type Found = { details: { id: string }; membership: { user_id: string } };
type Caller = { userId: string; token: string };

/** A service of which only these own the instance, machine users of an organization of their own. */
async function ownedBy(
  count: number,
  use: (peer: ResourcePeer, callers: Caller[], organizationId: string) => Promise<void>,
): Promise<void> {
  const peer = await startPeer();
  try {
    const organizationId = await peer.addOrganization();
    const callers: Caller[] = [];
    for (let made = 0; made < count; made++) {
      callers.push(await addCaller(peer.app, ["IAM_OWNER"], organizationId));
    }
    const ids = callers.map(({ userId }) => userId);
    const { result } = bodyOf(await peer.post("/memberships/_search", owners));
    for (const { details, membership } of result as Found[]) {
      if (ids.includes(membership.user_id)) continue;
      bodyOf(await peer.remove(`/memberships/${details.id}`, callers[0]));
    }
    await use(peer, callers, organizationId);
  } finally {
    await peer[Symbol.asyncDispose]();
  }
}

describe("the last owner of an instance stays (J3)", () => {
  it("whichever way they would go", () =>
    ownedBy(1, async ({ post, remove, patch, get }, [only], organizationId) => {
      assert.ok(only !== undefined);
      const { userId } = only;
      const { result } = bodyOf(await post("/memberships/_search", owners, only));
      const path = `/memberships/${(result as Found[])[0]?.details.id}`;
      const { user } = bodyOf(await get(`/users/${userId}`, only)).user;
      const tokenId = user.authenticators.personal_access_tokens[0].token_id;
      const ways = {
        "the membership is ended": () => remove(path, only),
        "the role is taken": () => patch(path, { roles: ["IAM_OWNER_VIEWER"] }, only),
        "the user is deactivated": () => post(`/users/${userId}/_deactivate`, undefined, only),
        "the user is locked": () => post(`/users/${userId}/_lock`, undefined, only),
        "the user is deleted": () => remove(`/users/${userId}`, only),
        "the only credential is removed": () =>
          remove(`/users/${userId}/personal_access_tokens/${tokenId}`, only),
        "the organization is deactivated": () =>
          post(`/organizations/${organizationId}/_deactivate`, undefined, only),
        "the organization is deleted": () => remove(`/organizations/${organizationId}`, only),
      };
      for (const [way, go] of Object.entries(ways)) {
        assertRefused((await go()).refusal, lastOwner, way);
      }
      bodyOf(await get(`/users/${userId}`, only));
    }));

  it("a manager of users takes none away either", () =>
    ownedBy(1, async (peer, [only], organizationId) => {
      assert.ok(only !== undefined);
      const manager = await addCaller(peer.app, [], organizationId);
      const ctx = { org_id: organizationId };
      const given = { ctx, user_id: manager.userId, roles: ["ORG_USER_MANAGER"] };
      bodyOf(await peer.post("/memberships", given, only), 201);
      const outranked = { code: 7, reason: "USER_OUTRANKS_CALLER" };
      const { userId } = only;
      assertRefused((await peer.remove(`/users/${userId}`, manager)).refusal, outranked);
      const deactivated = await peer.post(`/users/${userId}/_deactivate`, undefined, manager);
      assertRefused(deactivated.refusal, outranked);
    }));

  for (const [what, go] of [
    [
      "deactivated",
      (peer: ResourcePeer, { userId, token }: Caller) =>
        peer.post(`/users/${userId}/_deactivate`, undefined, { token }),
    ],
    [
      "deleted",
      (peer: ResourcePeer, { userId, token }: Caller) => peer.remove(`/users/${userId}`, { token }),
    ],
  ] as const) {
    it(`of two who are ${what} at once one stays`, () =>
      ownedBy(2, async (peer, callers) => {
        const answers = await Promise.all(callers.map((caller) => go(peer, caller)));
        assert.equal(answers.filter(({ status }) => status === 200).length, 1);
        for (const { status, refusal } of answers) {
          if (status !== 200) assertRefused(refusal, lastOwner);
        }
      }));
  }

  it("an owner who cannot log in is none: somebody else stays who can", () =>
    ownedBy(2, async ({ post, remove }, [first, second]) => {
      assert.ok(first !== undefined && second !== undefined);
      bodyOf(await post(`/users/${second.userId}/_deactivate`, undefined, first));
      assertRefused((await remove(`/users/${first.userId}`, first)).refusal, lastOwner);
      bodyOf(await remove(`/users/${second.userId}`, first));
    }));

  it("an organization loses its last owner all the same", async () => {
    const peer = await startPeer();
    try {
      const organizationId = await peer.addOrganization();
      const { userId } = await peer.addMember(organizationId, ["ORG_OWNER"]);
      bodyOf(await peer.remove(`/users/${userId}`));
    } finally {
      await peer[Symbol.asyncDispose]();
    }
  });
});
