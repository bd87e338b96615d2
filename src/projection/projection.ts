import {
  type AnyEvents,
  definition,
  eventTypes,
  type NewEvent,
  type Recorded,
} from "../eventstore/event.ts";
import type { RowChange } from "../storage/row-change.ts";
import type { AnyTable } from "../storage/table.ts";

type Reducers<E extends NewEvent> = {
  [T in E["type"]]?: (event: Recorded<Extract<E, { type: T }>>) => RowChange[];
};

type Reducer = (event: Recorded) => RowChange[];

/** What a projection does on events, by their types. */
export type Reactions = [string, Reducer][];

/**
 * Tables that follow from events alone. The changes are applied in the transaction that writes the event, and the same
 * function rebuilds the tables from the log. A projection is the only writer of its tables.
 */
export type Projection = {
  name: string;
  tables: AnyTable[];
  reducers: ReadonlyMap<string, Reducer>;
};

/** What a projection does on the events of one set; events it does not name leave it as it is. */
export function on<E extends NewEvent>(events: AnyEvents<E>, reducers: Reducers<E>): Reactions {
  const known = events[definition].rules;
  return Object.entries(reducers).map(([type, reduce]) => {
    if (!known.has(type))
      throw new Error(`${type} is no event of ${events[definition].aggregateType}`);
    // The key of a reducer is the type of the event it takes, so the pair is sound.
    return [type, reduce as Reducer];
  });
}

/** One reducer for all events of a set: for those that a projection does not name after it. */
export const onEvery = <E extends NewEvent>(events: AnyEvents<E>, reduce: Reducer) =>
  Object.fromEntries(eventTypes(events).map((type) => [type, reduce]));

export const projection = (
  name: string,
  tables: AnyTable[],
  ...reactions: Reactions[]
): Projection => ({ name, tables, reducers: new Map(reactions.flat()) });

/**
 * What an event does to rows that refer to its object. While the unit that makes the object is written there are none, and each of the
 * statements would be run for nothing. From the log it is done for every event.
 */
export const toReferring =
  <E extends Recorded>(reduce: (event: E) => RowChange[]) =>
  (event: E): RowChange[] =>
    event.isOfNew === true ? [] : reduce(event);

/** All row changes of an event, over all projections, in the order of their registration. */
export function reduceWith(projections: Projection[]): (event: Recorded) => RowChange[] {
  const byType = new Map<string, Reducer[]>();
  for (const { reducers } of projections) {
    for (const [type, reduce] of reducers) {
      byType.set(type, [...(byType.get(type) ?? []), reduce]);
    }
  }
  return (event) => byType.get(event.type)?.flatMap((reduce) => reduce(event)) ?? [];
}

/** What every row of an object keeps of its last event. */
export const touch = ({ sequence, createdAt }: Pick<Recorded, "sequence" | "createdAt">) => ({
  sequence,
  changeDate: createdAt,
});

/** What every row of an object keeps of its first event. */
export const begin = ({ instanceId, aggregateId, sequence, createdAt }: Recorded) => ({
  instanceId,
  id: aggregateId,
  sequence,
  creationDate: createdAt,
  changeDate: createdAt,
});
