// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { getOption } from "@bufbuild/protobuf";
import { Holds, method as methodOptions } from "#gen/idsvc/options/v1/options_pb.ts";
import type { TokenLimit } from "../../src/authz/context.ts";
import { limitedPermissions, limitNames } from "../../src/authz/limited.ts";
import type { Membership } from "../../src/authz/permissions.ts";
import { holdGiving } from "../../src/authz/roles.ts";
import { services } from "../api/samples.ts";
import { addPersonNamed } from "../support/login.ts";
import { bodyOf } from "../support/peer.ts";
import { startAppWorld } from "./app-world.ts";

const limit: TokenLimit = {
  permissions: ["*"],
  instance: false,
  organizationIds: ["1"],
  holds: [],
  ownAccount: "read",
};
const owner = { contextType: "instance", contextId: "", roles: ["IAM_OWNER"] } as const;
const here = { type: "organization", id: "1" } as const;
const there = { type: "organization", id: "2" } as const;

const { peer, addOwner, allow } = await startAppWorld();
after(() => peer[Symbol.asyncDispose]());

describe("the power of a token (J4)", () => {
  it("counts where the limit says, with what it names", () => {
    const within = limitedPermissions([owner], limit);
    assert.equal(within.holds("user.read", here), true);
    assert.equal(within.holds("user.read", there), false);
    assert.equal(within.holds("iam.read", { type: "instance" }), false);
    assert.deepEqual(within.reach("user.read").organizations, ["1"]);
    const few = limitedPermissions([owner], { ...limit, permissions: ["user.read"] });
    assert.equal(few.holds("user.write", here), false);
    assert.equal(few.holdsAnywhere("user.write"), false);
    const project: Membership = {
      contextType: "project",
      contextId: "5",
      organizationId: "2",
      roles: ["PROJECT_OWNER"],
    };
    assert.equal(limitedPermissions([project], limit).holdsAnywhere("project.read"), false);
  });

  it("covers no role that gives holds, unless it names them (J4a)", () => {
    const everywhere = { ...limit, instance: true };
    const inside = { contextType: "organization", contextId: "1", organizationId: "1" } as const;
    const manager = { ...inside, roles: ["ORG_USER_MANAGER"] };
    const viewer = { ...inside, roles: ["ORG_OWNER_VIEWER"] };
    assert.equal(limitedPermissions([owner], everywhere).covers(owner), false);
    assert.equal(limitedPermissions([owner], everywhere).covers(manager), false);
    assert.equal(limitedPermissions([owner], everywhere).covers(viewer), true);
    assert.equal(limitedPermissions([owner], { ...everywhere, holds: ["*"] }).covers(owner), true);
  });

  it("names holds one by one; the own account by its own permission, which no star stands for", () => {
    const named = { ...limit, holds: ["user.write"] };
    assert.equal(limitNames(named, "user.write", here), true);
    assert.equal(limitNames(named, "user.write", there), false);
    assert.equal(limitNames(named, "user.credential.write", here), false);
    const star = { ...limit, instance: true, holds: ["*"] };
    assert.equal(limitNames(star, "user.credential.write", there), true);
    assert.equal(limitNames(star, "user.self.credential", here), false);
  });

  it("knows every permission that a method with a hold asks for", () => {
    const asked = services.flatMap(({ methods }) =>
      methods.flatMap((method) => {
        const options = getOption(method, methodOptions);
        const { holds, permission, objectPermission, instancePermission } = options;
        return holds === Holds.UNSPECIFIED
          ? []
          : [objectPermission || permission, instancePermission];
      }),
    );
    const named = new Set(asked.filter((name) => name !== "" && name !== "authenticated"));
    assert.ok(named.size > 5);
    assert.deepEqual(
      [...named].filter((name) => !holdGiving.has(name)),
      [],
    );
  });
});

describe("what a token of an app makes (J4a)", () => {
  it("has at most the token's power: no owner, and no app with more", async () => {
    const [person, nobody] = [await addOwner(), await addPersonNamed(peer)];
    const mine = await peer.addClient();
    const { access_token: token } = await allow(mine, person.loginName, "everything");
    const ctx = { instance_id: peer.app.made.instance_id };
    const given = { ctx, user_id: nobody.id, roles: ["IAM_OWNER"] };
    assert.equal((await peer.post("/memberships", given, { token })).status, 403);
    const viewer = { ...given, roles: ["IAM_OWNER_VIEWER"] };
    bodyOf(await peer.post("/memberships", viewer, { token }), 201);
    for (const permissions of [["*"], ["user.write"], ["user.self.credential"]]) {
      const access = { permissions, instance: true };
      const raised = await peer.patch(`/apps/${mine.appId}`, { api_access: access }, { token });
      assert.equal(raised.refusal?.reason, "API_ACCESS_OUTRANKS_CALLER", permissions.join());
    }
  });
});
