import type Sqlite from "better-sqlite3";
import type { Unit } from "../database.ts";
import { partsOf } from "../cache-versions.ts";

// Tables of this driver alone: they are no part of what the store holds, and are there where several processes have served it.
const ring = "commit_ring";
const lastOf = "commit_last";

/** So many of the last batches tell what they changed. */
const slots = 4_096;
const mostStreams = 100;
const keptMs = 86_400_000;

/**
 * What a batch changed of an instance; null where that is too much to tell.
 *
 * @property parts see `partsOf`
 * @property streams the ids of the aggregates that got events
 */
type InstanceChanges = [instanceId: string, parts: string[] | null, streams: string[] | null];

/** What a batch changed, as a text that processes tell each other. */
export function changesOf(units: readonly Unit[]): string {
  const byInstance = Map.groupBy(units, ({ instanceId }) => instanceId);
  const changes = [...byInstance].map(([instanceId, ofInstance]): InstanceChanges => {
    const streams = new Set<string>();
    for (const { events } of ofInstance) {
      for (const { aggregateId } of events) streams.add(aggregateId);
    }
    const isShort = streams.size <= mostStreams;
    return [instanceId, partsOf(ofInstance) ?? null, isShort ? [...streams] : null];
  });
  return JSON.stringify(changes);
}

const slotOf = (number: number): number => number % slots;

/** The number of the last batch that was kept; nought where there was none. */
function lastNumber(connection: Sqlite.Database): number {
  const values = connection.prepare(`SELECT value FROM ${ring}`).pluck().all() as string[];
  return values.reduce((last, value) => Math.max(last, Number.parseInt(value, 10)), 0);
}

/** Keeps what batches changed, and what became of the last one of each process, in the transaction that is open. */
export function createRing(connection: Sqlite.Database) {
  connection.exec(`
    CREATE TABLE IF NOT EXISTS ${ring} (slot INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS ${lastOf}
      (worker TEXT PRIMARY KEY, batch INTEGER NOT NULL, results BLOB NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID`);
  connection.prepare(`DELETE FROM ${lastOf} WHERE at < ?`).run(Date.now() - keptMs);
  const put = connection.prepare(`INSERT OR REPLACE INTO ${ring} (slot, value) VALUES (?, ?)`);
  const putLast = connection.prepare(
    `INSERT OR REPLACE INTO ${lastOf} (worker, batch, results, at) VALUES (?, ?, ?, ?)`,
  );
  const findLast = connection
    .prepare(`SELECT results FROM ${lastOf} WHERE worker = ? AND batch = ?`)
    .pluck();
  let last = lastNumber(connection);
  let next = last;
  return {
    /** Numbers drawn by a transaction that was rolled back are the next one's. */
    begin: () => void (next = last),
    keep(worker: string, batch: number, changes: string, results: Buffer): void {
      next += 1;
      put.run(slotOf(next), `${next} ${worker}\n${changes}`);
      putLast.run(worker, batch, results, Date.now());
    },
    committed: () => void (last = next),
    resultsOf: (worker: string, batch: number): Buffer | undefined =>
      findLast.get(worker, batch) as Buffer | undefined,
  };
}

/** What a process does with what others have changed. */
export type Noticing = {
  parts(instanceId: string, parts: readonly string[]): void;
  instance(instanceId: string): void;
  streams(ids: readonly string[]): void;
  all(): void;
  /** Events of the instance have come. */
  events(instanceId: string): void;
};

/**
 * Reads what batches of other processes changed.
 *
 * @param own the name of this process: what it has written itself it knows
 * @returns looks for what has been committed since it looked last
 */
export function createRingReader(
  connection: Sqlite.Database,
  own: string,
  noticing: Noticing,
): () => void {
  let find: Sqlite.Statement | undefined;
  const prepared = (): Sqlite.Statement | undefined => {
    if (find === undefined && hasRing(connection)) {
      find = connection.prepare(`SELECT value FROM ${ring} WHERE slot = ?`).pluck();
    }
    return find;
  };
  let last = prepared() === undefined ? 0 : lastNumber(connection);

  function notice([instanceId, parts, streams]: InstanceChanges): void {
    if (parts === null) noticing.instance(instanceId);
    else noticing.parts(instanceId, parts);
    if (streams === null) noticing.all();
    else noticing.streams(streams);
    if (streams === null || streams.length > 0) noticing.events(instanceId);
  }

  const noticeBatch = (value: string): void => {
    const start = value.indexOf("\n");
    const worker = value.slice(value.indexOf(" ") + 1, start);
    if (worker === own) return;
    for (const each of JSON.parse(value.slice(start + 1)) as InstanceChanges[]) notice(each);
  };

  /** More was committed than is kept: whatever was read before may have changed. */
  function noticeAll(): void {
    const values = connection.prepare(`SELECT value FROM ${ring}`).pluck().all() as string[];
    noticing.all();
    for (const value of values) noticeBatch(value);
    last = lastNumber(connection);
  }

  return () => {
    for (;;) {
      const value = prepared()?.get(slotOf(last + 1)) as string | undefined;
      const number = value === undefined ? 0 : Number.parseInt(value, 10);
      if (value === undefined || number <= last) return;
      if (number > last + 1) return noticeAll();
      last = number;
      noticeBatch(value);
    }
  };
}

const hasRing = (connection: Sqlite.Database): boolean =>
  connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").pluck().get(ring) === 1;
