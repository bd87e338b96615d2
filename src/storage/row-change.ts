import type { Row, Table } from "./table.ts";

/**
 * The sequence of an event that is about to be written: it is drawn inside the transaction, so until then only its
 * place within the unit is known. Drivers replace it by the number.
 */
export class PendingSequence {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

export type SequenceValue = bigint | PendingSequence;

type Writable<T> = { [K in keyof T]: T[K] extends bigint ? SequenceValue : T[K] };
type Values = Record<string, unknown>;

/** A change of rows as data: what a projection, a secret or a short-lived state asks of the unit of work. */
export type RowChange =
  | { op: "insert"; table: Table; values: Values }
  | { op: "put"; table: Table; values: Values; keep: readonly string[] }
  | { op: "update"; table: Table; where: Values; values: Values }
  | { op: "delete"; table: Table; where: Values };

type Optional<T> = { [K in keyof T as null extends T[K] ? K : never]?: T[K] };
type Required<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] };
export type NewRow<T extends Table> = Writable<Required<Row<T>> & Optional<Row<T>>>;
export type RowPart<T extends Table> = Partial<Writable<Row<T>>>;

export const insertRow = <T extends Table>(table: T, values: NewRow<T>): RowChange => ({
  op: "insert",
  table,
  values,
});

/** Inserts the row, or replaces the one with the same key, of which the columns to keep stay as they are. */
export const putRow = <T extends Table>(
  table: T,
  values: NewRow<T>,
  keep: readonly (keyof Row<T> & string)[] = [],
): RowChange => ({
  op: "put",
  table,
  values,
  keep,
});

/** Changes every row whose columns equal `where`. */
export const updateRows = <T extends Table>(
  table: T,
  where: RowPart<T>,
  values: RowPart<T>,
): RowChange => ({
  op: "update",
  table,
  where,
  values,
});

/** Deletes every row whose columns equal `where`. */
export const deleteRows = <T extends Table>(table: T, where: RowPart<T>): RowChange => ({
  op: "delete",
  table,
  where,
});

/**
 * The changes of one unit with what happens to one row joined: a row that is inserted and then updated is inserted as it is
 * in the end. What is left of them, in their order, does to the tables what all of them did.
 *
 * An update is joined to what made the row, or changed it, when it names the row by its whole key, leaves the key alone and
 * what cached reads go by, and nothing between them touches several rows of the table.
 */
export function joined(changes: RowChange[]): RowChange[] {
  // Only an update is joined to something, and many units have none, or none of most of their tables.
  const updated = new Set<Table>();
  for (const { op, table } of changes) if (op === "update") updated.add(table);
  if (updated.size === 0) return changes;
  const result: RowChange[] = [];
  const indexes = new Map<Table, Map<string, number>>();
  for (const change of changes) {
    const { table } = change;
    if (!updated.has(table)) {
      result.push(change);
      continue;
    }
    let ofTable = indexes.get(table);
    if (ofTable === undefined) indexes.set(table, (ofTable = new Map()));
    const row = rowOf(change);
    if (row === undefined) {
      ofTable.clear();
    } else if (change.op === "update" && changesOnly(change)) {
      const index = ofTable.get(row);
      const before = index === undefined ? undefined : result[index];
      if (index !== undefined && before !== undefined && takes(before, change)) {
        result[index] = { ...before, values: { ...before.values, ...change.values } };
        continue;
      }
      ofTable.set(row, result.length);
    } else if (change.op !== "delete") {
      ofTable.set(row, result.length);
    } else {
      ofTable.delete(row);
    }
    result.push(change);
  }
  return result;
}

type Update = RowChange & { op: "update" };

// What a row keeps when it is put in the place of another, an update after that changes none the less.
const takes = (
  before: RowChange,
  { values }: Update,
): before is Exclude<RowChange, { op: "delete" }> =>
  before.op !== "delete" && !(before.op === "put" && before.keep.some((name) => name in values));

/** Which row a change names by its key; undefined where it may be several. */
function rowOf(change: RowChange): string | undefined {
  const { key } = change.table;
  const by = "where" in change ? change.where : change.values;
  if ("where" in change && Object.keys(by).length !== key.length) return undefined;
  let row = "";
  for (const name of key) {
    const value = by[name];
    // A text says where it ends, so that no two keys join to the same one.
    if (typeof value === "string") row += `${value.length}:${value}`;
    else if (typeof value === "number" || typeof value === "bigint") row += `${value};`;
    else return undefined;
  }
  return row;
}

const changesOnly = ({ table: { key, cachedBy }, values }: Update): boolean =>
  !key.some((name) => name in values) && (cachedBy === undefined || !(cachedBy in values));
