import type { Scope } from "../../authz/context.ts";
import type { Held } from "../../authz/holds.ts";
import type { Aggregate } from "../../eventstore/aggregate.ts";
import type { NewEvent } from "../../eventstore/event.ts";
import type { EventStore } from "../../eventstore/eventstore.ts";
import { loadIn } from "../../eventstore/load-in.ts";
import type { Transaction } from "../../eventstore/transaction.ts";

/** Whom a method holds that names an object of a user (J1); nobody where there is no such object, or it has no user yet. */
export const userOf =
  <S, E extends NewEvent>(
    events: Pick<EventStore, "load">,
    aggregate: Aggregate<S, E>,
    idOf: (state: S) => string | undefined,
  ) =>
  async ({ id }: { id: string }, { instanceId }: Scope, tx?: Transaction): Promise<Held[]> => {
    const { state } = await loadIn(events, instanceId, tx)(aggregate, id);
    const userId = idOf(state);
    return userId === undefined ? [] : [{ userId }];
  };
