import type { Database, Reader, Snapshots } from "../storage/database.ts";
import { and, type AnyPgTable, type Column, type SQL, sql } from "../storage/drizzle.ts";
import { listOf, type Rows, select, wholeRow } from "../storage/selection.ts";
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
  const keys = listOf(keysOf(table.key, t));
  const chosen = select(keys, { from: t, where, orderBy: inOrder, limit, offset });
  return { where: sql`(${keys}) in (${chosen})`, offset: 0 };
}

function keysOf(key: readonly string[], t: object): Column[] {
  const columns = t as Record<string, Column>;
  return key.map((name) => columns[name]).filter((column) => column !== undefined);
}

/**
 * A page of the rows that match, with the number of all, where these are few. They are looked for once, by what an index holds of each
 * row, and no further than tells that they are not few.
 *
 * @param asked `where` keeps the matches, `behind` those of them that follow the cursor
 * @returns undefined where they are many, or where an empty page does not tell whether they are
 */
export async function pageAmongFew<T extends AnyPgTable, H>(
  { snapshot }: Snapshots,
  t: T,
  key: readonly string[],
  asked: PageFilter & {
    behind: SQL | undefined;
    inOrder: SQL[];
    limit: number;
    headOf: (read: Reader) => PromiseLike<H>;
  },
): Promise<{ rows: T["$inferSelect"][]; total: number; heads: H } | undefined> {
  const { where, behind, inOrder: orderBy, limit, offset } = asked;
  const whole = wholeRow(t);
  const page = { from: amongFew(t, keysOf(key, t), where), where: behind, orderBy, limit, offset };
  const query = select(sql`${whole.columns}, "counted"."total"`, page);
  const rowOf = (values: readonly unknown[]) => ({
    row: whole.rowOf(values),
    total: Number(values.at(-1)),
  });
  const [found, heads] = await snapshot((read) => [
    read.rows(query, { rowOf }),
    asked.headOf(read),
  ]);
  const total = found[0]?.total ?? (offset === 0 && behind === undefined ? 0 : fewMatches + 1);
  return total > fewMatches ? undefined : { rows: found.map(({ row }) => row), total, heads };
}

/** The first matches that are met, one more than are few, each with the number of these. */
function amongFew(t: AnyPgTable, keys: readonly Column[], where: SQL | undefined): Rows["from"] {
  const matches = select(listOf(keys), { from: t, where, limit: fewMatches + 1 });
  const names = keys.map(({ name }) => sql.identifier(name));
  const counted = sql`select ${listOf(names)}, count(*) over () as "total" from (${matches}) "matches"`;
  const isSame = keys.map((column, at) => sql`"counted".${names[at]} = ${column}`);
  return sql`(${counted}) "counted" inner join ${t} on ${and(...isSame)}`;
}
