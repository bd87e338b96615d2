import assert from "node:assert/strict";
import { DomainError, type Kind } from "../../src/errors.ts";
import type { Aggregate } from "../../src/eventstore/aggregate.ts";
import type { NewEvent } from "../../src/eventstore/event.ts";

type Outcome<E> = { events: E[] } | { error: unknown };

/** What became of a decision; one of these ends each specification. */
export type Then<E> = {
  /** It recorded these events, in this order, and nothing else. */
  then(...expected: E[]): void;
  thenNothing(): void;
  /** It refused with this code and reason; `metadata` must be among the facts it gives. */
  thenRefused(kind: Kind, reason: string, metadata?: Record<string, string>): void;
};

/**
 * The specification of a decision: what has happened, what is asked, what follows.
 *
 * The decision sees the fold of the given events, as it would when loaded from the store.
 */
export function given<S, E extends NewEvent>(
  aggregate: Aggregate<S, E>,
  ...happened: NoInfer<E>[]
) {
  const state = happened.reduce(aggregate.evolve, aggregate.initial);
  return {
    when(decide: (state: S) => E[]): Then<E> {
      const outcome = attempt(() => decide(state));
      return {
        // oxlint-disable-next-line unicorn/no-thenable -- a specification that ends before its "then" fails when awaited.
        then: (...expected) => assert.deepEqual(recorded(outcome), expected),
        thenNothing: () => assert.deepEqual(recorded(outcome), []),
        thenRefused: (kind, reason, metadata = {}) => refused(outcome, kind, reason, metadata),
      };
    },
    /** What the events fold to. */
    thenState: (expected: S) => assert.deepEqual(state, expected),
  };
}

function attempt<E>(decide: () => E[]): Outcome<E> {
  try {
    return { events: decide() };
  } catch (error) {
    return { error };
  }
}

function recorded<E>(outcome: Outcome<E>): E[] {
  if ("error" in outcome) throw outcome.error;
  return outcome.events;
}

function refused<E extends NewEvent>(
  outcome: Outcome<E>,
  kind: Kind,
  reason: string,
  metadata: Record<string, string>,
): void {
  if ("events" in outcome) {
    assert.fail(`not refused; recorded ${outcome.events.map(({ type }) => type).join(", ")}`);
  }
  const { error } = outcome;
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual({ kind: error.kind, reason: error.reason }, { kind, reason });
  for (const [name, value] of Object.entries(metadata)) assert.equal(error.metadata[name], value);
}
