import { ClaimTaken, type Committed, Conflict, type Unit } from "../database.ts";
import { PendingSequence, type RowChange } from "../row-change.ts";
import { type AnyTable, type ColumnKind, columnName } from "../table.ts";
import { claimTakenState, conflictStates } from "./append-function.ts";
import { quote } from "./ddl.ts";

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
  readonly #places = new Map<string, number>();
  readonly #rename: Rename;

  constructor(rename = same) {
    this.#rename = rename;
  }

  /** The number of the statement, from 1 as arrays of PostgreSQL count. */
  #place(text: string): number {
    let place = this.#places.get(text);
    if (place === undefined) this.#places.set(text, (place = this.texts.push(text)));
    return place;
  }

  change(row: RowChange): unknown[] {
    const { table } = row;
    const name = quote(this.#rename(table.name));
    if (row.op === "delete") {
      const text = `DELETE FROM ${name} WHERE ${conditions(table, row.where)}`;
      return [this.#place(text), null, plain(table, row.where)];
    }
    const keys = Object.keys(row.values);
    const columns = keys.map((key) => quote(columnName(key)));
    const inputs = keys.map((key, at) => input(table, key, row.values[key], "$1", at));
    const values = plain(table, row.values);
    if (row.op === "update") {
      const set = columns.map((column, at) => `${column} = ${inputs[at]}`).join(", ");
      const text = `UPDATE ${name} SET ${set} WHERE ${conditions(table, row.where)}`;
      return [this.#place(text), values, plain(table, row.where)];
    }
    const insert = `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${inputs.join(", ")})`;
    if (row.op === "insert") return [this.#place(insert), values, null];
    const target = table.key.map((key) => quote(columnName(key))).join(", ");
    const fixed = [...table.key, ...row.keep];
    const rest = columns.filter((_, at) => !fixed.includes(keys[at] ?? ""));
    const set = rest.map((column) => `${column} = excluded.${column}`).join(", ");
    const resolution = rest.length === 0 ? "DO NOTHING" : `DO UPDATE SET ${set}`;
    return [this.#place(`${insert} ON CONFLICT (${target}) ${resolution}`), values, null];
  }

  count(table: AnyTable, where: Values): number {
    const rows = `FROM ${quote(table.name)} WHERE ${conditions(table, where)}`;
    // Units of one instance follow one another; rows of no instance must be held until the commit.
    return this.#place(
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
  ]);
  return { shapes: shapes.texts, work: JSON.stringify(work) };
}

function encodeUnit({ expect, claims, events, changes }: Unit, shapes: Shapes) {
  return {
    x: expect.map((expected) =>
      expected.kind === "stream"
        ? [
            ...["s", expected.aggregateType, expected.aggregateId, Number(expected.version)],
            `${expected.aggregateType} ${expected.aggregateId} has moved on`,
          ]
        : [
            ...["r", shapes.count(expected.table, expected.where)],
            ...[plain(expected.table, expected.where), expected.count],
            `rows of ${expected.table.name} have changed`,
          ],
    ),
    c: claims.map(({ op, scope, kind, value = null, holderType, holderId }) => [
      ...[op, scope, kind, value, holderType, holderId],
    ]),
    e: events.map((event) => [
      ...[event.aggregateType, event.aggregateId, Number(event.aggregateVersion), event.type],
      ...[event.revision, event.payload ?? null, event.ownerType, event.ownerId, event.editorId],
      ...[event.service, event.clientId, event.requestId, event.createdAt.getTime()],
    ]),
    t: events[0]?.createdAt.getTime() ?? 0,
    r: changes.map((row) => shapes.change(row)),
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

const conditions = (table: AnyTable, where: Values): string =>
  Object.keys(where)
    .map((key, at) => `${quote(columnName(key))} = ${input(table, key, where[key], "$2", at)}`)
    .join(" AND ");

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

/** What became of a unit: what its caller is told, or what he gets thrown. */
export function outcomeOf(result: UnitResult): { committed: Committed } | { error: Error } {
  if (typeof result === "number") return { committed: { firstSequence: BigInt(result) } };
  const [state, message, table] = result;
  if (state === claimTakenState) return { error: new ClaimTaken(message) };
  if (conflictStates.includes(state)) {
    return { error: new Conflict(table === "" ? message : `a row of ${table} is there already`) };
  }
  return { error: new Error(`the store refuses a unit (${state}): ${message}`) };
}
