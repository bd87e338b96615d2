import { ClaimTaken, type Committed, Conflict, type Unit } from "../database.ts";
import { PendingSequence, type RowChange } from "../row-change.ts";
import { type AnyTable, type ColumnKind, columnName } from "../table.ts";
import { claimTakenState, conflictStates } from "./append-function.ts";
import { partsOf } from "../cache-versions.ts";
import { quote } from "./ddl.ts";
import { grouped } from "./groups.ts";

type Values = Record<string, unknown>;
type Rename = (table: string) => string;

/** What the append function is given (append-function.ts): the statements, and the work as JSON. */
export type Batch = { shapes: string[]; work: string };
/** The units of one instance, in the order of their arrival. */
export type Part = { instanceId: string; units: Unit[] };

const same: Rename = (table) => table;

/** Row changes as statements over `$1` values, `$2` where, `$3` the first sequence; equal statements stand once. */
export class Shapes {
  readonly texts: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #rename: Rename;

  constructor(rename = same) {
    this.#rename = rename;
  }

  /** The number of the statement, from 1 as arrays of PostgreSQL count. */
  #indexOf(text: string): number {
    let index = this.#indexes.get(text);
    if (index === undefined) this.#indexes.set(text, (index = this.texts.push(text)));
    return index;
  }

  /** Changes that do to the tables what these do one after the other (groups.ts), a statement for each group. */
  changes(rows: readonly RowChange[]): unknown[][] {
    return grouped(rows).map(([first, ...others]) =>
      others.length === 0 ? this.change(first) : this.#together([first, ...others]),
    );
  }

  change(row: RowChange): unknown[] {
    const { table } = row;
    const where = "where" in row ? plain(table, row.where) : null;
    if (row.op === "delete") {
      const text = `DELETE FROM ${this.#name(table)} WHERE ${conditions(table, row.where)}`;
      return [this.#indexOf(text), null, where];
    }
    const values = plain(table, row.values);
    if (row.op === "update") {
      const text = `UPDATE ${this.#name(table)} SET ${assignments(row, "$1")} WHERE ${conditions(table, row.where)}`;
      return [this.#indexOf(text), values, where];
    }
    return [this.#indexOf(this.#insertion(row, "$1", "")), values, null];
  }

  /** Changes of one shape in one statement: a row of `$1` holds the values of one, and then what it is about. */
  #together(rows: readonly [RowChange, ...RowChange[]]): unknown[] {
    const [first] = rows;
    const { table } = first;
    const each = "jsonb_array_elements($1) AS r(v)";
    const values = rows.map((row) => [
      ...("values" in row ? plain(table, row.values) : []),
      ...("where" in row ? plain(table, row.where) : []),
    ]);
    if (first.op === "insert" || first.op === "put") {
      return [this.#indexOf(this.#insertion(first, "r.v", ` FROM ${each}`)), values, null];
    }
    const from = first.op === "update" ? Object.keys(first.values).length : 0;
    const where = conditions(table, first.where, { of: "t.", from: "r.v", at: from });
    const name = `${this.#name(table)} AS t`;
    const text =
      first.op === "update"
        ? `UPDATE ${name} SET ${assignments(first, "r.v")} FROM ${each} WHERE ${where}`
        : `DELETE FROM ${name} USING ${each} WHERE ${where}`;
    return [this.#indexOf(text), values, null];
  }

  #insertion(row: RowChange & { op: "insert" | "put" }, from: string, rows: string): string {
    const { table } = row;
    const keys = Object.keys(row.values);
    const columns = keys.map((key) => quote(columnName(key)));
    const inputs = keys.map((key, at) => input(table, key, row.values[key], from, at));
    const insert = `INSERT INTO ${this.#name(table)} (${columns.join(", ")}) SELECT ${inputs.join(", ")}${rows}`;
    if (row.op === "insert") return insert;
    const target = table.key.map((key) => quote(columnName(key))).join(", ");
    const fixed = [...table.key, ...row.keep];
    const rest = columns.filter((_, at) => !fixed.includes(keys[at] ?? ""));
    const set = rest.map((column) => `${column} = excluded.${column}`).join(", ");
    const resolution = rest.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${set}`;
    // Without a condition the parser takes ON CONFLICT for a part of a join.
    return `${insert}${rows === "" ? "" : " WHERE true"} ON CONFLICT (${target}) ${resolution}`;
  }

  #name = ({ name }: AnyTable): string => quote(this.#rename(name));

  count(table: AnyTable, where: Values): number {
    const rows = `FROM ${quote(table.name)} WHERE ${conditions(table, where)}`;
    // Units of one instance follow one another; rows of no instance must be held until the commit.
    return this.#indexOf(
      "instanceId" in table.columns
        ? `SELECT count(*) ${rows}`
        : `SELECT count(*) FROM (SELECT 1 ${rows} FOR SHARE) AS held`,
    );
  }
}

/** @param parts ordered by instance, so that two batches never wait for each other */
export function encodeBatch(parts: Part[]): Batch {
  const shapes = new Shapes();
  const work = parts.map(({ instanceId, units }) => [
    instanceId,
    units.map((unit) => encodeUnit(unit, shapes)),
    partsOf(units) ?? null,
  ]);
  return { shapes: shapes.texts, work: JSON.stringify(work) };
}

function encodeUnit({ expect, claims, events, changes }: Unit, shapes: Shapes) {
  return {
    x: expect.map((expected) =>
      expected.kind === "stream"
        ? [
            "s",
            expected.aggregateType,
            expected.aggregateId,
            Number(expected.version),
            `${expected.aggregateType} ${expected.aggregateId} has moved on`,
          ]
        : [
            "r",
            shapes.count(expected.table, expected.where),
            plain(expected.table, expected.where),
            expected.count,
            `rows of ${expected.table.name} have changed`,
          ],
    ),
    c: claims.map(({ op, scope, kind, value = null, holderType, holderId }) => [
      op,
      scope,
      kind,
      value,
      holderType,
      holderId,
    ]),
    e: events.map((event) => [
      event.aggregateType,
      event.aggregateId,
      Number(event.aggregateVersion),
      event.type,
      event.revision,
      event.payload ?? null,
      event.ownerType,
      event.ownerId,
      event.editorId,
      event.service,
      event.clientId,
      event.requestId,
      event.createdAt.getTime(),
      event.originId,
    ]),
    t: events[0]?.createdAt.getTime() ?? 0,
    r: shapes.changes(changes),
  };
}

const kindOf = (table: AnyTable, key: string): ColumnKind => {
  const column = table.columns[key];
  if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
  return column.kind;
};

/** How a column takes its value out of a JSON array. */
function input(table: AnyTable, key: string, value: unknown, from: string, at: number): string {
  const text = `${from}->>${at}`;
  if (value instanceof PendingSequence) return `$3 + (${text})::bigint`;
  switch (kindOf(table, key)) {
    case "text":
      return text;
    case "int":
      return `(${text})::integer`;
    case "int64":
    case "instant":
      return `(${text})::bigint`;
    case "bool":
      return `(${text})::boolean`;
    case "bytes":
      return `decode(${text}, 'base64')`;
    case "json":
      return `NULLIF(${from}->${at}, 'null')`;
  }
}

/** @param inside where the values stand, and how the columns are told from them */
const conditions = (
  table: AnyTable,
  where: Values,
  { of, from, at }: { of: string; from: string; at: number } = { of: "", from: "$2", at: 0 },
): string =>
  Object.keys(where)
    .map((key, nth) => {
      const column = `${of}${quote(columnName(key))}`;
      if (Array.isArray(where[key])) {
        return `${column} IN (SELECT jsonb_array_elements_text(${from}->${at + nth}))`;
      }
      return `${column} = ${input(table, key, where[key], from, at + nth)}`;
    })
    .join(" AND ");

const assignments = ({ table, values }: RowChange & { op: "update" }, from: string): string =>
  Object.keys(values)
    .map((key, at) => `${quote(columnName(key))} = ${input(table, key, values[key], from, at)}`)
    .join(", ");

const plain = (table: AnyTable, values: Values): unknown[] =>
  Object.entries(values).map(([key, value]) => toJson(value, kindOf(table, key)));

function toJson(value: unknown, kind: ColumnKind): unknown {
  if (value === undefined || value === null) return null;
  if (value instanceof PendingSequence) return value.index;
  if (kind === "json") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return value;
}

type Refusal = [state: string, message: string, table: string];
export type UnitResult = number | Refusal;
/** For each part: how many units the instance had seen before, and what became of each of ours. */
export type BatchResult = [before: number, results: UnitResult[]][];

/** What became of a unit: what its caller is told, or gets thrown. */
export function outcomeOf(result: UnitResult): { committed: Committed } | { error: Error } {
  if (typeof result === "number") return { committed: { firstSequence: BigInt(result) } };
  const [state, message, table] = result;
  if (state === claimTakenState) return { error: new ClaimTaken(message) };
  if (conflictStates.includes(state)) {
    return { error: new Conflict(table === "" ? message : `a row of ${table} is there already`) };
  }
  return { error: new Error(`the store refuses a unit (${state}): ${message}`) };
}
