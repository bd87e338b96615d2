import type SqliteDatabase from "better-sqlite3";
import { ClaimTaken, Conflict, type Unit } from "../database.ts";
import { claims, events, sequences } from "../kernel-tables.ts";
import { insertRow, PendingSequence, type RowChange } from "../row-change.ts";
import { type AnyTable, columnName } from "../table.ts";

type Statement = SqliteDatabase.Statement;
type Mappable = { mapToDriverValue(value: unknown): unknown };

const quote = (name: string): string => `"${name}"`;
const equals = (key: string): string => `${quote(columnName(key))} = ?`;

function isUniqueViolation(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "SQLITE_CONSTRAINT_UNIQUE";
}

export type Writer = {
  /** Applies one unit inside the transaction that is open on the connection; gives the first sequence. */
  apply(unit: Unit): bigint;
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

  const bound = (table: AnyTable, key: string, value: unknown, firstSequence: bigint): unknown => {
    if (value instanceof PendingSequence) return firstSequence + BigInt(value.index);
    if (value === null || value === undefined) return null;
    const column: Mappable | undefined = Reflect.get(table.sqlite, key);
    if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
    return column.mapToDriverValue(value);
  };

  const same = (name: string) => name;

  function change(row: RowChange, firstSequence: bigint, rename = same): void {
    const { table } = row;
    const name = quote(rename(table.name));
    const bind = (part: Record<string, unknown>) =>
      Object.entries(part).map(([key, value]) => bound(table, key, value, firstSequence));
    if (row.op === "delete") {
      const where = Object.keys(row.where).map(equals).join(" AND ");
      prepared(`DELETE FROM ${name} WHERE ${where}`).run(...bind(row.where));
      return;
    }
    const keys = Object.keys(row.values);
    if (row.op === "update") {
      const where = Object.keys(row.where).map(equals).join(" AND ");
      prepared(`UPDATE ${name} SET ${keys.map(equals).join(", ")} WHERE ${where}`).run(
        ...bind(row.values),
        ...bind(row.where),
      );
      return;
    }
    const columns = keys.map((key) => quote(columnName(key)));
    const insert = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    if (row.op === "insert") {
      prepared(insert).run(...bind(row.values));
      return;
    }
    const target = table.key.map((key) => quote(columnName(key))).join(", ");
    const fixed = [...table.key, ...row.keep];
    const rest = columns.filter((_, at) => !fixed.includes(keys[at] ?? ""));
    const set = rest.map((column) => `${column} = excluded.${column}`).join(", ");
    const resolution = rest.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${set}`;
    prepared(`${insert} ON CONFLICT (${target}) ${resolution}`).run(...bind(row.values));
  }

  function check(unit: Unit): void {
    for (const expected of unit.expect) {
      if (expected.kind === "stream") {
        const version = prepared(
          `SELECT coalesce(max(aggregate_version), 0) AS version FROM ${events.name}
           WHERE instance_id = ? AND aggregate_type = ? AND aggregate_id = ?`,
        ).get(unit.instanceId, expected.aggregateType, expected.aggregateId);
        if (BigInt(Number(version)) !== expected.version) {
          throw new Conflict(`${expected.aggregateType} ${expected.aggregateId} has moved on`);
        }
      } else {
        const where = Object.keys(expected.where).map(equals).join(" AND ");
        const rows = prepared(
          `SELECT count(*) AS rows FROM ${quote(expected.table.name)} WHERE ${where}`,
        ).get(
          ...Object.entries(expected.where).map(([key, v]) => bound(expected.table, key, v, 0n)),
        );
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

  function draw(unit: Unit): bigint {
    const at = unit.events[0]?.createdAt.getTime();
    const last = prepared(
      `INSERT INTO ${sequences.name} (instance_id, last, changed_at) VALUES (?, ?, ?)
       ON CONFLICT (instance_id) DO UPDATE SET last = last + excluded.last,
         changed_at = max(changed_at, excluded.changed_at)
       RETURNING last`,
    ).get(unit.instanceId, unit.events.length, at);
    return BigInt(Number(last)) - BigInt(unit.events.length) + 1n;
  }

  function apply(unit: Unit): bigint {
    check(unit);
    takeClaims(unit);
    const first = unit.events.length === 0 ? 0n : draw(unit);
    unit.events.forEach((event, index) => {
      const row = { instanceId: unit.instanceId, sequence: new PendingSequence(index), ...event };
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
    return first;
  }

  return { apply, change };
}
