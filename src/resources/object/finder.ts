import type { ObjectPolicy, Scope } from "../../authz/context.ts";
import type { Awaitable } from "../../awaitable.ts";
import { readsOf } from "../../projection/lengthy.ts";
import { startsWith } from "../../projection/search.ts";
import { caseFold } from "../../storage/case-fold.ts";
import type { Database } from "../../storage/database.ts";
import { and, asc, type Column, eq, type SQL, sql } from "../../storage/drizzle.ts";
import { select, selectionOf, wholeRow } from "../../storage/selection.ts";
import type { Row, Table } from "../../storage/table.ts";

type Found = {
  /** The text as it was given: the object that has it is the one that is meant. */
  keys: (text: string, instanceId: string) => readonly SQL[];
  /** Folds of names: an object is found by how one of them begins. Behind each what an index has between it and the ID. */
  names: readonly (readonly [Column, ...Column[]])[];
  /** The rows that the caller may read. */
  visible: (scope: Scope) => Awaitable<readonly (SQL | undefined)[]>;
};

/** Finds objects that a text names, as the caller of a method with such a policy may read them. */
export type Finder<R> = (
  scope: Scope,
  asked: { text: string; policy: ObjectPolicy; limit: number },
) => Promise<R[]>;

/**
 * Finds those that the text is a key of, and then those whose names begin with it, by name, whatever the letter case.
 *
 * Who reads all of the instance is answered by an index. Of others the time tells nothing about what they may not read: names
 * are compared one by one, of what they may.
 */
export function finder<T extends Table>(
  db: Database,
  table: T,
  { keys, names, visible }: Found,
): Finder<Row<T>> {
  const t = db.table(table);
  const columns = t as unknown as { instanceId: Column; id: Column };
  const ofId = selectionOf<{ id: string }>({ id: columns.id });
  return async (caller, { text, policy, limit }) => {
    const scope: Scope = { ...caller, policy };
    const { instanceId } = scope;
    const ofInstance = eq(columns.instanceId, instanceId);
    const filters = (await visible(scope)).filter((each) => each !== undefined);
    const readable = and(ofInstance, ...filters);
    const readsAll = scope.permissions.reach(policy.read).everywhere;
    const folded = caseFold(text);
    const begins = (name: Column) =>
      readsAll
        ? startsWith(name, folded)
        : sql`substr(${name}, 1, ${[...folded].length}) = ${folded}`;
    const order = (name: Column) => (readsAll ? asc(name) : sql`${name} || ''`);
    // Where no row is filtered out, no more than `limit` of them are read from an index.
    const reads =
      readsAll && filters.length === 0 ? db : await readsOf(db, table, { instanceId, ofInstance });
    const { id } = columns;
    const those = [
      ...keys(text, instanceId).map((key) => ({ from: t, where: and(readable, key), limit })),
      ...names.map(([name, ...ties]) => ({
        from: t,
        where: and(readable, begins(name)),
        orderBy: [order(name), ...ties.map(asc), asc(id)],
        limit,
      })),
    ];
    const found = await reads.snapshot((read) =>
      those.map((each) => read.rows(select(ofId.columns, each), ofId)),
    );
    const ids = [...new Set(found.flat().map((each) => each.id))].slice(0, limit);
    if (ids.length === 0) return [];
    const whole = wholeRow(t);
    const ofThese = { from: t, where: and(readable, db.isAmong(id, ids)) };
    const rows = await db.read.rows(select(whole.columns, ofThese), whole);
    const byId = new Map(rows.map((row) => [String(Reflect.get(row, "id")), row]));
    return ids.map((each) => byId.get(each)).filter((row) => row !== undefined);
  };
}
