import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq, inArray } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { rowById } from "../../projection/ids.ts";
import { rowsWhere } from "../../projection/rows.ts";
import { executions, executionTargets } from "./execution/projection.ts";
import { type TargetConfig, type TargetKind, targets } from "./target/target.ts";

/** A target as calls need it. */
export type StoredTarget = Omit<TargetConfig, "name" | "kind"> & { id: string; kind: TargetKind };
type KeptRow = Omit<StoredTarget, "kind"> & { kind: string };

/** An execution as it is stored: its includes are not expanded. `creationSequence` is its position in the log. */
export type StoredExecution = {
  id: string;
  targets: readonly string[];
  includes: readonly string[];
  creationSequence: bigint;
};

/** All executions of an instance, and the targets that they list. */
export type StoredActions = {
  executions: readonly StoredExecution[];
  targets: ReadonlyMap<string, StoredTarget>;
};

/**
 * Reads what an instance has stored, and keeps what is made of it until an execution or a target changes; on another
 * replica for a second longer. A hit gives no promise.
 */
export function cachedActions<P>(
  db: Database,
  compile: (stored: StoredActions) => P,
): (instanceId: string) => Awaitable<P> {
  // Most instances have no executions: a change of targets says nothing about those.
  const ofNone = cachedRead(db, [executions], async (instanceId) =>
    (await executionsOf(db, instanceId)).length === 0
      ? compile({ executions: [], targets: new Map() })
      : undefined,
  );
  const ofSome = cachedRead(db, [executions, targets.table], async (instanceId) =>
    compile(await storedActions(db, instanceId)),
  );
  return (instanceId) =>
    whenKnown(ofNone(instanceId, ""), (made) => made ?? ofSome(instanceId, ""));
}

export type TargetOf = (instanceId: string, id: string) => Promise<StoredTarget | undefined>;

/** Reads one target as it is now, whether an execution lists it or not. */
export function targetReader(db: Database): TargetOf {
  const read = rowById(db, targets.table);
  return async (instanceId, id) => {
    const row = await read(instanceId, id);
    return row && toStored(row);
  };
}

const toStored = ({ id, url, kind, ...row }: KeptRow): StoredTarget => ({
  id,
  url,
  timeoutMs: row.timeoutMs,
  isAsync: row.isAsync,
  interruptOnError: row.interruptOnError,
  payloadSecrets: row.payloadSecrets,
  kind: kind === "rest_webhook" ? "rest_webhook" : "rest_request_response",
});

const executionsOf = (db: Database, instanceId: string): Promise<StoredExecution[]> =>
  rowsWhere(db, executions, { instanceId });

async function storedActions(db: Database, instanceId: string): Promise<StoredActions> {
  const found = await executionsOf(db, instanceId);
  if (found.length === 0) return { executions: [], targets: new Map() };
  const l = db.table(executionTargets);
  const listed = db.read.select({ id: l.targetId }).from(l).where(eq(l.instanceId, instanceId));
  const t = db.table(targets.table);
  const rows = await db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, instanceId), inArray(t.id, listed)));
  return { executions: found, targets: new Map(rows.map((row) => [row.id, toStored(row)])) };
}
