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
