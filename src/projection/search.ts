import {
  and,
  asc,
  type Column,
  count,
  desc,
  eq,
  gte,
  lt,
  or,
  parametersOf,
  type AnyPgTable,
  type PgColumn,
  type SQL,
  sql,
} from "../storage/drizzle.ts";
import { invalidField } from "../errors.ts";
import { candidateFilter, pageAmongFew } from "./candidate-filter.ts";
import {
  behind,
  type CursorOf,
  digestOf,
  openCursor,
  type Place,
  type Position,
  sealCursor,
} from "./cursor.ts";
import { readsOf } from "./lengthy.ts";
import { columnIn } from "./rows.ts";
import { caseFold } from "../storage/case-fold.ts";
import type { Database, Reader, Snapshots } from "../storage/database.ts";
import { rowCounts, sequences } from "../storage/kernel-tables.ts";
import { select, selectionOf, wholeRow } from "../storage/selection.ts";
import type { Row, Table } from "../storage/table.ts";

/** A page as the caller asked for it (the specification's ListQuery). */
export type Page = {
  offset: bigint;
  limit: number;
  asc: boolean;
  /** The cursor behind which it begins; empty for the beginning of the list. */
  after: string;
  /** The matching entries are not counted. */
  skipTotal: boolean;
};

export type Limits = { listDefault: number; listMax: number };

/** How a text is compared (A9): literally, or by its fold. */
export type TextMethod = {
  how: "equals" | "startsWith" | "contains" | "endsWith";
  ignoreCase: boolean;
};

export type Found<R> = {
  rows: R[];
  total: bigint;
  appliedLimit: number;
  endOfList: boolean;
  /** The cursor of what follows; empty at the end of the list. */
  next: string;
  /** The head of the instance's log, as the search saw it. */
  head: { sequence: bigint; changedAt: Date };
};

/** The limit that applies (A8): absent or 0 means the default. */
export function applicableLimit(asked: number, limits: Limits, field = "query.limit"): number {
  if (asked === 0) return limits.listDefault;
  if (asked <= limits.listMax) return asked;
  throw invalidField(
    field,
    "LIMIT_EXCEEDED",
    `is ${asked}, the largest allowed is ${limits.listMax}`,
    {
      metadata: { given: String(asked), maximum: String(limits.listMax) },
    },
  );
}

/** A cursor says where a page begins, so nothing is skipped besides. @throws INVALID_ARGUMENT OFFSET_WITH_CURSOR */
export function requireOneBeginning({ after, offset }: Page): void {
  if (after === "" || offset === 0n) return;
  throw invalidField(
    "query.offset",
    "OFFSET_WITH_CURSOR",
    "is not combined with `after`: leave one out",
  );
}

/**
 * Keeps what begins with a text: a range, which an index can find. Both databases compare texts by their code points.
 */
export function startsWith(column: Column, text: string): SQL | undefined {
  const points = [...text];
  for (let at = points.length - 1; at >= 0; at--) {
    const next = (points[at]?.codePointAt(0) ?? 0) + 1;
    // Half of a surrogate pair is no character, and nothing comes after the last one.
    const following = next === 0xd800 ? 0xe000 : next;
    if (following > 0x10ffff) continue;
    const end = points.slice(0, at).join("") + String.fromCodePoint(following);
    return and(gte(column, text), lt(column, end));
  }
  return gte(column, text);
}

// The folded text has the index. What stands before the last character of a beginning in ASCII folds by itself, whatever
// follows it; in other letters a following mark can change what it folds to.
function nearby(folded: Column, text: string): SQL | undefined {
  const begin = caseFold(text.slice(0, -1));
  return /^[\x20-\x7e]+$/.test(text) && begin !== "" ? startsWith(folded, begin) : undefined;
}

/** Matches a text column literally: `%`, `_` and `\` have no meaning. */
export function matchesText(
  db: Database,
  columns: { exact: Column; folded: Column },
  { how, ignoreCase }: TextMethod,
  wanted: string,
): SQL | undefined {
  const column = ignoreCase ? columns.folded : columns.exact;
  const text = ignoreCase ? caseFold(wanted) : wanted;
  // The folded text has the index: equal texts have equal folds.
  if (how === "equals" && !ignoreCase) {
    return and(eq(columns.folded, caseFold(text)), eq(column, text));
  }
  if (how === "equals") return eq(column, text);
  if (text === "") return undefined;
  if (how === "contains") return db.contains(column, text);
  if (how === "startsWith") return and(startsWith(column, text), nearby(columns.folded, text));
  const length = [...text].length;
  return sql`length(${column}) >= ${length} and substr(${column}, length(${column}) - ${length} + 1) = ${text}`;
}

// Where an order has no value it is the smallest. What always has one is ordered as its index is.
function ordered(column: Column, isAscending: boolean): SQL {
  const by = (isAscending ? asc : desc)(column);
  return column.notNull ? by : sql`${by} nulls ${sql.raw(isAscending ? "first" : "last")}`;
}

// So many texts of one long beginning are looked through for the one that a cursor means.
const mostAlike = 10_000;

/** The most values that the filters of one search name, as each of them is a parameter: SQLite takes 32,766 of these. */
const mostValues = 30_000;

function requireFewValues(filters: readonly SQL[]): void {
  const values = parametersOf(filters);
  if (values <= mostValues) return;
  throw invalidField(
    "filters",
    "FILTER_VALUES_TOO_MANY",
    `name ${values} values, at most ${mostValues} are right: search for fewer at once`,
    { metadata: { given: String(values), maximum: String(mostValues) } },
  );
}

type Asked = {
  instanceId: string;
  /** Finds rows of all instances; `instanceId` then only says whose log is told of. */
  everyInstance?: boolean;
  /** What the caller may read, and asks for. */
  filters: (SQL | undefined)[];
  /** One of the filters is answered by no index: each row must be looked at. */
  looksAtEach?: boolean;
  order: Column;
  /** The column that tells apart rows that the order does not, where that is not `id`. */
  idColumn?: string;
  page: Page;
  limits: Limits;
  /** Cursors of the list, which is named by all that was asked for apart from table, order and direction. */
  cursors: CursorOf;
};

/**
 * Finds one page of a projection table, the exact total and the head of the log, all in one state of the store.
 * Ties of the order are broken by id, so that pages neither overlap nor leave gaps (A9).
 *
 * @throws INVALID_ARGUMENT FILTER_VALUES_TOO_MANY, CURSOR_INVALID, OFFSET_WITH_CURSOR
 */
export async function search<T extends Table>(
  db: Database,
  table: T,
  asked: Asked,
): Promise<Found<Row<T>>> {
  const { instanceId, order, page } = asked;
  const limit = applicableLimit(page.limit, asked.limits);
  const t = db.table(table);
  const columns = t as unknown as { instanceId: Column };
  const { idColumn = "id" } = asked;
  const id = columnIn(db, table, idColumn);
  const filters = asked.filters.filter((filter) => filter !== undefined);
  requireFewValues(filters);
  requireOneBeginning(page);
  const ofInstance = asked.everyInstance ? undefined : eq(columns.instanceId, instanceId);
  const where = and(ofInstance, ...filters);
  const inOrder = [ordered(order, page.asc), ordered(id, page.asc)];
  const list = JSON.stringify([table.name, order.name, page.asc, asked.cursors.list]);
  const cursors = { ...asked.cursors, list };
  const from = page.after === "" ? undefined : await openCursor(cursors, page.after);
  // The beginning of a whole list is read from an index, and its length is known.
  const isWhole = filters.length === 0 && page.offset === 0n && from === undefined;
  const reads = isWhole ? db : await readsOf(db, table, { instanceId, ofInstance });
  const behindCursor =
    from && (await fromPlace(reads, t, { order, id, where, from, asc: page.asc }));
  const begun = and(where, behindCursor);
  const counts = db.table(rowCounts);
  const heads = db.table(sequences);
  const largestOffset = 2n ** 53n;
  const offset = Number(page.offset < largestOffset ? page.offset : largestOffset);
  // One more than is shown says whether something follows.
  const looked = limit + 1;
  // What lies in many logs is as new as the one that changed last.
  const head = wholeRow(heads);
  const ofLog = asked.everyInstance
    ? { orderBy: [desc(heads.changedAt)], limit: 1 }
    : { where: eq(heads.instanceId, instanceId) };
  const headOf = (read: Reader) => read.rows(select(head.columns, { from: heads, ...ofLog }), head);
  const cursorBehind = (last: Row<T>) => sealCursor(cursors, positionOf(t, order, idColumn, last));
  if (asked.looksAtEach === true) {
    const counted = page.skipTotal
      ? { where: begun, behind: undefined }
      : { where, behind: behindCursor };
    const few = { ...counted, inOrder, limit: looked, offset, headOf };
    const found = await pageAmongFew(reads, t, table.key, few);
    if (found !== undefined) {
      const totals = page.skipTotal ? undefined : [{ total: BigInt(found.total) }];
      const read = { looked: found.rows as Row<T>[], limit, totals, heads: found.heads };
      return foundOf(read, cursorBehind);
    }
  }
  const shown = candidateFilter(db, table, { where: begun, inOrder, limit: looked, offset });
  const isCounted = ofInstance && filters.length === 0 && table.countedBy === "instanceId";
  const total = selectionOf<{ total: bigint }>({ total: isCounted ? counts.rows : count() });
  const ofTable = and(eq(counts.tableName, table.name), eq(counts.counted, instanceId));
  const counted = isCounted ? { from: counts, where: ofTable } : { from: t, where };
  const whole = wholeRow(t);
  const { offset: skipped, where: isShown } = shown;
  const onPage = { from: t, where: isShown, orderBy: inOrder, limit: looked, offset: skipped };
  const [found, last, totals] = await reads.snapshot((read) => [
    read.rows(select(whole.columns, onPage), whole),
    headOf(read),
    ...(page.skipTotal ? [] : [read.rows(select(total.columns, counted), total)]),
  ]);
  return foundOf({ looked: found, limit, totals, heads: last }, cursorBehind);
}

/** What was read for a page: one row more than its limit, if there is one, the number of all, and the head of the log. */
export type LookedAt<R> = {
  looked: readonly R[];
  limit: number;
  totals: readonly { total: bigint }[] | undefined;
  heads: readonly Row<typeof sequences>[];
};

/** A page of a list. @param cursorBehind seals the place of the last row, where there are more */
export async function foundOf<R>(
  { looked, limit, totals, heads }: LookedAt<R>,
  cursorBehind: (last: R) => Promise<string>,
): Promise<Found<R>> {
  const rows = looked.slice(0, limit);
  const last = rows.at(-1);
  const endOfList = looked.length <= limit;
  return {
    rows,
    total: BigInt(totals?.[0]?.total ?? 0n),
    appliedLimit: limit,
    endOfList,
    next: endOfList || last === undefined ? "" : await cursorBehind(last),
    head: { sequence: heads[0]?.last ?? 0n, changedAt: heads[0]?.changedAt ?? new Date(0) },
  };
}

/** Where a row stands in the order of a column. */
function positionOf(t: AnyPgTable, order: Column, idColumn: string, row: object): Position {
  const [key] = Object.entries(t).find(([, column]) => column === order) ?? [];
  // The column is one of the table, and its id a text.
  const [value, id] = [Reflect.get(row, key ?? ""), Reflect.get(row, idColumn)] as [
    Position["value"],
    string,
  ];
  return { value, id };
}

/** Keeps what follows the place that a cursor says. */
async function fromPlace(
  { snapshot }: Snapshots,
  t: AnyPgTable,
  {
    order,
    id,
    where,
    from,
    asc: isAscending,
  }: { order: Column; id: Column; where: SQL | undefined; from: Place; asc: boolean },
): Promise<SQL | undefined> {
  if (from.kind === "behind") return behind(order, id, isAscending, from.position);
  // Of those that begin alike, the one that was shown last. Where it is gone they are all shown once more.
  const alike = startsWith(order, from.beginning);
  const [rows] = await snapshot((read) => [
    read
      .select({ value: order as PgColumn, id: id as PgColumn })
      .from(t)
      .where(and(where, alike))
      .limit(mostAlike),
  ]);
  const found = (rows as Position[]).find((each) => digestOf(each) === from.digest);
  if (found !== undefined) return behind(order, id, isAscending, found);
  const position = { value: from.beginning, id: "" };
  const rest = behind(order, id, isAscending, position);
  return isAscending ? rest : or(rest, alike);
}
