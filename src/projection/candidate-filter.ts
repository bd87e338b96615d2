import type { Database, Snapshots } from "../storage/database.ts";
import { type AnyPgTable, count, type PgColumn, type SQL, sql } from "../storage/drizzle.ts";
import type { Table } from "../storage/table.ts";

/** So many matches are sorted rather than met while all rows are walked in their order. */
const fewMatches = 1_000;

export type PageFilter = { where: SQL | undefined; offset: number };

/**
 * The same page by the keys of its rows. Keys stand in indexes, whole rows do not: those that are passed over, and those
 * that do not match, need not be read.
 */
export function candidateFilter(
  db: Database,
  table: Table,
  asked: PageFilter & { inOrder: SQL[]; limit: number; isRare: boolean },
): PageFilter {
  const { where, inOrder, limit, offset, isRare } = asked;
  if (offset === 0 && !isRare) return { where, offset };
  const t = db.table(table);
  const columns = t as unknown as Record<string, PgColumn>;
  const keys = Object.fromEntries(
    table.key.flatMap((name) => {
      const column = columns[name];
      return column === undefined ? [] : [[name, column]];
    }),
  );
  const all = db.read.select(keys).from(t).where(where);
  const chosen = isRare
    ? all
    : all
        .orderBy(...inOrder)
        .limit(limit)
        .offset(offset);
  const tuple = sql.join(Object.values(keys), sql`, `);
  return { where: sql`(${tuple}) in ${chosen}`, offset: isRare ? offset : 0 };
}

/** What is found out here only chooses the way: it may be otherwise a moment later. */
export async function matchesFew(
  { snapshot }: Snapshots,
  t: AnyPgTable,
  where: SQL | undefined,
): Promise<boolean> {
  const [[found]] = await snapshot((read) => [
    read.select({ total: count() }).from(
      read
        .select({ one: sql`1`.as("one") })
        .from(t)
        .where(where)
        .limit(fewMatches + 1)
        .as("matches"),
    ),
  ]);
  return (found?.total ?? 0) <= fewMatches;
}
