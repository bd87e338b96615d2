import type { OwnerRef } from "../../../eventstore/event.ts";
import type { Transaction, Written } from "../../../eventstore/transaction.ts";
import type { Database } from "../../../storage/database.ts";
import { and, type Column, ne, type SQL, sql } from "../../../storage/drizzle.ts";
import { equals, rowsWhere } from "../../../projection/rows.ts";
import type { Row } from "../../../storage/table.ts";
import { inherits } from "./context.ts";
import { policyId, type StatePolicies } from "./policies.ts";
import { type EffectiveState, type Seen, seenAtEnd, type StatePolicy } from "./state.ts";

/** A reusable resource as it is stored, as far as its reuse goes. `statePolicy` is that of its owner. */
export type Reusable = {
  id: string;
  owner: OwnerRef;
  statePolicy: StatePolicy;
  sequence: bigint;
  changeDate: Date;
};

/** A resource as a context sees it, with the last event of what makes it look so there. */
export type SeenResource = Seen & Pick<Written, "id" | "owner" | "sequence" | "changeDate">;

/** Reads and changes what contexts make of the resources of one kind that they have or inherit (decisions E). */
export function createReuse(db: Database, policies: StatePolicies) {
  const p = db.table(policies.table);

  return {
    /**
     * Resources as a context sees them that has them all, or each as the context that it belongs to; `log` is the instance
     * that the context is or lies in.
     */
    async see(
      log: string,
      resources: readonly Reusable[],
      from?: OwnerRef,
    ): Promise<SeenResource[]> {
      const decided = new Map<string, Row<typeof policies.table>>();
      const inherited =
        from === undefined ? [] : resources.filter(({ owner }) => inherits(from, owner));
      if (from !== undefined && inherited.length > 0) {
        const resourceId = inherited.map(({ id }) => id);
        const where = { instanceId: log, contextId: from.id, resourceId };
        const rows = await rowsWhere(db, policies.table, where);
        for (const row of rows) decided.set(row.resourceId, row);
      }
      return resources.map((resource) => {
        const { id, owner } = resource;
        const own = { owner, policy: resource.statePolicy };
        if (from === undefined || !inherits(from, owner)) {
          return { ...lastOf(resource), ...seenAtEnd([own]) };
        }
        const row = decided.get(id);
        const policy = (row?.policy ?? "inherit") as StatePolicy;
        return { ...lastOf(resource, row), ...seenAtEnd([own, { owner: from, policy }]) };
      });
    },

    /** Keeps the rows that have a state as a context sees them, by the columns that their states follow from. */
    hasState(
      log: string,
      { id, statePolicy }: { id: Column; statePolicy: Column },
      from: OwnerRef,
      state: EffectiveState,
    ): SQL {
      const decided = db.read
        .select({ policy: p.policy })
        .from(p)
        .where(
          and(
            equals(db, policies.table, { instanceId: log, resourceId: id, contextId: from.id }),
            ne(p.policy, "inherit" satisfies StatePolicy),
          ),
        );
      // As `effectiveState` does: the last that decides wins.
      const policy = sql`coalesce(${decided}, ${statePolicy})`;
      const inactive = "deactivate" satisfies StatePolicy;
      return state === "active" ? sql`${policy} <> ${inactive}` : sql`${policy} = ${inactive}`;
    },

    /**
     * Sets the policy of a context that inherits a resource, which is given as it is now. That the resource is still there when the
     * unit commits is for the caller to see to.
     */
    async setPolicy(
      tx: Transaction,
      resource: Written,
      inheritor: OwnerRef,
      policy: StatePolicy,
    ): Promise<() => Written> {
      const { aggregate, decide } = policies;
      const { id } = resource;
      const loaded = await tx.load(aggregate, policyId(id, inheritor.id));
      const own = loaded.last && {
        sequence: loaded.last.sequence,
        changeDate: loaded.last.createdAt,
      };
      tx.requireSequence((own === undefined ? resource : latest(resource, own)).sequence);
      const happened = decide(loaded.state, id, policy);
      tx.record(aggregate, loaded, happened, inheritor);
      if (loaded.last === undefined && happened.length === 0) return () => resource;
      const written = tx.written(loaded);
      return () => latest(resource, written());
    },
  };
}

type Last = Pick<Written, "sequence" | "changeDate">;

const lastOf = (resource: Reusable, row?: Last) => {
  const { id, owner, sequence, changeDate } = resource;
  const last = { id, owner, sequence, changeDate };
  return row === undefined ? last : latest(last, row);
};

// What a context sees changes with the resource and with what the context decides.
const latest = <W extends Last & { owner: OwnerRef }>(resource: W, own: Last): W => {
  const { sequence, changeDate } = own;
  return isLater(own, resource) ? { ...resource, sequence, changeDate } : resource;
};

// What belongs to the system stands in another log, whose sequence says nothing here.
const isLater = (own: Last, resource: Last & { owner: OwnerRef }): boolean =>
  resource.owner.type === "system"
    ? own.changeDate >= resource.changeDate
    : own.sequence > resource.sequence;
