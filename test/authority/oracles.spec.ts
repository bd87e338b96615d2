import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type DescMethod, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { RequestContextSchema } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import { condition, makeWorld, samples } from "../api/samples.ts";
import { permissionsOf, rolesOf } from "../../src/authz/roles.ts";
import { addCaller, startTestApp } from "../support/app.ts";
import { type CallOptions, connectPeer } from "../support/protocols.ts";
import { systemCaller } from "../support/system-caller.ts";

// Started at once, and not before the tests: the served methods make the tests.
const operator = systemCaller();
const texts = new Map<string, string[]>();
const app = await startTestApp({
  env: operator.env,
  resolver: { addresses: async () => [], texts: async (name) => texts.get(name) ?? [] },
});
const system = await operator.tokenFor(app.made.issuer);
const peer = connectPeer(app.port);
const world = await makeWorld(peer, { ...app, system, texts }, condition);
const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
after(async () => {
  peer[Symbol.dispose]();
  await app[Symbol.asyncDispose]();
});

const { organizationId } = world;
const elsewhere = await world.make("/organizations", { name: "elsewhere" });
const { token, userId } = await addCaller(app, [], elsewhere);
await world.create("/memberships", {
  ...{ ctx: { org_id: elsewhere }, user_id: userId, roles: ["ORG_OWNER"] },
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

describe("finding 8: what exists in organizations where somebody has nothing (J13)", () => {
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

  it("is told of users to those alone who may know users everywhere", () => {
    const giving = ["user.grant.write", "org.member.write", "project.member.write"];
    const without = rolesOf("organization")
      .concat(rolesOf("project"), rolesOf("projectGrant"))
      .filter((role) => giving.some((each) => permissionsOf(role).has(each)))
      .filter((role) => !permissionsOf(role).has("user.global.read"));
    assert.deepEqual(without, []);
  });
});
