import type { Database } from "../../storage/database.ts";
import { eq } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { executions } from "./execution/projection.ts";
import type { TargetConfig } from "./target/events.ts";
import { targets } from "./target/projection.ts";

/** A target as calls need it. */
export type StoredTarget = Omit<TargetConfig, "name"> & { id: string };

/** An execution as it is stored: its includes are not expanded. `creationSequence` is its place in the log. */
export type StoredExecution = {
  id: string;
  targets: readonly string[];
  includes: readonly string[];
  creationSequence: bigint;
};

/** All executions and targets of an instance. */
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
): (instanceId: string) => P | Promise<P> {
  const read = cachedRead(db, [executions, targets], async (instanceId) =>
    compile(await storedActions(db, instanceId)),
  );
  return (instanceId) => read(instanceId, "");
}

async function storedActions(db: Database, instanceId: string): Promise<StoredActions> {
  const e = db.table(executions);
  const found = await db.read
    .select({
      id: e.id,
      targets: e.targets,
      includes: e.includes,
      creationSequence: e.creationSequence,
    })
    .from(e)
    .where(eq(e.instanceId, instanceId));
  const t = db.table(targets);
  const rows = await db.read
    .select({
      id: t.id,
      kind: t.kind,
      url: t.url,
      timeoutMs: t.timeoutMs,
      isAsync: t.isAsync,
      interruptOnError: t.interruptOnError,
    })
    .from(t)
    .where(eq(t.instanceId, instanceId));
  const known = rows.map(({ kind, ...row }): [string, StoredTarget] => [
    row.id,
    { ...row, kind: kind === "rest_webhook" ? "rest_webhook" : "rest_request_response" },
  ]);
  return { executions: found, targets: new Map(known) };
}
