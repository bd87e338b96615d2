// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { needsOf } from "../../src/app/console.ts";
import { type RoleContext, rolesOf } from "../../src/authz/roles.ts";
import { objects, pages } from "../../src/console/routes.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf, startPeer } from "../support/peer.ts";
import { walk, type Walked } from "./walk.ts";
import { type ConsoleWorld, makeConsoleWorld } from "./world.ts";

const peer = await startPeer();
after(() => peer[Symbol.asyncDispose]());

let world: ConsoleWorld;
before(async () => {
  world = await makeConsoleWorld(peer, (kind) => `Zoo ${kind}`);
});

/** Where each kind of roles is held. Nobody of the system logs in. */
const contexts: readonly [RoleContext, (all: ConsoleWorld) => Record<string, string>][] = [
  ["instance", () => ({ instance_id: peer.app.made.instance_id })],
  ["organization", ({ organizationId }) => ({ org_id: organizationId })],
  ["project", ({ projectId }) => ({ project_id: projectId })],
  ["projectGrant", ({ grantId }) => ({ project_grant_id: grantId })],
];

async function walkAs(role: string, ctx: Record<string, string>): Promise<Walked> {
  const home = ctx["project_grant_id"] === undefined ? world.organizationId : world.partnerId;
  const { userId, token } = await addCaller(peer.app, [], home);
  const membership = { ctx, user_id: userId, roles: [role] };
  bodyOf(await peer.post("/memberships", membership), 201);
  const needs = needsOf(peer.app.app.endpoints);
  return walk(`http://127.0.0.1:${peer.app.port}`, token, needs, [world.organizationId]);
}

describe("the console leads nobody to what is refused (K5)", () => {
  for (const [context, ctxOf] of contexts) {
    for (const role of rolesOf(context)) {
      it(`${role} sees all pages that they are led to`, async () => {
        const { refused, calls } = await walkAs(role, ctxOf(world));
        assert.deepEqual(refused, []);
        assert.ok(calls > 0);
      });
    }
  }

  it("IAM_OWNER is led to every page, and to objects of every kind", async () => {
    const { seen } = await walkAs("IAM_OWNER", { instance_id: peer.app.made.instance_id });
    const paths = new Set([...seen].map((page) => page.replace(/ .*/, "")));
    // Of each list two objects are opened: of providers one is enough, whose pages are alike.
    const kinds = objects.filter(({ path }) => !path.startsWith("/providers/"));
    assert.ok([...paths].some((path) => path.startsWith("/providers/")));
    const unseen = [...pages, ...kinds].filter(({ path }) => !paths.has(path));
    assert.deepEqual(
      unseen.map(({ path }) => path),
      [],
    );
  });
});
