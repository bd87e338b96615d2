import { type AnyEvents, definition, type NewEvent } from "./event.ts";

/**
 * A kind of object whose state is the fold of its events.
 *
 * `evolve` is pure and total: it takes every event of the aggregate, also ones of older shapes, and never throws.
 */
export type Aggregate<S, E extends NewEvent> = {
  type: string;
  initial: S;
  evolve: (state: S, event: E) => S;
};

export const aggregate = <E extends NewEvent, S>(
  events: AnyEvents<E>,
  initial: S,
  evolve: (state: S, event: E) => S,
): Aggregate<S, E> => ({ type: events[definition].aggregateType, initial, evolve });

/** What a patch gives: undefined means "not in the patch". */
export type Patch<T> = { [K in keyof T]?: T[K] | undefined };

/** The fields of a patch that differ from what is there. */
export function changedFields<T extends object>(current: T, patch: Patch<T>): Partial<T> {
  const changed: Partial<T> = {};
  for (const key of Object.keys(patch) as (keyof T)[]) {
    const value = patch[key];
    if (value !== undefined && !sameValue(current[key], value)) changed[key] = value;
  }
  return changed;
}

const sameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
