// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  knownPermissions,
  permissionsOf,
  permissionsOnInstance,
  requireRoles,
  rolesOf,
} from "../../src/authz/roles.ts";
import { DomainError } from "../../src/errors.ts";

const all = [
  ...rolesOf("system"),
  ...rolesOf("instance"),
  ...rolesOf("organization"),
  ...rolesOf("project"),
  ...rolesOf("projectGrant"),
];
const holders = (permission: string) => all.filter((role) => permissionsOf(role).has(permission));

describe("what a role gives", () => {
  it("writes each permission out: a group of reads, writes and deletes is three names", () => {
    assert.deepEqual(
      [...knownPermissions].filter((name) => !/^[a-z_]+(\.[a-z_]+)*(:self)?$/.test(name)),
      [],
    );
    assert.deepEqual(
      [...knownPermissions].filter((name) => /\.[rwd]+$/.test(name)),
      [],
    );
    for (const verb of ["read", "write", "delete"])
      assert.ok(permissionsOf("ORG_OWNER").has(`org.member.${verb}`));
  });

  it("gives targets and executions to the instance owner alone, and reading them to its viewer", () => {
    for (const name of [
      "action.target.write",
      "action.target.delete",
      "action.execution.write",
      "action.execution.delete",
    ])
      assert.deepEqual(holders(name), ["IAM_OWNER"], name);
    for (const name of ["action.target.read", "action.execution.read", "execution.read"])
      assert.deepEqual(holders(name), ["IAM_OWNER", "IAM_OWNER_VIEWER"], name);
  });

  it("gives identity providers to owners, organization managers and settings managers, and reading them to viewers", () => {
    const writers = ["IAM_OWNER", "IAM_ORG_MANAGER", "ORG_OWNER", "ORG_SETTINGS_MANAGER"];
    assert.deepEqual(holders("idp.write"), writers);
    assert.deepEqual(holders("idp.delete"), writers);
    assert.deepEqual(
      holders("idp.read").sort(),
      [...writers, "IAM_OWNER_VIEWER", "ORG_OWNER_VIEWER"].sort(),
    );
  });

  it("lets an organization manager change identity providers of organizations but not those of the instance", () => {
    assert.ok(permissionsOf("IAM_ORG_MANAGER").has("idp.write"));
    assert.ok(!permissionsOnInstance("IAM_ORG_MANAGER").has("idp.read"));
    assert.ok(!permissionsOnInstance("IAM_ORG_MANAGER").has("idp.write"));
    assert.ok(permissionsOnInstance("IAM_OWNER").has("idp.write"));
    assert.ok(permissionsOnInstance("IAM_ORG_MANAGER").has("org.create"));
  });

  it("lets system roles and instance roles each change the features of their own level", () => {
    assert.deepEqual(holders("system.feature.write"), ["SYSTEM_OWNER"]);
    assert.deepEqual(holders("iam.feature.write"), ["IAM_OWNER"]);
    assert.deepEqual(holders("iam.feature.read"), [
      "IAM_OWNER",
      "IAM_OWNER_VIEWER",
      "IAM_LOGIN_CLIENT",
    ]);
  });

  it("lets the instance owner, its organization manager and global self-managers set up organizations", () =>
    assert.deepEqual(holders("org.create"), [
      "IAM_OWNER",
      "IAM_ORG_MANAGER",
      "SELF_MANAGEMENT_GLOBAL",
    ]));

  it("lets only the instance owner import in bulk", () =>
    assert.deepEqual(holders("iam.write"), ["IAM_OWNER"]));

  it("keeps organization creation, events, actions, schemas and deleting apps from an organization owner", () => {
    const held = [...permissionsOf("ORG_OWNER")];
    assert.deepEqual(
      held.filter((name) => /^(org\.create|events|action|userschema|iam|system)/.test(name)),
      [],
    );
    assert.ok(held.includes("user.write"));
    assert.ok(held.includes("project.app.write"));
    assert.ok(!held.includes("project.app.delete"));
  });

  it("gives viewers nothing but reads", () => {
    for (const role of all.filter((name) => name.includes("VIEWER")))
      assert.deepEqual(
        [...permissionsOf(role)].filter((name) => !name.endsWith(".read")),
        [],
        role,
      );
  });

  it("shows the instance viewer every read of the owner but the global organization search", () => {
    const reads = [...permissionsOf("IAM_OWNER")].filter((name) => name.endsWith(".read"));
    assert.deepEqual(
      reads.filter((name) => !permissionsOf("IAM_OWNER_VIEWER").has(name)),
      ["org.global.read"],
    );
  });

  it("lets only administrator impersonators act as administrators", () => {
    assert.deepEqual(holders("admin.impersonation"), [
      "IAM_ADMIN_IMPERSONATOR",
      "ORG_ADMIN_IMPERSONATOR",
    ]);
    assert.equal(holders("impersonation").length, 4);
  });

  it("gives nothing for a name that is no role, not even one every object has", () => {
    for (const name of ["", "OWNER", "iam_owner", "constructor", "__proto__"]) {
      assert.equal(permissionsOf(name).size, 0);
      assert.equal(permissionsOnInstance(name).size, 0);
    }
  });
});

describe("which roles a membership may hold", () => {
  it("goes by the first word of the role", () => {
    assert.deepEqual(rolesOf("system"), ["SYSTEM_OWNER", "SYSTEM_OWNER_VIEWER"]);
    assert.ok(rolesOf("instance").every((role) => role.startsWith("IAM_")));
    assert.equal(rolesOf("instance").length, 7);
    assert.equal(rolesOf("organization").length, 11);
  });
  it("offers self-management in organizations", () =>
    assert.ok(rolesOf("organization").includes("SELF_MANAGEMENT_GLOBAL")));
  it("offers neither global nor grant roles in a project", () =>
    assert.deepEqual(rolesOf("project"), ["PROJECT_OWNER", "PROJECT_OWNER_VIEWER"]));
  it("offers only grant roles in a project grant", () =>
    assert.deepEqual(rolesOf("projectGrant"), [
      "PROJECT_GRANT_OWNER",
      "PROJECT_GRANT_OWNER_VIEWER",
    ]));

  it("accepts roles of the context", () =>
    requireRoles("organization", ["ORG_OWNER", "ORG_USER_MANAGER"], "roles"));
  for (const role of ["IAM_OWNER", "PROJECT_OWNER", "ORG_NOBODY", "org_owner", "toString", ""])
    it(`refuses "${role}" in an organization`, () =>
      assert.throws(
        () => requireRoles("organization", ["ORG_OWNER", role], "roles"),
        (error: unknown) => {
          assert.ok(error instanceof DomainError);
          assert.equal(error.kind, "invalidArgument");
          assert.equal(error.reason, "ROLE_UNKNOWN");
          assert.equal(error.metadata["role"], role);
          assert.equal(error.violations[0]?.field, "roles");
          return true;
        },
      ));
});
