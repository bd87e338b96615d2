import { createHash } from "node:crypto";
import type { AnyPgTable } from "drizzle-orm/pg-core";
import type { Reader } from "./database.ts";
import { asc, getTableColumns, sql } from "./drizzle.ts";
import type { AnyTable } from "./table.ts";

type Values = Record<string, unknown>;

const rowsAPage = 500;

/** All rows of a table, a page at a time, in the order of its key, which is the same on every database. */
export async function* readRows(
  read: Reader,
  table: AnyTable,
  as: AnyPgTable,
): AsyncGenerator<Values[]> {
  const columns = getTableColumns(as);
  const key = table.key.map((name) => {
    const column = columns[name];
    if (column === undefined) throw new Error(`table ${table.name} has no column ${name}`);
    return { name, column };
  });
  const names = sql.join(
    key.map(({ column }) => sql`${column}`),
    sql`, `,
  );
  for (let last: Values | undefined; ; ) {
    const from = last;
    const values = key.map(({ name, column }) => sql`${sql.param(from?.[name], column)}`);
    const later = from && sql`(${names}) > (${sql.join(values, sql`, `)})`;
    const page: Values[] = await read
      .select()
      .from(as)
      .where(later)
      .orderBy(...key.map(({ column }) => asc(column)))
      .limit(rowsAPage);
    if (page.length > 0) yield page;
    if (page.length < rowsAPage) return;
    last = page.at(-1);
  }
}

/** How many rows a table has, and what they hold. */
export type Checksum = { rows: number; sha256: string };

/**
 * Sums rows up as they come. Equal rows in the order of the key have equal sums, on whichever database: columns in the
 * order of the table, JSON with its keys sorted, instants in milliseconds, bytes in base64.
 */
export function summing(table: AnyTable): { add(page: Values[]): void; result(): Checksum } {
  const names = Object.keys(table.columns);
  const hash = createHash("sha256");
  let rows = 0;
  return {
    add(page) {
      rows += page.length;
      for (const row of page)
        hash.update(`${JSON.stringify(names.map((each) => plain(row[each])))}\n`);
    },
    result: () => ({ rows, sha256: hash.digest("hex") }),
  };
}

/** Sums up the rows that are there. While others write it is no single state of the table. */
export async function checksumOf(read: Reader, table: AnyTable, as: AnyPgTable): Promise<Checksum> {
  const sum = summing(table);
  for await (const page of readRows(read, table, as)) sum.add(page);
  return sum.result();
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value ?? null;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  // As pairs: an object would put keys that look like numbers first.
  return entries
    .map(([key, each]) => [key, plain(each)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
