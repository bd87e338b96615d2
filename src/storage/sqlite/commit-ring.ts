import type Sqlite from "better-sqlite3";
import type { Unit } from "../database.ts";
import { partsOf, streamCounterOf } from "../cache-versions.ts";

// Tables of this driver alone: they are no part of what the store holds, and are there where several processes have served it.
const ring = "commit_ring";
const lastOf = "commit_last";

/** So many of the last commits tell what they changed. */
const slots = 4_096;
// A batch of as many units is told whole.
const mostStreams = 512;
const keptMs = 86_400_000;

/**
 * What a batch changed of an instance; null where that is too much to tell.
 *
 * @property parts see `partsOf`
 * @property streams the counters of the aggregates that got events (cache-versions.ts)
 */
type InstanceChanges = [instanceId: string, parts: string[] | null, streams: number[] | null];

/** What a batch changed, as a text that processes tell each other. */
export function changesOf(units: readonly Unit[]): string {
  const byInstance = Map.groupBy(units, ({ instanceId }) => instanceId);
  const changes = [...byInstance].map(([instanceId, ofInstance]): InstanceChanges => {
    const counters = ofInstance.flatMap(({ events }) =>
      events.map(({ aggregateId }) => streamCounterOf(aggregateId)),
    );
    const streams = counters.length <= mostStreams ? counters : [...new Set(counters)];
    const isShort = streams.length <= mostStreams;
    return [instanceId, partsOf(ofInstance) ?? null, isShort ? streams : null];
  });
  return JSON.stringify(changes);
}

const slotOf = (number: number): number => number % slots;
const numberIn = (value: string): number => Number.parseInt(value, 10);

/**
 * A batch that was committed.
 *
 * @property worker the name of the process that sent it, which counts its batches
 * @property results what became of its units, as text
 */
export type CommittedBatch = { worker: string; batch: number; changes: string; results: string };

// A commit is a row: its number, and of each of its batches four more lines. JSON has no line breaks.
const linesOfBatch = 4;

// Rows of one size are written over in their place, where others would be moved from page to page; three of this size fill one.
const rowLength = 1_340;

function rowOf(number: number, batches: readonly CommittedBatch[]): string {
  const row = batches.reduce(
    (lines, { worker, batch, changes, results }) =>
      `${lines}\n${worker}\n${batch}\n${changes}\n${results}`,
    String(number),
  );
  return `${row}\n`.padEnd(Math.ceil((row.length + 1) / rowLength) * rowLength);
}

function batchesIn(value: string): CommittedBatch[] {
  const lines = value.split("\n");
  const batches: CommittedBatch[] = [];
  for (let at = 1; at + linesOfBatch <= lines.length; at += linesOfBatch) {
    const [worker = "", batch = "", changes = "", results = ""] = lines.slice(
      at,
      at + linesOfBatch,
    );
    batches.push({ worker, batch: Number(batch), changes, results });
  }
  return batches;
}

const valuesOf = (connection: Sqlite.Database): string[] =>
  connection.prepare(`SELECT value FROM ${ring}`).pluck().all() as string[];

/** The number of the last commit that was kept; nought where there was none. */
const lastNumber = (values: readonly string[]): number =>
  values.reduce((last, value) => Math.max(last, numberIn(value)), 0);

/** Keeps what batches changed, and what became of the last one of each process, in the transaction that is open. */
export function createRing(connection: Sqlite.Database) {
  connection.exec(`
    CREATE TABLE IF NOT EXISTS ${ring} (slot INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS ${lastOf}
      (worker TEXT PRIMARY KEY, batch INTEGER NOT NULL, results BLOB NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID`);
  connection.prepare(`DELETE FROM ${lastOf} WHERE at < ?`).run(Date.now() - keptMs);
  const put = connection.prepare(`INSERT OR REPLACE INTO ${ring} (slot, value) VALUES (?, ?)`);
  const lasts = createLasts(connection);
  const values = valuesOf(connection);
  lasts.note(values.flatMap(batchesIn));
  let last = lastNumber(values);
  let committing: readonly CommittedBatch[] = [];
  return {
    /** The batches that the transaction commits; the number of one that was rolled back is the next one's. */
    keep(batches: readonly CommittedBatch[]): void {
      committing = batches;
      put.run(slotOf(last + 1), rowOf(last + 1, batches));
      // Before their rows are written over.
      if ((last + 1) % (slots / 2) === 0) lasts.write();
    },
    committed(): void {
      last += 1;
      lasts.note(committing);
    },
    resultsOf: lasts.resultsOf,
  };
}

/** The last batch of each process: of those whose row may be gone it stands in a table. */
function createLasts(connection: Sqlite.Database) {
  const putLast = connection.prepare(
    `INSERT OR REPLACE INTO ${lastOf} (worker, batch, results, at) VALUES (?, ?, ?, ?)`,
  );
  const findLast = connection
    .prepare(`SELECT CAST(results AS TEXT) FROM ${lastOf} WHERE worker = ? AND batch = ?`)
    .pluck();
  const known = new Map<string, CommittedBatch>();
  return {
    note(batches: readonly CommittedBatch[]): void {
      for (const each of batches) {
        if (each.batch > (known.get(each.worker)?.batch ?? 0)) known.set(each.worker, each);
      }
    },
    write(): void {
      for (const { worker, batch, results } of known.values()) {
        putLast.run(worker, batch, Buffer.from(results), Date.now());
      }
    },
    resultsOf(worker: string, batch: number): string | undefined {
      const last = known.get(worker);
      if (last?.batch === batch) return last.results;
      return findLast.get(worker, batch) as string | undefined;
    },
  };
}

/** What a process does with what others have changed. */
export type Noticing = {
  parts(instanceId: string, parts: readonly string[]): void;
  instance(instanceId: string): void;
  streams(counters: readonly number[]): void;
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
  let last = prepared() === undefined ? 0 : lastNumber(valuesOf(connection));

  function notice([instanceId, parts, streams]: InstanceChanges): void {
    if (parts === null) noticing.instance(instanceId);
    else noticing.parts(instanceId, parts);
    if (streams === null) noticing.all();
    else noticing.streams(streams);
    if (streams === null || streams.length > 0) noticing.events(instanceId);
  }

  function noticeCommit(value: string): void {
    for (const { worker, changes } of batchesIn(value)) {
      if (worker !== own) for (const each of JSON.parse(changes) as InstanceChanges[]) notice(each);
    }
  }

  /** More was committed than is kept: whatever was read before may have changed. */
  function noticeAll(): void {
    const values = valuesOf(connection);
    noticing.all();
    values.forEach(noticeCommit);
    last = lastNumber(values);
  }

  return () => {
    for (;;) {
      const value = prepared()?.get(slotOf(last + 1)) as string | undefined;
      const number = value === undefined ? 0 : numberIn(value);
      if (value === undefined || number <= last) return;
      if (number > last + 1) return noticeAll();
      last = number;
      noticeCommit(value);
    }
  };
}

const hasRing = (connection: Sqlite.Database): boolean =>
  connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").pluck().get(ring) === 1;
