import { withoutExpectation } from "../../../eventstore/expected-sequence.ts";
import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { allIds, someIds } from "../../../projection/ids.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Database } from "../../../storage/database.ts";
import { cascadeUserGrant, loseUserRoles, userGrantRoles, userGrants } from "./user-grant.ts";

/** What takes user grants with it when it goes. */
export type Cause =
  | { userId: string }
  | { organizationId: string }
  | { projectId: string }
  | { projectGrantId: string };

/** What takes roles of user grants with it when it loses them. */
export type Loser = { projectId: string } | { projectGrantId: string };

// One unit keeps other writers waiting while it commits: more than this many user grants are changed in several.
const mostInOneUnit = 2_000;

type Parts = Pick<Deps, "db" | "events">;

/** Removes user grants in the unit of the cause. One that is made meanwhile makes the decision be taken anew. */
export async function cascadeUserGrants(
  db: Database,
  tx: Transaction,
  instanceId: string,
  cause: Cause,
): Promise<void> {
  await remove(tx, await allIds(db, tx, userGrants.table, { instanceId, ...cause }));
}

/**
 * Leaves the unit of the cause no more user grants than one unit may hold: the others are removed before, in units of
 * their own. Whoever is stopped in between can begin again.
 */
export async function cascadeMostUserGrants(
  { db, events }: Parts,
  at: WriteContext,
  cause: Cause,
): Promise<void> {
  const where = { instanceId: at.instanceId, ...cause };
  for (;;) {
    const ids = await someIds(db, userGrants.table, where, mostInOneUnit + 1);
    if (ids.length <= mostInOneUnit) return;
    await events.transact(withoutExpectation(at), (tx) => remove(tx, ids));
  }
}

/** Removes up to `limit` user grants, as one unit; tells how many. */
export async function cascadeSomeUserGrants(
  { db, events }: Parts,
  at: WriteContext,
  cause: Cause,
  limit: number,
): Promise<number> {
  const where = { instanceId: at.instanceId, ...cause };
  const ids = await someIds(db, userGrants.table, where, Math.min(limit, mostInOneUnit));
  await events.transact(at, (tx) => remove(tx, ids));
  return ids.length;
}

/** Takes roles out of user grants, in the manner of `cascadeUserGrants`. */
export async function cascadeRoles(
  db: Database,
  tx: Transaction,
  instanceId: string,
  loser: Loser,
  lost: readonly string[],
): Promise<void> {
  for (const roleKey of lost) {
    const where = { instanceId, ...loser, roleKey };
    await lose(tx, await allIds(db, tx, userGrantRoles, where, "userGrantId"), lost);
  }
}

/** Takes roles out of most user grants beforehand, in the manner of `cascadeMostUserGrants`. */
export async function cascadeMostRoles(
  { db, events }: Parts,
  at: WriteContext,
  loser: Loser,
  lost: readonly string[],
): Promise<void> {
  for (const roleKey of lost) {
    const where = { instanceId: at.instanceId, ...loser, roleKey };
    for (;;) {
      const ids = await someIds(db, userGrantRoles, where, mostInOneUnit + 1, "userGrantId");
      if (ids.length <= mostInOneUnit) break;
      await events.transact(withoutExpectation(at), (tx) => lose(tx, ids, lost));
    }
  }
}

async function remove(tx: Transaction, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const loaded = await tx.load(userGrants.aggregate, id);
    tx.record(userGrants.aggregate, loaded, cascadeUserGrant(loaded.state));
  }
}

async function lose(
  tx: Transaction,
  ids: readonly string[],
  lost: readonly string[],
): Promise<void> {
  for (const id of ids) {
    const loaded = await tx.load(userGrants.aggregate, id);
    tx.record(userGrants.aggregate, loaded, loseUserRoles(loaded.state, lost));
  }
}
