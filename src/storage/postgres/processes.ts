import { createHash } from "node:crypto";
import type pg from "pg";

/** The first key of the locks by which processes are known; the second is a digest of the name. */
const lockClass = 0x69_64_73_76;
// A process whose connection breaks has another one before, and with it the lock again.
const missingForMs = 1_500;

export type Processes = {
  /** Takes the lock that says that this process runs, for as long as the connection lasts. */
  announce(client: pg.Client): Promise<void>;
  /** Of these processes those that the server has not seen for so long that they are gone. */
  goneOf(names: readonly string[]): Promise<string[]>;
};

/**
 * Tells which processes run, by advisory locks on connections that last as long as the process: the server lets go of the lock of one that
 * is killed at once, and of one whose machine is gone when the connection does not answer (connect.ts).
 */
export function createProcesses(own: string, reading: pg.Pool): Processes {
  const missing = new Map<string, number>();

  return {
    async announce(client) {
      await client.query("SELECT pg_try_advisory_lock_shared($1, $2)", [lockClass, keyOf(own)]);
    },

    async goneOf(names) {
      const asked = [...new Set(names)].filter((name) => name !== own);
      if (asked.length === 0) return [];
      const { rows } = await reading.query<{ key: string }>(
        `SELECT objid::text AS key FROM pg_locks
         WHERE locktype = 'advisory' AND classid = $1 AND objsubid = 2 AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [lockClass],
      );
      const running = new Set(rows.map(({ key }) => Number(key)));
      const now = performance.now();
      return asked.filter((name) => {
        if (running.has(keyOf(name))) {
          missing.delete(name);
          return false;
        }
        const since = missing.get(name) ?? now;
        missing.set(name, since);
        return now - since >= missingForMs;
      });
    },
  };
}

// Positive, so that it reads the same as the server shows it.
const keyOf = (name: string): number =>
  createHash("sha256").update(name).digest().readUInt32BE(0) >>> 1;
