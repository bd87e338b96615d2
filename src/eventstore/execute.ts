import type { Awaitable } from "../awaitable.ts";
import type { Aggregate } from "./aggregate.ts";
import type { NewEvent, OwnerRef } from "./event.ts";
import type { Transact, Transaction, WriteContext, Written } from "./transaction.ts";

/** Decides over one object: loads it, lets the decision see its state, appends, tells its last event. */
export async function execute<S, E extends NewEvent>(
  transact: Transact,
  at: WriteContext,
  aggregate: Aggregate<S, E>,
  object: { id: string; owner?: OwnerRef },
  decide: (state: S, tx: Transaction) => Awaitable<E[]>,
): Promise<Written> {
  const written = await transact(at, async (tx) => {
    const loaded = await tx.load(aggregate, object.id);
    tx.record(aggregate, loaded, await decide(loaded.state, tx), object.owner);
    return tx.written(loaded);
  });
  return written();
}
