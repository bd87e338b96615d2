import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { isOneOf } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import { and, eq } from "../../../storage/drizzle.ts";
import { userGrantRoles, userGrants } from "./projection.ts";
import { cascadeUserGrant, loseUserRoles, userGrant } from "./user-grant.ts";

/** What takes user grants with it: something that goes, or roles that one of them loses. */
export type Cause =
  | { userId: string }
  | { organizationId: string }
  | { projectId: string; lost?: readonly string[] }
  | { projectGrantId: string; lost?: readonly string[] };

// One unit holds the log while it commits: more than this many user grants are changed in several.
const mostInOneUnit = 2_000;

/**
 * Takes user grants, or roles of them, away in the unit of their cause. One that is made meanwhile makes the decision be
 * taken anew.
 */
export async function cascadeUserGrants(
  db: Database,
  tx: Transaction,
  instanceId: string,
  cause: Cause,
): Promise<void> {
  const { lost, ...where } = { lost: undefined, ...cause };
  if (lost === undefined) {
    const ids = await idsOf(db, instanceId, cause);
    tx.expectRows(userGrants, { instanceId, ...where }, ids.length);
    return take(tx, ids, cause);
  }
  const ids = new Set<string>();
  for (const roleKey of lost) {
    const holders = await idsOf(db, instanceId, { ...cause, lost: [roleKey] });
    tx.expectRows(userGrantRoles, { instanceId, ...where, roleKey }, holders.length);
    for (const id of holders) ids.add(id);
  }
  return take(tx, [...ids], cause);
}

/**
 * Leaves the unit of the cause no more user grants than one unit may hold: the others are taken away before, in units of
 * their own. Each of these only takes something away, so whoever stops in between can begin again.
 */
export async function cascadeMostUserGrants(
  { db, events }: Pick<Deps, "db" | "events">,
  at: WriteContext,
  cause: Cause,
): Promise<void> {
  for (;;) {
    const ids = await idsOf(db, at.instanceId, cause, mostInOneUnit + 1);
    if (ids.length <= mostInOneUnit) return;
    await events.transact(at, (tx) => take(tx, ids, cause));
  }
}

/** Takes up to `limit` user grants away, as one unit; tells how many. */
export async function cascadeSomeUserGrants(
  { db, events }: Pick<Deps, "db" | "events">,
  at: WriteContext,
  cause: Cause,
  limit: number,
): Promise<number> {
  const ids = await idsOf(db, at.instanceId, cause, Math.min(limit, mostInOneUnit));
  await events.transact(at, (tx) => take(tx, ids, cause));
  return ids.length;
}

async function take(tx: Transaction, ids: readonly string[], cause: Cause): Promise<void> {
  const lost = "lost" in cause ? cause.lost : undefined;
  for (const id of ids) {
    const loaded = await tx.load(userGrant, id);
    const happened =
      lost === undefined ? cascadeUserGrant(loaded.state) : loseUserRoles(loaded.state, lost);
    tx.record(userGrant, loaded, happened);
  }
}

async function idsOf(db: Database, instanceId: string, cause: Cause, limit?: number) {
  if ("lost" in cause && cause.lost !== undefined) {
    const t = db.table(userGrantRoles);
    const place =
      "projectId" in cause
        ? eq(t.projectId, cause.projectId)
        : eq(t.projectGrantId, cause.projectGrantId);
    const query = db.read
      .selectDistinct({ id: t.userGrantId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), place, isOneOf(t.roleKey, cause.lost)));
    const rows = await (limit === undefined ? query : query.limit(limit));
    return rows.map(({ id }) => id);
  }
  const t = db.table(userGrants);
  const { lost: _, ...where } = { lost: undefined, ...cause };
  const same = Object.entries(where).map(([column, value]) =>
    eq(t[column as keyof typeof where], value),
  );
  const query = db.read
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), ...same));
  const rows = await (limit === undefined ? query : query.limit(limit));
  return rows.map(({ id }) => id);
}
