import { createHmac } from "node:crypto";
import { sealedUnder, type SealingKey, unwrapKey, wrapKey } from "../crypto/secrets.ts";
import { failedPrecondition, internal } from "../errors.ts";
import { Conflict, type Database, type Expectation } from "../storage/database.ts";
import { and, asc, eq, gt, inArray, ne, sql } from "../storage/drizzle.ts";
import { secrets, sequences } from "../storage/kernel-tables.ts";
import { type RowChange, updateRows } from "../storage/row-change.ts";
import type { Row } from "../storage/table.ts";

/** The keys above those of instances: `current` wraps, and either unwraps, so that one can replace the other. */
export type MasterKeys = { current: SealingKey; previous?: SealingKey | undefined };

/** The keys of an instance, which a master key wraps. */
export const instanceKeyKinds = ["data_key", "digest_key", "pepper_key"] as const;
export type InstanceKeyKind = (typeof instanceKeyKinds)[number];
export const instanceKeyId = "1";

// What every master key was called before they were told apart.
const unnamed = "master:1";
const pageSize = 500;

/** A master key, named by a digest of itself: what is sealed tells which one opens it. */
export function toMasterKey(key: Uint8Array): SealingKey {
  const name = createHmac("sha256", key).update("idsvc/master-key-id").digest("hex");
  return { id: `master:${name.slice(0, 16)}`, key };
}

type Wrapped = Pick<Row<typeof secrets>, "instanceId" | "kind" | "id"> & { sealed: Uint8Array };

const ownerOf = (instanceId: string) => ({
  instance: instanceId,
  ownerType: "instance",
  ownerId: instanceId,
});

/**
 * The key of an instance, opened with whichever master key it is wrapped under.
 * @throws INTERNAL MASTER_KEY_OTHER, and what `open` throws
 */
export function unwrapInstanceKey(
  { current, previous }: MasterKeys,
  { instanceId, kind, id, sealed }: Wrapped,
): SealingKey {
  const under = sealedUnder(sealed);
  let cause: unknown;
  for (const each of [current, previous]) {
    if (each === undefined || (each.id !== under && under !== unnamed)) continue;
    try {
      const named = { id: under, key: each.key };
      return unwrapKey(named, ownerOf(instanceId), `${kind}:${id}`, sealed);
    } catch (error) {
      cause = error;
    }
  }
  throw internal("MASTER_KEY_OTHER", `the keys of instance ${instanceId} are under ${under}`, {
    cause,
  });
}

/**
 * Proves that the master keys open what is in the store: the keys of one instance for each that instances are wrapped
 * under. Nothing is written. It reads no more than any build has stored, so that it can stand before the migration.
 * @throws FAILED_PRECONDITION MASTER_KEY_WRONG
 */
export async function checkMasterKeys(db: Database, masters: MasterKeys): Promise<void> {
  const [t, logs] = [db.table(secrets), db.table(sequences)];
  const samples = await db.read
    .select({ instanceId: sql<string>`min(${logs.instanceId})` })
    .from(logs)
    .innerJoin(t, dataKeyOf(t, logs))
    .groupBy(t.keyId);
  for (const { instanceId } of samples) {
    try {
      for (const row of await wrappedKeys(db, instanceId)) unwrapInstanceKey(masters, row);
    } catch (cause) {
      throw failedPrecondition(
        "MASTER_KEY_WRONG",
        "the master key does not open this store: give the one it was made with (IDSVC_MASTER_KEY, or master.key in the data folder), and both while one replaces the other (IDSVC_MASTER_KEY_PREVIOUS)",
        { cause },
      );
    }
  }
}

/**
 * Wraps the keys of all instances under the current master key, while services run. Each instance is a unit of its own:
 * an interrupted run leaves whole instances, and the next one goes on with the others.
 *
 * @returns how many instances were wrapped anew
 * @throws MASTER_KEY_WRONG before anything is written, when neither master key opens some
 */
export async function rewrapInstanceKeys(db: Database, masters: MasterKeys): Promise<number> {
  await checkMasterKeys(db, masters);
  const [t, logs] = [db.table(secrets), db.table(sequences)];
  let rewrapped = 0;
  // Over and over until a walk finds none: a process that knows only the old key may make instances meanwhile.
  for (let after = "", found = 0; ; ) {
    const owed = await db.read
      .select({ instanceId: logs.instanceId })
      .from(logs)
      .innerJoin(t, dataKeyOf(t, logs))
      .where(and(gt(logs.instanceId, after), ne(t.keyId, masters.current.id)))
      .orderBy(asc(logs.instanceId))
      .limit(pageSize);
    for (const { instanceId } of owed) {
      if (await rewrapInstance(db, masters, instanceId)) rewrapped += 1;
    }
    found += owed.length;
    const last = owed.at(-1);
    if (last === undefined && found === 0) return rewrapped;
    if (last === undefined) found = 0;
    after = last?.instanceId ?? "";
  }
}

async function rewrapInstance(
  db: Database,
  masters: MasterKeys,
  instanceId: string,
): Promise<boolean> {
  const expect: Expectation[] = [];
  const changes: RowChange[] = [];
  for (const row of await wrappedKeys(db, instanceId)) {
    const { ownerType, ownerId, kind, id, keyId } = row;
    const where = { instanceId, ownerType, ownerId, kind, id, keyId };
    const key = unwrapInstanceKey(masters, row);
    const sealed = wrapKey(masters.current, ownerOf(instanceId), key);
    expect.push({ kind: "rows", table: secrets, where, count: 1 });
    changes.push(updateRows(secrets, where, { sealed, keyId: masters.current.id }));
  }
  try {
    await db.commit({ instanceId, expect, claims: [], events: [], changes });
    return changes.length > 0;
  } catch (error) {
    // Removed meanwhile, or done by another run: the next walk tells.
    if (error instanceof Conflict) return false;
    throw error;
  }
}

/** By the log of each instance its row is found by key: there may be very many secrets. */
const dataKeyOf = (t: typeof secrets.postgres, logs: typeof sequences.postgres) =>
  and(
    eq(t.instanceId, logs.instanceId),
    eq(t.ownerType, "instance"),
    eq(t.ownerId, logs.instanceId),
    eq(t.kind, "data_key"),
    eq(t.id, instanceKeyId),
  );

async function wrappedKeys(db: Database, instanceId: string) {
  const t = db.table(secrets);
  const rows = await db.read
    .select()
    .from(t)
    .where(
      and(
        eq(t.instanceId, instanceId),
        eq(t.ownerType, "instance"),
        eq(t.ownerId, instanceId),
        inArray(t.kind, [...instanceKeyKinds]),
      ),
    );
  return rows.flatMap(({ sealed, ...row }) => (sealed === null ? [] : [{ ...row, sealed }]));
}
