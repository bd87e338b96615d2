import type SqliteDatabase from "better-sqlite3";
import { ClaimTaken, Conflict, type Unit } from "../database.ts";
import { claims, events, sequences } from "../kernel-tables.ts";
import { insertRow, PendingSequence, type RowChange } from "../row-change.ts";
import { type AnyTable, columnName } from "../table.ts";

type Statement = SqliteDatabase.Statement;
type Mappable = { mapToDriverValue(value: unknown): unknown };

const quote = (name: string): string => `"${name}"`;
const equals = (key: string): string => `${quote(columnName(key))} = ?`;
const isAnyOf = (key: string): string =>
  `${quote(columnName(key))} IN (SELECT value FROM json_each(?))`;

function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return (
    code === "SQLITE_CONSTRAINT_PRIMARYKEY" ||
    code === "SQLITE_CONSTRAINT_UNIQUE" ||
    // The guard of the events looks for what is there before the index does (ddl.ts).
    code === "SQLITE_CONSTRAINT_TRIGGER"
  );
}

export type Writer = {
  /** At the beginning of each transaction that applies units. */
  begin(): void;
  /** Applies one unit inside the transaction that is open on the connection; gives the first sequence. */
  apply(unit: Unit): bigint;
  /** When all units of the transaction are applied. */
  end(): void;
  /** Applies one row change whose sequences are known; `rename` directs a rebuild to its own tables. */
  change(change: RowChange, firstSequence: bigint, rename?: (table: string) => string): void;
};

/** The statements of the one writing connection, prepared once each. */
export function createWriter(connection: SqliteDatabase.Database): Writer {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = connection.prepare(sql);
      // NOTE: better-sqlite3 makes row objects by generating code, which the process forbids: read single columns.
      if (statement.reader) statement.pluck();
      statements.set(sql, statement);
    }
    return statement;
  };

  // By table and shape of the change: the text of a statement is put together once, not once a row.
  const plans = new WeakMap<AnyTable, Map<string, Plan>>();
  function planOf(row: RowChange, name: string): Plan {
    let ofTable = plans.get(row.table);
    if (ofTable === undefined) plans.set(row.table, (ofTable = new Map()));
    const shape = shapeOf(row, name);
    let plan = ofTable.get(shape);
    if (plan === undefined) {
      const columns = "values" in row ? encodersOf(row.table, row.values) : [];
      const where = "where" in row ? encodersOf(row.table, row.where) : [];
      plan = { statement: prepared(statementText(row, name)), columns, where };
      ofTable.set(shape, plan);
    }
    return plan;
  }

  function change(row: RowChange, firstSequence: bigint, rename?: (table: string) => string): void {
    const { name } = row.table;
    const { statement, columns, where } = planOf(row, rename === undefined ? name : rename(name));
    const values: unknown[] = [];
    if ("values" in row) bind(values, columns, row.values, firstSequence);
    if ("where" in row) bind(values, where, row.where, firstSequence);
    statement.run(values);
  }

  function check(unit: Unit): void {
    for (const expected of unit.expect) {
      if (expected.kind === "stream") {
        const version = prepared(
          // Parameters in subqueries: see `steady` in driver.ts.
          `SELECT coalesce(max(aggregate_version), 0) AS version FROM ${events.name}
           WHERE instance_id = (SELECT ?) AND aggregate_type = (SELECT ?) AND aggregate_id = (SELECT ?)`,
        ).get(unit.instanceId, expected.aggregateType, expected.aggregateId);
        if (BigInt(Number(version)) !== expected.version) {
          throw new Conflict(`${expected.aggregateType} ${expected.aggregateId} has moved on`);
        }
      } else {
        const rows = prepared(
          `SELECT count(*) AS rows FROM ${quote(expected.table.name)} WHERE ${allMeet(expected.where)}`,
        ).get(conditionValues(expected.table, expected.where));
        if (rows !== expected.count) {
          throw new Conflict(`rows of ${expected.table.name} have changed`);
        }
      }
    }
  }

  function takeClaims(unit: Unit): void {
    for (const claim of unit.claims) {
      const holder = [claim.scope, claim.holderType, claim.holderId, claim.kind];
      if (claim.op !== "add") {
        const one = claim.op === "release" && claim.value !== undefined;
        prepared(
          `DELETE FROM ${claims.name} WHERE scope = ? AND holder_type = ? AND holder_id = ? AND kind = ?
           ${one ? "AND value = ?" : ""}`,
        ).run(...holder, ...(one ? [claim.value] : []));
      }
      if (claim.op === "release") continue;
      try {
        prepared(
          `INSERT INTO ${claims.name} (scope, kind, value, holder_type, holder_id) VALUES (?, ?, ?, ?, ?)`,
        ).run(claim.scope, claim.kind, claim.value, claim.holderType, claim.holderId);
      } catch (error) {
        throw isUniqueViolation(error) ? new ClaimTaken(claim.kind) : error;
      }
    }
  }

  // What this transaction draws from each sequence: written once at its end, however many units there are.
  const drawn = new Map<string, { last: bigint; changedAt: number }>();
  function headOf(instanceId: string): { last: bigint; changedAt: number } {
    let head = drawn.get(instanceId);
    if (head === undefined) {
      const last = prepared(`SELECT last FROM ${sequences.name} WHERE instance_id = ?`);
      head = { last: BigInt(Number(last.get(instanceId) ?? 0)), changedAt: 0 };
      drawn.set(instanceId, head);
    }
    return head;
  }

  function end(): void {
    for (const [instanceId, { last, changedAt }] of drawn) {
      if (changedAt === 0) continue;
      prepared(
        `INSERT INTO ${sequences.name} (instance_id, last, changed_at) VALUES (?, ?, ?)
         ON CONFLICT (instance_id) DO UPDATE SET last = excluded.last,
           changed_at = max(changed_at, excluded.changed_at)`,
      ).run(instanceId, last, changedAt);
    }
  }

  function apply(unit: Unit): bigint {
    check(unit);
    takeClaims(unit);
    const head = unit.events.length === 0 ? undefined : headOf(unit.instanceId);
    const first = head === undefined ? 0n : head.last + 1n;
    unit.events.forEach((event, index) => {
      const row = { instanceId: unit.instanceId, sequence: first + BigInt(index), ...event };
      try {
        change(insertRow(events, row), first);
      } catch (error) {
        throw isUniqueViolation(error)
          ? new Conflict(`${event.aggregateType} ${event.aggregateId} has moved on`)
          : error;
      }
    });
    for (const row of unit.changes) {
      try {
        change(row, first);
      } catch (error) {
        throw isUniqueViolation(error)
          ? new Conflict(`a row of ${row.table.name} is there already`)
          : error;
      }
    }
    // Only now: the numbers of a unit that failed are the next one's.
    if (head !== undefined) {
      head.last += BigInt(unit.events.length);
      head.changedAt = Math.max(head.changedAt, unit.events[0]?.createdAt.getTime() ?? 0);
    }
    return first;
  }

  return { begin: () => drawn.clear(), apply, end, change };
}

type Encode = (value: unknown) => unknown;
type Encoders = readonly (readonly [key: string, encode: Encode])[];
type Plan = { statement: Statement; columns: Encoders; where: Encoders };
type Part = Record<string, unknown>;

function encodersOf(table: AnyTable, part: Part): Encoders {
  return Object.keys(part).map((key) => {
    const column: Mappable | undefined = Reflect.get(table.sqlite, key);
    if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
    return [key, (value: unknown) => column.mapToDriverValue(value)];
  });
}

function bind(values: unknown[], encoders: Encoders, part: Part, firstSequence: bigint): unknown[] {
  for (const [key, encode] of encoders) {
    const value = part[key];
    if (value === null || value === undefined) values.push(null);
    else if (value instanceof PendingSequence) values.push(firstSequence + BigInt(value.index));
    else values.push(encode(value));
  }
  return values;
}

/** What a condition is bound to; a list as JSON. */
function conditionValues(table: AnyTable, where: Part): unknown[] {
  const lists = Object.entries(where).map(([key, value]) => [
    key,
    Array.isArray(value) ? JSON.stringify(value) : value,
  ]);
  const plain: Part = Object.fromEntries(lists);
  return bind([], encodersOf(table, plain), plain, 0n);
}

/** Two changes of a table with equal shapes differ in nothing but values. */
function shapeOf(row: RowChange, name: string): string {
  let shape = `${row.op} ${name}`;
  if ("values" in row) for (const key in row.values) shape += ` ${key}`;
  if ("keep" in row) shape += ` keep ${row.keep.join(" ")}`;
  if ("where" in row) for (const key in row.where) shape += ` where ${key}`;
  return shape;
}

function statementText(row: RowChange, table: string): string {
  const name = quote(table);
  if (row.op === "delete") return `DELETE FROM ${name} WHERE ${allEqual(row.where)}`;
  const keys = Object.keys(row.values);
  if (row.op === "update") {
    return `UPDATE ${name} SET ${keys.map(equals).join(", ")} WHERE ${allEqual(row.where)}`;
  }
  const columns = keys.map((key) => quote(columnName(key)));
  const insert = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  if (row.op === "insert") return insert;
  const target = row.table.key.map((key) => quote(columnName(key))).join(", ");
  const fixed = [...row.table.key, ...row.keep];
  const rest = columns.filter((_, at) => !fixed.includes(keys[at] ?? ""));
  const set = rest.map((column) => `${column} = excluded.${column}`).join(", ");
  return `${insert} ON CONFLICT (${target}) ${rest.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${set}`}`;
}

const allEqual = (where: Part): string => Object.keys(where).map(equals).join(" AND ");

const allMeet = (where: Part): string =>
  Object.keys(where)
    .map((key) => (Array.isArray(where[key]) ? isAnyOf(key) : equals(key)))
    .join(" AND ");
