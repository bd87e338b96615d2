import { DomainError } from "../errors.ts";
import type { Database } from "./database.ts";
import { leases } from "./kernel-tables.ts";
import { putRow } from "./row-change.ts";

const probeMs = 1_000;
const probeName = "store.probe";

/** Whether the store takes writes, as far as its last ones tell. */
export type Writability = AsyncDisposable & {
  isWritable(): boolean;
  /** Calls the listener after each change. */
  onChange(listener: (isWritable: boolean) => void): void;
};

/**
 * Notices when the store cannot write (a full disk, one that is read-only, a database that is gone), and by a small write
 * of its own each second when it can again (F03, F04).
 *
 * @returns the same store, whose commits are watched
 */
export function watchWrites<D extends Database>(store: D): { store: D; writes: Writability } {
  const listeners: ((isWritable: boolean) => void)[] = [];
  let isWritable = true;
  let timer: NodeJS.Timeout | undefined;
  let turn = 0n;

  function note(can: boolean): void {
    if (can === isWritable) return;
    isWritable = can;
    if (can) clearInterval(timer);
    else timer = setInterval(() => void commit(probe()).catch(() => undefined), probeMs).unref();
    for (const listen of listeners) listen(can);
  }

  function probe() {
    turn += 1n;
    const row = { name: probeName, holder: "", token: turn, expires: new Date(0) };
    const changes = [putRow(leases, row)];
    return { instanceId: "", expect: [], claims: [], events: [], changes };
  }

  const commit: D["commit"] = async (unit) => {
    try {
      const committed = await store.commit(unit);
      note(true);
      return committed;
    } catch (error) {
      if (error instanceof DomainError && error.reason === "STORE_UNAVAILABLE") note(false);
      throw error;
    }
  };

  return {
    store: { ...store, commit },
    writes: {
      isWritable: () => isWritable,
      onChange: (listener) => void listeners.push(listener),
      async [Symbol.asyncDispose]() {
        clearInterval(timer);
      },
    },
  };
}
