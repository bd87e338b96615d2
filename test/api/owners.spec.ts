// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { and, desc, eq, gt, ne } from "../../src/storage/drizzle.ts";
import { events } from "../../src/storage/kernel-tables.ts";
import { addCaller, engine } from "../support/app.ts";
import type { CallOptions, Outcome } from "../support/protocols.ts";
import { startSamples } from "./sample-service.ts";
import { addSecondInstance } from "./abuse.ts";
import { samples } from "./samples.ts";

// Every method, with a request that succeeds for the owner of its objects, sent by those who own something else (D40, D44).

const service = await startSamples();
const { app, peer, world } = service;
after(() => service[Symbol.asyncDispose]());

const { instanceId } = world;
// What is looked at in the store is the same for both: on one engine each method is called by one and the next by the other, on the
// other engine the other way round.
const ways = ["rest", "grpc"] as const;
const wayOf = (method: number) => ways[(method + (engine === "postgres" ? 0 : 1)) % 2] ?? "rest";

/** A caller who owns an organization, or an instance, that has nothing to do with the objects of the samples. */
type Outsider = { options: CallOptions; organizationId: string; ownIds: readonly string[] };

async function ownerOfAnotherOrganization(): Promise<Outsider> {
  const organizationId = await world.make("/organizations", { name: "Another" });
  const { userId, token } = await addCaller(app, [], organizationId);
  const ctx = { org_id: organizationId };
  await world.make("/memberships", { ctx, user_id: userId, roles: ["ORG_OWNER"] });
  return { options: { token }, organizationId, ownIds: [organizationId, userId] };
}

async function ownerOfAnotherInstance(): Promise<Outsider> {
  const other = await addSecondInstance(app, "i2.test");
  const { token, host, instance, organization } = other;
  return { options: { token, host }, organizationId: "", ownIds: [instance, organization] };
}

/** Ids that a message names. */
function idsIn(value: unknown): string[] {
  return JSON.stringify(value).match(/(?<=")\d{15,}(?=")/g) ?? [];
}

async function head(): Promise<bigint> {
  const t = app.kernel.db.table(events);
  const [row] = await app.kernel.db.read
    .select({ sequence: t.sequence })
    .from(t)
    .where(eq(t.instanceId, instanceId))
    .orderBy(desc(t.sequence))
    .limit(1);
  return row?.sequence ?? 0n;
}

/** Whose objects calls have changed in the instance of the samples since then. Notices go out by themselves. */
async function ownersOfChanges(since: bigint): Promise<string[]> {
  const t = app.kernel.db.table(events);
  const rows = await app.kernel.db.read
    .selectDistinct({ type: t.ownerType, id: t.ownerId })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), gt(t.sequence, since), ne(t.service, "notices")));
  return rows.map(({ id }) => id);
}

describe("of those who own something else", () => {
  const outsiders = new Map<string, Outsider>();
  before(async () => {
    outsiders.set("the owner of another organization", await ownerOfAnotherOrganization());
    outsiders.set("the owner of another instance", await ownerOfAnotherInstance());
  });
  let turn = 0;

  for (const [nth, { rule }] of [...app.app.endpoints].entries()) {
    const { method, path } = rule;
    const sample = samples[path];
    if (sample === undefined) continue;
    // Who is refused has left all that it names as it was.
    let unused: JsonObject | undefined;
    for (const who of [
      "the owner of another organization",
      "the owner of another instance",
    ] as const) {
      it(`${who} gains nothing at ${path}`, async () => {
        const outsider = outsiders.get(who);
        assert.ok(outsider);
        const way = wayOf(nth);
        const request = (unused ??= await sample.valid(world, turn++));
        const foreign = idsIn(request);
        const since = await head();
        const message = fromJson(method.input, request);
        const outcome = await peer.call(way, method, message, outsider.options);
        assertGainsNothing(outcome, foreign, toJson(method.input, message), way);
        const changed = (await ownersOfChanges(since)).filter(
          (owner) => owner !== outsider.organizationId,
        );
        assert.deepEqual(changed, [], `${way}: what belongs to others stays as it is`);
        if (outcome.ok) {
          unused = undefined;
          const shown = idsIn(toJson(method.output, outcome.message));
          const known = new Set([...foreign, world.organizationId, world.projectId, world.userId]);
          assert.deepEqual(
            shown.filter((id) => known.has(id) && !outsider.ownIds.includes(id)),
            [],
            `${way} shows what belongs to others`,
          );
        }
      });
    }
  }
});

/** A request that names what belongs to others is refused, or finds nothing. */
function assertGainsNothing(
  outcome: Outcome,
  foreign: readonly string[],
  request: unknown,
  way: string,
): void {
  if (outcome.ok) return;
  const what = `${way} ${JSON.stringify(request)}: ${outcome.code} ${outcome.reason}`;
  assert.ok([5, 7, 3, 9].includes(outcome.code), what);
  // A login tells nobody apart from somebody elsewhere.
  if (outcome.reason === "INVALID_CREDENTIALS") return;
  if (foreign.length > 0) assert.ok([5, 7].includes(outcome.code), what);
}
