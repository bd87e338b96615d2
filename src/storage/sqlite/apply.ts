import Sqlite from "better-sqlite3";
import type { CompiledUnit, Step } from "./compile.ts";
import { isBusy, isDamage, isUnflushed } from "./errors.ts";

type Statement = Sqlite.Statement;

// Tables are named as kernel-tables.ts defines them: a thread that writes loads no definitions.

/**
 * What becomes of a unit: the sequence of its first event, nought when it has none; or which step was refused, and by what
 * error of the engine. Without one the step met what it must not: another value than expected, or a row that is there.
 */
export type Result = bigint | { step: number; error?: unknown };

/** What becomes of a batch. */
export type Outcome =
  /** All of it is on disk, but for the units that were refused. `tookMs`: the transaction, of which the flush took `flushMs`. */
  | { kind: "committed"; results: Result[]; tookMs: number; flushMs: number }
  /** Another process has the lock: nothing was tried. */
  | { kind: "busy" }
  /** Nothing was changed. */
  | { kind: "failed"; error: unknown }
  /** The flush failed: whether it is on disk nobody knows. */
  | { kind: "unknown"; error: unknown };

export type Applier = {
  /** Commits units in one transaction, with one flush. */
  commit(units: readonly CompiledUnit[]): Outcome;
  /** Runs a step whose sequences are known, in whatever transaction is open. */
  run(step: Step): void;
};

class Refused extends Error {
  override name = "Refused";
  readonly result: { step: number; error?: unknown };
  constructor(result: { step: number; error?: unknown }) {
    super();
    this.result = result;
  }
}

/**
 * The statements of one writing connection, prepared once each.
 *
 * @param texts the text of each statement, at its number
 * @param keep writes what others are to know of a commit, in its transaction: what became of each unit
 */
export function createApplier(
  connection: Sqlite.Database,
  texts: readonly string[],
  keep: (results: readonly Result[]) => void = () => {},
): Applier {
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const end = connection.prepare("COMMIT");
  const rollback = connection.prepare("ROLLBACK");
  const savepoint = connection.prepare("SAVEPOINT unit");
  const release = connection.prepare("RELEASE unit");
  const steps = preparedSteps(connection, texts);
  const heads = createHeads(connection);
  let isBroken = false;

  function apply(unit: CompiledUnit): bigint {
    const first = unit.events === 0 ? 0n : heads.next(unit.instanceId);
    let at = 0;
    try {
      for (; at < unit.steps.length; at++) {
        const step = unit.steps[at];
        if (step !== undefined && !steps.run(step, first)) throw new Refused({ step: at });
      }
    } catch (error) {
      if (error instanceof Refused || isFatal(connection, error)) throw error;
      throw new Refused(isTaken(error) ? { step: at } : { step: at, error });
    }
    // Only now: the numbers of a unit that failed are the next one's.
    if (unit.events > 0) heads.draw(unit);
    return first;
  }

  /** All units of a batch; undefined, with nothing changed, if one of them is refused. */
  function applyTogether(units: readonly CompiledUnit[]): Result[] | undefined {
    try {
      return units.map(apply);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      rollback.run();
      return undefined;
    }
  }

  /** The units of a batch in which one is refused, a savepoint each: it is rolled back alone. */
  const applyEach = (units: readonly CompiledUnit[]): Result[] =>
    units.map((unit) => {
      savepoint.run();
      try {
        const first = apply(unit);
        release.run();
        return first;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        connection.exec("ROLLBACK TO unit; RELEASE unit");
        return error.result;
      }
    });

  function commit(units: readonly CompiledUnit[]): Outcome {
    // What the last flush left on the disk nobody knows; only a new process can read what is there (F05).
    if (isBroken) return { kind: "failed", error: unflushed() };
    const began = performance.now();
    try {
      begin.run();
      heads.clear();
      let results = applyTogether(units);
      if (results === undefined) {
        begin.run();
        heads.clear();
        results = applyEach(units);
      }
      heads.write();
      keep(results);
      const applied = performance.now();
      end.run();
      const now = performance.now();
      return { kind: "committed", results, tookMs: now - began, flushMs: now - applied };
    } catch (error) {
      if (connection.inTransaction) rollback.run();
      if (isBusy(error)) return { kind: "busy" };
      if (!isUnflushed(error)) return { kind: "failed", error };
      isBroken = true;
      return { kind: "unknown", error };
    }
  }

  return { commit, run: (step) => void steps.run(step, 0n) };
}

/** Runs steps, each by its statement; false where what it gives is not what is expected. */
function preparedSteps(connection: Sqlite.Database, texts: readonly string[]) {
  const statements: Statement[] = [];
  function prepared(number: number): Statement {
    const statement = connection.prepare(texts[number] ?? "");
    // NOTE: better-sqlite3 makes row objects by generating code, which the process forbids: read single columns.
    if (statement.reader) statement.pluck();
    return (statements[number] = statement);
  }
  return {
    run({ statement: at, values, pending, expected }: Step, firstSequence: bigint): boolean {
      const statement = statements[at] ?? prepared(at);
      if (expected !== undefined) return Number(statement.get(values)) === expected;
      if (pending !== undefined) putSequences(values, pending, firstSequence);
      statement.run(values);
      return true;
    },
  };
}

/** Puts the sequences into their places; a unit that is tried again gets others. */
function putSequences(values: unknown[], pending: readonly number[], firstSequence: bigint): void {
  for (let at = 0; at < pending.length; at += 2) {
    values[pending[at] ?? 0] = firstSequence + BigInt(pending[at + 1] ?? 0);
  }
}

/** What a transaction draws from the sequence of each instance: written once at its end, however many units there are. */
function createHeads(connection: Sqlite.Database) {
  const drawn = new Map<string, { last: bigint; changedAt: number }>();
  let statements: { read: Statement; write: Statement } | undefined;
  const prepared = () =>
    (statements ??= {
      read: connection.prepare(`SELECT last FROM sequences WHERE instance_id = ?`).pluck(),
      write: connection.prepare(
        `INSERT INTO sequences (instance_id, last, changed_at) VALUES (?, ?, ?)
         ON CONFLICT (instance_id) DO UPDATE SET last = excluded.last,
           changed_at = max(changed_at, excluded.changed_at)`,
      ),
    });
  function headOf(instanceId: string): { last: bigint; changedAt: number } {
    let head = drawn.get(instanceId);
    if (head === undefined) {
      head = { last: BigInt(Number(prepared().read.get(instanceId) ?? 0)), changedAt: 0 };
      drawn.set(instanceId, head);
    }
    return head;
  }
  return {
    clear: () => drawn.clear(),
    next: (instanceId: string): bigint => headOf(instanceId).last + 1n,
    draw({ instanceId, events, createdAt }: CompiledUnit): void {
      const head = headOf(instanceId);
      head.last += BigInt(events);
      head.changedAt = Math.max(head.changedAt, createdAt);
    },
    write(): void {
      for (const [instanceId, { last, changedAt }] of drawn) {
        if (changedAt !== 0) prepared().write.run(instanceId, last, changedAt);
      }
    },
  };
}

const besideName = "commits_beside";

/** Tells the process that serves the store that another one has written to it, in the transaction that is open. */
export function markOthers(connection: Sqlite.Database): void {
  connection
    .prepare(
      `INSERT INTO store_facts (name, value) VALUES (?, randomblob(16))
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    )
    .run(besideName);
}

/** Says whether another process has written to the store since it was asked last. */
export function createBesideReader(connection: Sqlite.Database): () => boolean {
  let statement: Statement | undefined;
  const read = (): unknown => {
    if (statement === undefined && !hasFacts(connection)) return undefined;
    statement ??= connection.prepare("SELECT hex(value) FROM store_facts WHERE name = ?").pluck();
    return statement.get(besideName);
  };
  let last = read();
  return () => {
    const before = last;
    last = read();
    return last !== before;
  };
}

const hasFacts = (connection: Sqlite.Database): boolean =>
  connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_facts'").pluck().get() === 1;

/** The transaction is over, or nothing more can be asked of the file. */
const isFatal = (connection: Sqlite.Database, error: unknown): boolean =>
  !connection.inTransaction || isDamage(error);

function isTaken(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return (
    code === "SQLITE_CONSTRAINT_PRIMARYKEY" ||
    code === "SQLITE_CONSTRAINT_UNIQUE" ||
    // The guard of the events looks for what is there before the index does (ddl.ts).
    code === "SQLITE_CONSTRAINT_TRIGGER"
  );
}

const unflushed = () => new Sqlite.SqliteError("an earlier flush failed", "SQLITE_IOERR");
