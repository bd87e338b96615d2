// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Query } from "drizzle-orm";
import {
  and,
  asc,
  desc,
  eq,
  gte,
  inArray,
  isNull,
  not,
  or,
  parameter,
  pgCore,
  type SQL,
  sql,
  sqliteCore,
} from "../../src/storage/drizzle.ts";
import { queryWriter } from "../../src/storage/query-writer.ts";
import { select, selectionOf, wholeRow } from "../../src/storage/selection.ts";

const {
  pgSchema,
  pgTable,
  PgDialect,
  bigint,
  jsonb,
  timestamp,
  alias,
  QueryBuilder,
  text,
  customType,
} = pgCore();
const { SQLiteSyncDialect } = sqliteCore();

/** A column whose values are stored as an expression. */
const lowered = customType<{ data: string }>({
  dataType: () => "text",
  toDriver: (value) => sql`lower(${value})`,
});
const t = pgTable('a "table"', {
  id: text("id").notNull(),
  at: timestamp("at", { withTimezone: true }),
  data: jsonb("data"),
  count: bigint("count", { mode: "bigint" }),
  odd: text('odd "name"'),
  lowered: lowered("lowered"),
});
const inSchema = pgSchema("s").table("t", { id: text("id") });
const other = alias(t, "other");

const own: Record<string, () => SQL> = {
  "text alone": () => sql`select 1`,
  "names, which are quoted": () => sql`select ${t.odd}, ${sql.identifier('a"b')} from ${t}`,
  "all of a table by a key": () =>
    select(wholeRow(t).columns, { from: t, where: and(eq(t.id, "1"), eq(t.odd, "x")) }),
  "a page": () => select(sql`${t.id}`, { from: t, orderBy: [asc(t.at), desc(t.id)], limit: 20 }),
  "values as columns store them": () =>
    sql`${eq(t.at, new Date(5))} and ${eq(t.data, { a: [1] })} and ${gte(t.count, 2n ** 60n)}`,
  "values of no column": () => sql`${"a"}, ${1}, ${2n}, ${true}, ${sql.param(null, t.at)}`,
  "conditions in one another, and none": () =>
    sql`${or(and(eq(t.id, "1"), undefined), not(or(isNull(t.at), eq(t.id, "2")) ?? sql``))}`,
  lists: () => sql`${inArray(t.id, ["a", "b"])} or ${t.id} in ${["c", "d"]} or ${[]}`,
  "a table by another name": () =>
    sql`select ${other.id} from ${t} ${sql.identifier("other")} where ${eq(other.id, t.id)}`,
  "a query in a query": () =>
    sql`exists (${select(selectionOf({ id: t.id }).columns, { from: t, where: eq(t.id, "1") })})`,
};
const drizzles: Record<string, () => SQL> = {
  "values in the text": () => sql`${t.id} = ${"it's"}`.inlineParams(),
  "a value that is stored as an expression": () => eq(t.lowered, "ABC"),
  "values that are named": () => eq(t.id, parameter("id")),
  "values that are named, of no column": () => sql`limit ${parameter("limit")}`,
  "a query of its builder": () =>
    sql`${t.id} in ${new QueryBuilder().select({ id: t.id }).from(t).where(eq(t.id, "1"))}`,
  "an expression with a name": () => sql`${sql`count(*)`.as("all")}`,
  "a table in a schema": () => sql`exists (select ${inSchema.id} from ${inSchema})`,
  null: () => sql`${null}`,
  bytes: () => sql`${new Uint8Array([1, 2])}`,
};

for (const [name, dialect] of [
  ["SQLite", new SQLiteSyncDialect()],
  ["PostgreSQL", new PgDialect()],
] as const)
  describe(`a query that is written as text for ${name}`, () => {
    const texts = { escapeName: dialect.escapeName, escapeParam: dialect.escapeParam };
    const essence = ({ sql: statement, params }: Pick<Query, "sql" | "params">) => ({
      statement,
      params,
    });
    for (const [what, query] of Object.entries(own))
      it(`is as drizzle writes it, which is not asked: ${what}`, () => {
        const sqlToQuery = () => assert.fail("drizzle was asked");
        const written = queryWriter({ ...texts, sqlToQuery })(query());
        assert.deepEqual(essence(written), essence(dialect.sqlToQuery(query())));
      });
    for (const [what, query] of Object.entries(drizzles))
      it(`is drizzle's: ${what}`, () => {
        const sqlToQuery = (asked: SQL) => dialect.sqlToQuery(asked);
        const whole = sql`select ${t.id} where ${eq(t.id, "0")} and ${query()}`;
        const written = queryWriter({ ...texts, sqlToQuery })(whole);
        assert.deepEqual(essence(written), essence(dialect.sqlToQuery(whole)));
      });
  });
