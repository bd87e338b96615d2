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

  // The text of a statement is put together once for all changes of a table that differ in nothing but values.
  const plans = new WeakMap<AnyTable, Plan[]>();
  function planOf(row: RowChange | Check, name: string): Plan {
    const { table, op } = row;
    const { values = nothing, where = nothing, keep = none }: Parts = row;
    let ofTable = plans.get(table);
    if (ofTable === undefined) plans.set(table, (ofTable = []));
    for (const plan of ofTable) {
      const isSame = plan.op === op && plan.name === name && isEqual(plan.keep, keep);
      if (isSame && fits(plan.values, values) && fits(plan.where, where)) return plan;
    }
    const statement = prepared(statementText(row, name));
    const parts = { values: bindingsOf(table, values), where: bindingsOf(table, where) };
    const plan: Plan = { op, name, keep, ...parts, statement };
    ofTable.push(plan);
    return plan;
  }

  function change(row: RowChange, firstSequence: bigint, rename?: (table: string) => string): void {
    const { name } = row.table;
    const plan = planOf(row, rename === undefined ? name : rename(name));
    plan.statement.run(bound(plan, row, firstSequence));
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
        const { table, where } = expected;
        const row: Check = { op: "count", table, where };
        const plan = planOf(row, table.name);
        if (plan.statement.get(bound(plan, row, 0n)) !== expected.count) {
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

type Part = Record<string, unknown>;
type Check = { op: "count"; table: AnyTable; where: Part };
type Parts = { values?: Part; where?: Part; keep?: readonly string[] };
type Binding = { key: string; column: Mappable; isList: boolean };
type Plan = {
  op: (RowChange | Check)["op"];
  name: string;
  keep: readonly string[];
  values: readonly Binding[];
  where: readonly Binding[];
  statement: Statement;
};

const nothing: Part = {};
const none: readonly string[] = [];

function bindingsOf(table: AnyTable, part: Part): Binding[] {
  return Object.keys(part).map((key) => {
    const column: Mappable | undefined = Reflect.get(table.sqlite, key);
    if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
    return { key, column, isList: Array.isArray(part[key]) };
  });
}

const isEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, at) => each === others[at]);

function fits(bindings: readonly Binding[], part: Part): boolean {
  let at = 0;
  for (const key in part) {
    const binding = bindings[at++];
    if (binding?.key !== key || binding.isList !== Array.isArray(part[key])) return false;
  }
  return at === bindings.length;
}

/** What a statement is bound to: the values, then the conditions; a list as JSON. */
function bound({ values, where }: Plan, row: Parts, firstSequence: bigint): unknown[] {
  const all: unknown[] = [];
  for (const each of values) all.push(encoded(each, row.values?.[each.key], firstSequence));
  for (const each of where) all.push(encoded(each, row.where?.[each.key], firstSequence));
  return all;
}

function encoded({ column, isList }: Binding, value: unknown, firstSequence: bigint): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof PendingSequence) return firstSequence + BigInt(value.index);
  return isList ? JSON.stringify(value) : column.mapToDriverValue(value);
}

function statementText(row: RowChange | Check, table: string): string {
  const name = quote(table);
  if (row.op === "count") return `SELECT count(*) FROM ${name} WHERE ${allMeet(row.where)}`;
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
