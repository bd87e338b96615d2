// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { steady } from "../../../src/storage/sqlite/statements.ts";
import { engine } from "../../support/app.ts";
import { startPeer } from "../../support/peer.ts";
import { filtersOf, searches } from "./searches.ts";
import { inOrderFilters, scannedFilters, unbounded, unboundedOnPostgres } from "./unbounded.ts";

const service = await startPeer();
const { app } = service;
after(() => service[Symbol.asyncDispose]());

const { db, config } = app.kernel;
const databaseUrlOf = ({ databaseUrl }: typeof config): string =>
  databaseUrl.kind === "postgres" ? databaseUrl.url : assert.fail("SQLite is no server");
type Query = { sql: string; params: unknown[] };
let asked: Query | undefined;
/** All that was asked in snapshots. */
let every: Query[] = [];
const { snapshot } = db;
// What the service asks for the rows of a page, as it asks it.
db.snapshot = (build) => {
  const queries: Query[] = build(db.read).map((each) => Object(each).toSQL());
  [asked] = queries;
  every.push(...queries);
  return snapshot(build);
};

async function queryOf(path: string, body: object): Promise<Query> {
  asked = undefined;
  const answer = await fetch(`http://localhost:${app.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, await answer.text());
  return asked ?? assert.fail(`${path} asked nothing`);
}

/** How the database would find the rows, a step a line. */
async function planOf(query: Query): Promise<string[]> {
  if (config.databaseUrl.kind === "sqlite") return planOfSqlite(config.databaseUrl.file, query);
  return withPostgres(async (client) => {
    // A table of a few rows is read from end to end otherwise.
    await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
    await client.query("SET enable_sort = off");
    return explain(client, query);
  });
}

function planOfSqlite(file: string, { sql, params }: Query): string[] {
  const connection = new Sqlite(file, { readonly: true });
  const explained = connection.prepare(`EXPLAIN QUERY PLAN ${steady(sql)}`).raw();
  const values = params.map((each) => (typeof each === "boolean" ? Number(each) : each));
  const steps = explained.all(...values).map((step) => String(Reflect.get(Object(step), 3)));
  connection.close();
  return steps;
}

async function withPostgres<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrlOf(config) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function explain(client: pg.Client, { sql, params }: Query): Promise<string[]> {
  const explained = { text: `EXPLAIN ${sql}`, values: params, rowMode: "array" as const };
  const { rows } = await client.query<[string]>(explained);
  return rows.map(([step]) => step);
}

/**
 * Plans for tables of many rows that differ in each column. PostgreSQL chooses by what is in every table that a query names; the rows
 * are taken back. Plans of SQLite follow from the tables alone.
 */
async function plansAmongMany(queries: readonly Query[]): Promise<string[][]> {
  if (engine === "sqlite") return Promise.all(queries.map(planOf));
  return withPostgres(async (client) => {
    await client.query("BEGIN");
    for (const table of new Set(queries.flatMap(tablesOf))) await fill(client, table);
    const plans: string[][] = [];
    for (const query of queries) plans.push(await explain(client, query));
    await client.query("ROLLBACK");
    return plans;
  });
}

const manyRows = 5_000;
const sampleOfType: Readonly<Record<string, string>> = {
  text: "'x' || n",
  boolean: "n % 2 = 0",
  jsonb: "'[]'::jsonb",
  bytea: "''::bytea",
};

// Points in time lie around the one that filters name.
const numberOf = (type: string): string =>
  type === "bigint" ? `${Date.parse("2026-01-01") - manyRows / 2} + n` : "n";

async function fill(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1`,
    [table],
  );
  const names = rows.map(({ name }) => `"${name}"`);
  const values = rows.map(({ name, type }) =>
    name === "instance_id" ? "$1" : (sampleOfType[type] ?? numberOf(type)),
  );
  await client.query(
    `INSERT INTO "${table}" (${names.join()}) SELECT ${values.join()} FROM generate_series(1, ${manyRows}) n`,
    [app.made.instance_id],
  );
  await client.query(`ANALYZE "${table}"`);
}

const tablesOf = ({ sql }: Query): string[] =>
  [...sql.matchAll(/(?:from|join) "(\w+)"/g)].flatMap(([, table = ""]) => table);

/** The table whose rows a query answers. */
const tableOf = (query: Query): string => tablesOf(query)[0] ?? "";

/** Whether rows are sorted: else they come in the order of an index, so that a page reads as many as it shows. */
const isSorted = (plan: readonly string[]): boolean =>
  plan.some(
    (step) =>
      /TEMP B-TREE FOR (LAST TERM OF )?ORDER BY/.test(step) || /^\s*(->\s+)?Sort\b/.test(step),
  );

/** Whether an index finds the rows by more than their instance, so that the others are not looked at. */
function isNarrowed(plan: readonly string[], query: Query): boolean {
  // Nothing can match: the database looks for nothing.
  if (/ and 1 = 0/.test(query.sql)) return true;
  return plan.some((step) =>
    engine === "sqlite"
      ? step.startsWith(`SEARCH ${tableOf(query)} USING`) && step.includes(" AND ")
      : /Index Cond: .*\w [<>=]/.test(step.replace(/instance_id = '[^']*'/, "")),
  );
}

describe("the order of a search", () => {
  for (const { parent, name, input } of searches) {
    it(`comes from an index, or is among those that are named: ${name}`, async () => {
      const slow: string[] = [];
      const sorts = input.field["sortingColumn"]?.enum?.values ?? [{ number: 0, name: "" }];
      for (const { number, name: sort } of sorts) {
        for (const asc of [true, false]) {
          const body = { query: { asc, limit: 2 }, ...(number > 0 && { sorting_column: number }) };
          const query = await queryOf(`/${parent.typeName}/${name}`, body);
          if (isSorted(await planOf(query))) slow.push(sort);
        }
      }
      const named = unbounded[name] ?? [];
      if (engine === "sqlite") return assert.deepEqual([...new Set(slow)], named);
      const all = [...named, ...(unboundedOnPostgres[name] ?? [])];
      assert.deepEqual(
        slow.filter((sort) => !all.includes(sort)),
        [],
      );
    });
  }
});

describe("a filter of a search", () => {
  for (const { parent, name, input } of searches) {
    it(`finds by an index, or is among those that are named: ${name}`, async () => {
      const filters = filtersOf(input);
      const queries: Query[] = [];
      for (const { filter } of filters) {
        const body = { query: { limit: 2 }, filters: [filter] };
        queries.push(await queryOf(`/${parent.typeName}/${name}`, body));
      }
      const [scanned, sorted]: [string[], string[]] = [[], []];
      for (const [at, plan] of (await plansAmongMany(queries)).entries()) {
        const { name: filter = "" } = filters[at] ?? {};
        const query = queries[at];
        if (query === undefined || !isNarrowed(plan, query)) scanned.push(filter);
        else if (isSorted(plan)) sorted.push(filter);
      }
      const named = scannedFilters[name] ?? [];
      if (engine === "sqlite") {
        assert.deepEqual(scanned, named);
        const broad = inOrderFilters[name] ?? [];
        assert.deepEqual(
          sorted.filter((each) => broad.includes(each)),
          [],
        );
      } else
        assert.deepEqual(
          scanned.filter((each) => !named.includes(each)),
          [],
        );
    });
  }
});

describe("a search over everything", () => {
  for (const table of ["users", "organizations", "projects", "apps"]) {
    it(`finds by an index whatever a text may be: ${table}`, async () => {
      every = [];
      await queryOf("/idsvc.resources.auth.v3alpha.AuthService/SearchAll", { q: "x1" });
      const queries = every.filter((query) => tableOf(query) === table);
      assert.notEqual(queries.length, 0);
      for (const [at, plan] of (await plansAmongMany(queries)).entries()) {
        const query = queries[at] ?? assert.fail();
        assert.ok(isNarrowed(plan, query), [query.sql, ...plan].join("\n"));
        assert.ok(!plan.some((step) => /SubPlan|CORRELATED/.test(step)), plan.join("\n"));
        // PostgreSQL sorts where it takes the matches for few.
        if (engine === "sqlite") assert.ok(!isSorted(plan), [query.sql, ...plan].join("\n"));
      }
    });
  }
});
