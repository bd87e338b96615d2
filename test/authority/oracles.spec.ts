// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type DescMethod, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { RequestContextSchema } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import { samples } from "../api/samples.ts";
import { permissionsOf, rolesOf } from "../../src/authz/roles.ts";
import { addCaller } from "../support/app.ts";
import type { CallOptions } from "../support/protocols.ts";
import { startSamples } from "../api/sample-service.ts";

// Started at once, and not before the tests: the served methods make the tests.
const service = await startSamples();
const { app, peer, world } = service;
const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
after(() => service[Symbol.asyncDispose]());

const { organizationId } = world;
const elsewhere = await world.make("/organizations", { name: "elsewhere" });
const { token, userId } = await addCaller(app, [], elsewhere);
await world.create("/memberships", {
  ctx: { org_id: elsewhere },
  user_id: userId,
  roles: ["ORG_OWNER"],
});
const domain = "claimed.example.com";
await world.create(`/domains?ctx.org_id=${organizationId}`, { name: domain });

/** What somebody is told: that they are answered, or the refusal. */
async function told(method: DescMethod, request: JsonObject, options: CallOptions = {}) {
  const sent = fromJson(method.input, request);
  const outcome = await peer.call("grpc", method, sent, { token, ...options });
  if (outcome.ok) return "answered";
  const { code, reason, message, details } = outcome;
  return JSON.stringify({ code, reason, message, details });
}

const isId = (name: string): boolean => /(?:^|_)ids?$|Ids?$/.test(name);

/** The request once for each id in it, with that id replaced by one that nothing has. */
function withUnknown(request: JsonObject): JsonObject[] {
  const made: JsonObject[] = [];
  const visit = (value: JsonValue, name: string, put: (other: JsonValue) => JsonObject): void => {
    // Everybody knows the instance that they call.
    if (typeof value === "string" && isId(name) && value !== app.made.instance_id) {
      made.push(put("1".padEnd(value.length, "7")));
    } else if (Array.isArray(value)) {
      value.forEach((each, at) => visit(each, name, (other) => put(value.with(at, other))));
    } else if (value !== null && typeof value === "object") {
      for (const [key, each] of Object.entries(value)) {
        visit(each, key, (other) => put({ ...value, [key]: other }));
      }
    }
  };
  visit(request, "", (other) => other as JsonObject);
  return made;
}

describe("D90: what exists in organizations where somebody has nothing (J13)", () => {
  for (const { rule } of unary) {
    const { method, path } = rule;
    it(`is not told by ${path}`, async () => {
      const sample = samples[path];
      assert.ok(sample);
      const request = await sample.valid(world, 7);
      const ofThese = await told(method, request);
      for (const other of withUnknown(request)) {
        assert.equal(await told(method, other), ofThese, JSON.stringify(other));
      }
      const named = (id: string) => told(method, request, { headers: { "x-idsvc-orgid": id } });
      assert.equal(await named(organizationId), await named("404"), "header");
      if (method.input.field["ctx"]?.message?.typeName !== RequestContextSchema.typeName) return;
      const within = (ctx: JsonObject) => told(method, { ...request, ctx });
      assert.equal(await within({ org_id: organizationId }), await within({ org_id: "404" }));
      const unknown = "nobody.example.com";
      assert.equal(await within({ org_domain: domain }), await within({ org_domain: unknown }));
    });
  }

  it("is not told by the context of a membership, whichever it names", async () => {
    const project = await world.make("/projects", { name: world.name() });
    const granted = await world.make("/organizations", { name: world.name() });
    const role = { project_id: project, key: "reader" };
    await world.create("/project_roles", role);
    const grant = await world.make("/project_grants", {
      project_id: project,
      granted_organization_id: granted,
      role_keys: ["reader"],
    });
    const contexts: [JsonObject, JsonObject][] = [
      [{ org_domain: domain }, { org_domain: "nobody.example.com" }],
      [{ project_id: project }, { project_id: "404" }],
      [{ project_grant_id: grant }, { project_grant_id: "404" }],
    ];
    const { createMembership, searchMemberships, listAvailableRoles } = MembershipService.method;
    for (const [real, unknown] of contexts) {
      const given = (ctx: JsonObject) =>
        told(createMembership, { membership: { ctx, user_id: userId, roles: ["ORG_OWNER"] } });
      assert.equal(await given(real), await given(unknown));
      const found = (context: JsonObject) => told(searchMemberships, { filters: [{ context }] });
      assert.equal(await found(real), await found(unknown));
      const listed = (ctx: JsonObject) => told(listAvailableRoles, { ctx });
      assert.equal(await listed(real), await listed(unknown));
      assert.match(await given(real), /_NOT_FOUND/);
    }
  });

  it("is told of users to those alone who may know users everywhere", () => {
    const giving = ["user.grant.write", "org.member.write", "project.member.write"];
    const without = rolesOf("organization")
      .concat(rolesOf("project"), rolesOf("projectGrant"))
      .filter((role) => giving.some((each) => permissionsOf(role).has(each)))
      .filter((role) => !permissionsOf(role).has("user.global.read"));
    assert.deepEqual(without, []);
  });
});
