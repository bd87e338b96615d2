import type { Database, Reader, Snapshots } from "../storage/database.ts";
import { and, type AnyPgTable, count, type PgColumn, type SQL, sql } from "../storage/drizzle.ts";
import type { Table } from "../storage/table.ts";

/** So many matches are sorted rather than met while all rows are walked in their order. */
const fewMatches = 1_000;

export type PageFilter = { where: SQL | undefined; offset: number };

/**
 * The same page by the keys of its rows. Keys stand in indexes, whole rows do not: those that are passed over need not be read.
 */
export function candidateFilter(
  db: Database,
  table: Table,
  asked: PageFilter & { inOrder: SQL[]; limit: number },
): PageFilter {
  const { where, inOrder, limit, offset } = asked;
  if (offset === 0) return { where, offset };
  const t = db.table(table);
  const keys = keysOf(table.key, t);
  const chosen = db.read
    .select(keys)
    .from(t)
    .where(where)
    .orderBy(...inOrder)
    .limit(limit)
    .offset(offset);
  return { where: sql`(${sql.join(Object.values(keys), sql`, `)}) in ${chosen}`, offset: 0 };
}

type Keys = Record<string, PgColumn>;

function keysOf(key: readonly string[], t: object): Keys {
  const columns = t as Keys;
  return Object.fromEntries(
    key.flatMap((name) => {
      const column = columns[name];
      return column === undefined ? [] : [[name, column]];
    }),
  );
}

/**
 * A page of the rows that match, with the number of all, where these are few. They are looked for once, by what an index holds of each
 * row, and no further than tells that they are not few.
 *
 * @param asked `where` keeps the matches, `behind` those of them that follow the cursor
 * @returns undefined where they are many, or where an empty page does not tell whether they are
 */
export async function pageAmongFew<H>(
  { snapshot }: Snapshots,
  t: AnyPgTable,
  key: readonly string[],
  asked: PageFilter & {
    behind: SQL | undefined;
    inOrder: SQL[];
    limit: number;
    headOf: (read: Reader) => PromiseLike<H>;
  },
): Promise<{ rows: unknown[]; total: number; heads: H } | undefined> {
  const { where, behind, inOrder, limit, offset } = asked;
  const [found, heads] = await snapshot((read) => [
    amongFew(read, t, keysOf(key, t), where)
      .where(behind)
      .orderBy(...inOrder)
      .limit(limit)
      .offset(offset),
    asked.headOf(read),
  ]);
  const total = found[0]?.total ?? (offset === 0 && behind === undefined ? 0 : fewMatches + 1);
  return total > fewMatches ? undefined : { rows: found.map(({ row }) => row), total, heads };
}

/** The rows of the first matches that are met, one more than are few, each with the number of these. */
function amongFew(read: Reader, t: AnyPgTable, keys: Keys, where: SQL | undefined) {
  const names = Object.keys(keys);
  const matches = read
    .select(keys)
    .from(t)
    .where(where)
    .limit(fewMatches + 1)
    .as("matches");
  const total = sql<number>`${count()} over ()`.mapWith(Number).as("total");
  const counted = read
    .select({ ...keysOf(names, matches), total })
    .from(matches)
    .as("counted");
  const found = keysOf(names, counted);
  const isSame = names.map((name) => sql`${found[name]} = ${keys[name]}`);
  return read
    .select({ row: t, total: counted.total })
    .from(counted)
    .innerJoin(t, and(...isSame));
}
