import type { Aggregate } from "../../eventstore/aggregate.ts";
import type { NewEvent } from "../../eventstore/event.ts";
import { withoutExpectation } from "../../eventstore/expected-sequence.ts";
import type { Reaction } from "../../eventstore/settle.ts";
import { decideOn, type Transaction, type WriteContext } from "../../eventstore/transaction.ts";
import { allIds, someIds } from "../../projection/ids.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import type { Row, Table } from "../../storage/table.ts";

/** What becomes of one object, in a unit. */
type End = (tx: Transaction, id: string) => Promise<unknown>;

/** Decides over each object alone. */
export const byDecision =
  <S, E extends NewEvent>(aggregate: Aggregate<S, E>, decide: (state: S) => E[]): End =>
  (tx, id) =>
    decideOn(tx, aggregate, id, (state) => decide(state));

// One unit keeps other writers waiting while it commits: where there are more, most of them end in units of their own.
const mostInOneUnit = 2_000;

/**
 * What goes with something else: the objects that rows of a table name, and what becomes of each when that ends.
 *
 * @param idColumn the column that names the object, where that is not `id`
 */
export function removal<T extends Table>(
  { db, events }: Pick<Deps, "db" | "events">,
  table: T,
  end: End,
  { most = mostInOneUnit, idColumn = "id" } = {},
) {
  type Where = Partial<Row<T>>;
  const each = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
    for (const id of ids) await end(tx, id);
  };
  const apart = (at: WriteContext, ids: readonly string[]): Promise<void> =>
    events.transact(withoutExpectation(at), (tx) => each(tx, ids));
  const find = ({ instanceId }: WriteContext, where: Where, limit: number): Promise<string[]> =>
    someIds(db, table, { instanceId, ...where }, limit, idColumn);

  /** Ends all in the unit of the cause. One that is made meanwhile makes the decision be taken anew. */
  async function within(tx: Transaction, where: Where): Promise<void> {
    const { instanceId } = tx.at;
    await each(tx, await allIds(db, tx, table, { instanceId, ...where }, idColumn));
  }

  /** Ends up to `limit` as one unit; tells how many. */
  async function some(at: WriteContext, where: Where, limit: number): Promise<number> {
    const ids = await find(at, where, Math.min(limit, most));
    if (ids.length > 0) await apart(at, ids);
    return ids.length;
  }

  return {
    within,
    some,

    /**
     * Leaves the unit of the cause no more than one unit may hold: the others end before, in units of their own. Whoever is
     * stopped in between can begin again.
     */
    async ahead(at: WriteContext, where: Where): Promise<void> {
      for (;;) {
        const ids = await find(at, where, most + 1);
        if (ids.length <= most) return;
        await apart(at, ids);
      }
    },

    /** They go with what these events end, in its unit; each says which they are by its id. */
    goWith: (causes: Readonly<Record<string, (id: string) => Where>>): Reaction => ({
      to: Object.keys(causes),
      async react(tx, happened) {
        for (const { type, aggregateId } of happened) {
          const where = causes[type]?.(aggregateId);
          if (where !== undefined) await within(tx, where);
        }
      },
    }),

    /** They go with their organization. */
    contents: ((at, organizationId, limit) =>
      some(at, { organizationId }, limit)) satisfies RemoveContents,
  };
}
