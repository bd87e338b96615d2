import type { Database } from "../../src/storage/database.ts";

/** Keeps jobs from being begun: whoever claims one waits until the release. */
export function holdClaims(db: Database): { waiting(): number; release(): void } {
  const { commit } = db;
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  db.commit = async (unit) => {
    const isClaim = unit.changes.some(
      (change) =>
        change.table.name === "jobs" &&
        change.op === "update" &&
        typeof change.values["leaseHolder"] === "string" &&
        change.values["leaseHolder"] !== "",
    );
    if (isClaim) {
      waiting += 1;
      await promise;
    }
    return commit(unit);
  };
  return {
    waiting: () => waiting,
    release() {
      db.commit = commit;
      resolve();
    },
  };
}
