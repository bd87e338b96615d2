import type { Awaitable } from "../awaitable.ts";
import type { Aggregate } from "./aggregate.ts";
import type { NewEvent, OwnerRef } from "./event.ts";
import type { Loaded } from "./eventstore.ts";
import type { Transact, Transaction, WriteContext, Written } from "./transaction.ts";

/** Decides over one object within a unit: loads it, lets the decision see its state, and records what it says. */
export async function decideOn<S, E extends NewEvent>(
  tx: Transaction,
  aggregate: Aggregate<S, E>,
  id: string,
  decide: (state: S, tx: Transaction) => Awaitable<E[]>,
  owner?: OwnerRef,
): Promise<Loaded<S>> {
  const loaded = await tx.load(aggregate, id);
  tx.record(aggregate, loaded, await decide(loaded.state, tx), owner);
  return loaded;
}

/** Decides over one object as a unit, and tells its last event. */
export async function execute<S, E extends NewEvent>(
  transact: Transact,
  at: WriteContext,
  aggregate: Aggregate<S, E>,
  { id, owner }: { id: string; owner?: OwnerRef },
  decide: (state: S, tx: Transaction) => Awaitable<E[]>,
): Promise<Written> {
  const written = await transact(at, async (tx) =>
    tx.written(await decideOn(tx, aggregate, id, decide, owner)),
  );
  return written();
}
