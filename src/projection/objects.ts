import type { Recorded } from "../eventstore/event.ts";
import { caseFold } from "../storage/case-fold.ts";
import {
  deleteRows,
  insertRow,
  type NewRow,
  type RowChange,
  type RowPart,
  updateRows,
} from "../storage/row-change.ts";
import {
  type AnyDefinition,
  instant,
  int64,
  table,
  type Table,
  type TableOptions,
  text,
} from "../storage/table.ts";
import { begin, touch } from "./projection.ts";

const before = { instanceId: text(), id: text() };
const behind = { sequence: int64(), creationDate: instant(), changeDate: instant() };

/** A table of objects: the columns that the row of each has stand around its own. */
export const objectTable = <C extends Record<string, AnyDefinition>>(
  name: string,
  columns: C,
  options: Omit<TableOptions<typeof before & C & typeof behind>, "key">,
) =>
  table<typeof before & C & typeof behind>(
    name,
    { ...before, ...columns, ...behind },
    { key: ["instanceId", "id"], ...options },
  );

type OfEvent = keyof ReturnType<typeof begin> | `${string}Folded`;

/**
 * What an event does to the row of its object. Beside a text that has a column for it stands its fold.
 *
 * @param idOf the id of the object, where that is not the aggregate
 */
export function objectRows<T extends Table, E extends Recorded = Recorded>(
  of: T,
  idOf: (event: E) => string = ({ aggregateId }) => aggregateId,
) {
  const names = Object.keys(of.columns).filter((name) => `${name}Folded` in of.columns);
  const folds = (values: object) =>
    names.flatMap((name) => {
      const value: unknown = Reflect.get(values, name);
      if (value === null) return [[`${name}Folded`, null]];
      return typeof value === "string" ? [[`${name}Folded`, caseFold(value)]] : [];
    });
  const withFolds = (values: object) => ({ ...values, ...Object.fromEntries(folds(values)) });
  const rowOf = (event: E) => ({ instanceId: event.instanceId, id: idOf(event) }) as RowPart<T>;
  return {
    rowOf,
    add: (event: E, values: Omit<NewRow<T>, OfEvent>): RowChange[] => [
      // What the type leaves out is what the event and the folds give.
      insertRow(of, { ...begin(event), ...rowOf(event), ...withFolds(values) } as NewRow<T>),
    ],
    change: (event: E, values: Omit<RowPart<T>, OfEvent> = {} as RowPart<T>): RowChange[] => [
      updateRows(of, rowOf(event), { ...withFolds(values), ...touch(event) } as RowPart<T>),
    ],
    remove: (event: E): RowChange[] => [deleteRows(of, rowOf(event))],
  };
}
