import type { EventStore } from "./eventstore.ts";
import type { Transaction } from "./transaction.ts";

/** Loads objects of an instance: within a unit as they must still be when it commits, and else as they are now. */
export const loadIn =
  ({ load }: Pick<EventStore, "load">, instanceId: string, tx?: Transaction): Transaction["load"] =>
  (aggregate, id) =>
    tx === undefined ? load(aggregate, instanceId, id) : tx.load(aggregate, id);
