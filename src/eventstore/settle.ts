import type { Recording } from "./assemble.ts";
import { withoutExpectation } from "./expected-sequence.ts";
import type { Transaction, WriteContext } from "./transaction.ts";

/** An event of a unit, and the object that it happened to; `isOfNew` where the unit makes that object. */
export type Happened = { type: string; aggregateId: string; payload: unknown; isOfNew: boolean };

/**
 * What a slice does in the unit in which something happens to an object of another: what goes with it, or follows from it.
 * It runs once the decision has been taken, whoever took it, and again for what reactions record.
 */
export type Reaction = {
  to: readonly string[];
  react(tx: Transaction, happened: readonly Happened[]): Promise<void>;
  /**
   * Called before a unit that will record such an event on an object with very many others that go with it: takes most of
   * them away, in units of its own. Whoever is stopped in between can begin again.
   */
  ahead?(at: WriteContext, aggregateId: string): Promise<void>;
};

/**
 * What holds after every unit that records one of these events, whoever records it: it looks at what the unit makes of the
 * objects, and refuses the whole unit by throwing.
 */
export type Invariant = {
  after: readonly string[];
  hold(tx: Transaction, at: WriteContext, happened: readonly Happened[]): Promise<void>;
};

/** What the slices have said of each type of event. */
export type Rules = ReturnType<typeof createRules>;

/** @param known every type of event that there is: a rule for another would never count */
export function createRules(known: readonly string[]) {
  const reactions = new Map<string, Reaction[]>();
  const invariants = new Map<string, Invariant[]>();
  const add = <R>(to: Map<string, R[]>, types: readonly string[], rule: R) => {
    for (const type of types) {
      if (!known.includes(type)) throw new Error(`a rule is for ${type}, which is no event`);
      to.set(type, [...(to.get(type) ?? []), rule]);
    }
  };

  /** Judges what a unit has recorded so far by the invariants. */
  async function judge(
    tx: Transaction,
    at: WriteContext,
    recordings: ReadonlyMap<string, Recording>,
  ): Promise<void> {
    for (const [invariant, happened] of rulesFor(invariants, recordings, noneHandled) ?? []) {
      await invariant.hold(tx, at, happened);
    }
  }

  return {
    addReaction: (reaction: Reaction): void => add(reactions, reaction.to, reaction),
    addInvariant: (invariant: Invariant): void => add(invariants, invariant.after, invariant),

    /** Has reactions make room for a unit that will record an event of this type on the object. */
    async prepare(at: WriteContext, type: string, aggregateId: string): Promise<void> {
      const before = withoutExpectation(at);
      for (const { ahead } of reactions.get(type) ?? []) await ahead?.(before, aggregateId);
    },

    judge,

    /** Runs the reactions to what a unit records, until nothing more happens, and then judges it by the invariants. */
    async settle(
      tx: Transaction,
      at: WriteContext,
      recordings: ReadonlyMap<string, Recording>,
    ): Promise<void> {
      const handled = new Map<string, number>();
      for (;;) {
        const due = rulesFor(reactions, recordings, handled);
        if (due === undefined) break;
        for (const [key, { events }] of recordings) handled.set(key, events.length);
        for (const [reaction, happened] of due) await reaction.react(tx, happened);
      }
      await judge(tx, at, recordings);
    },
  };
}

const none: readonly never[] = [];
const noneHandled: ReadonlyMap<string, number> = new Map();

/**
 * The rules that the events of a unit concern, but for the first events of each object, which were told of before; undefined
 * where they concern none, as most units.
 */
function rulesFor<R>(
  rules: ReadonlyMap<string, readonly R[]>,
  recordings: ReadonlyMap<string, Recording>,
  handled: ReadonlyMap<string, number>,
): Map<R, Happened[]> | undefined {
  let due: Map<R, Happened[]> | undefined;
  for (const [key, { loaded, events }] of recordings) {
    const before = handled.get(key) ?? 0;
    for (const { type, payload } of before === 0 ? events : events.slice(before)) {
      for (const rule of rules.get(type) ?? none) {
        due ??= new Map();
        const happened = due.get(rule) ?? [];
        const isOfNew = loaded.version === 0n;
        happened.push({ type, aggregateId: loaded.id, payload, isOfNew });
        due.set(rule, happened);
      }
    }
  }
  return due;
}
