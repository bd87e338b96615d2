// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Membership, permissionsFrom } from "../../src/authz/permissions.ts";
import { type RoleContext, rolesOf } from "../../src/authz/roles.ts";

/** Places of one instance: a project and a grant of it in an organization, and an organization beside it. */
const places: readonly Omit<Membership, "roles">[] = [
  { contextType: "instance", contextId: "" },
  { contextType: "organization", contextId: "here", organizationId: "here" },
  { contextType: "organization", contextId: "elsewhere", organizationId: "elsewhere" },
  { contextType: "project", contextId: "project", organizationId: "here" },
  { contextType: "projectGrant", contextId: "grant", organizationId: "here" },
];
const everyMembership = places.flatMap((place) =>
  rolesOf(place.contextType).map((role): Membership => ({ ...place, roles: [role] })),
);
const nameOf = ({ contextId, roles }: Membership) => `${roles.join("+")} of "${contextId}"`;
const covers = (holder: readonly Membership[], other: Membership) =>
  permissionsFrom(holder).covers(other);
const at = (contextType: RoleContext, contextId: string, role: string): Membership => ({
  contextType,
  contextId,
  ...(contextType === "instance" ? {} : { organizationId: "here" }),
  roles: [role],
});

describe("covering (decision 0087)", () => {
  it("is transitive: who covers an owner covers all that the owner does", () => {
    const covered = new Map(
      everyMembership.map((one) => [one, everyMembership.filter((other) => covers([one], other))]),
    );
    const wrong = [...covered].flatMap(([one, seconds]) =>
      seconds.flatMap((second) =>
        (covered.get(second) ?? [])
          .filter((third) => !(covered.get(one) ?? []).includes(third))
          .map((third) => `${nameOf(one)} -> ${nameOf(second)} -> ${nameOf(third)}`),
      ),
    );
    assert.deepEqual(wrong, []);
  });

  it("is transitive for who has two roles", () => {
    const pairs = everyMembership.flatMap((one) => everyMembership.map((other) => [one, other]));
    for (const pair of pairs) {
      const permissions = permissionsFrom(pair);
      const covered = everyMembership.filter((one) => permissions.covers(one));
      const further = permissionsFrom(covered);
      const wrong = everyMembership.filter(
        (one) => further.covers(one) && !permissions.covers(one),
      );
      assert.deepEqual(wrong.map(nameOf), [], pair.map(nameOf).join(" and "));
    }
  });

  it("counts an owner as holding what roles of the place and below give, but for org.create", () => {
    const owner = [at("organization", "here", "ORG_OWNER")];
    assert.equal(covers(owner, at("organization", "here", "ORG_ADMIN_IMPERSONATOR")), true);
    assert.equal(covers(owner, at("project", "project", "PROJECT_OWNER")), true);
    assert.equal(covers(owner, at("organization", "here", "SELF_MANAGEMENT_GLOBAL")), false);
    assert.equal(covers(owner, at("instance", "", "IAM_ORG_MANAGER")), false);
  });

  it("counts a manager of all organizations as the owner of each, and nothing at the instance", () => {
    const manager = [at("instance", "", "IAM_ORG_MANAGER")];
    assert.equal(covers(manager, at("organization", "here", "ORG_OWNER")), true);
    assert.equal(covers(manager, at("organization", "here", "ORG_ADMIN_IMPERSONATOR")), true);
    assert.equal(covers(manager, at("instance", "", "IAM_OWNER")), false);
    assert.equal(covers(manager, at("instance", "", "IAM_ADMIN_IMPERSONATOR")), false);
    assert.equal(covers(manager, at("instance", "", "IAM_OWNER_VIEWER")), false);
  });

  it("does not count a manager of users as an owner", () => {
    const manager = [at("instance", "", "IAM_USER_MANAGER")];
    assert.equal(covers(manager, at("organization", "here", "ORG_OWNER")), false);
    assert.equal(covers(manager, at("organization", "here", "ORG_ADMIN_IMPERSONATOR")), false);
  });
});
