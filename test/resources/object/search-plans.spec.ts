// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { steady } from "../../../src/storage/sqlite/statements.ts";
import { engine } from "../../support/app.ts";
import { startPeer } from "../../support/peer.ts";
import { searches } from "./searches.ts";
import { unbounded, unboundedOnPostgres } from "./unbounded.ts";

const service = await startPeer();
const { app } = service;
after(() => service[Symbol.asyncDispose]());

const { db, config } = app.kernel;
type Query = { sql: string; params: unknown[] };
let asked: Query | undefined;
const { snapshot } = db;
// What the service asks for the rows of a page, as it asks it.
db.snapshot = (build) => {
  const [rows] = build(db.read);
  asked = Object(rows).toSQL();
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

/** Whether the rows come in the order of an index, so that a page reads as many as it shows. */
async function isInOrder({ sql, params }: Query): Promise<boolean> {
  if (config.databaseUrl.kind === "sqlite") {
    const connection = new Sqlite(config.databaseUrl.file, { readonly: true });
    const explained = connection.prepare(`EXPLAIN QUERY PLAN ${steady(sql)}`).raw();
    const values = params.map((each) => (typeof each === "boolean" ? Number(each) : each));
    const steps = explained.all(...values).map((step) => String(Reflect.get(Object(step), 3)));
    connection.close();
    return !steps.some((step) => step.includes("TEMP B-TREE FOR ORDER BY"));
  }
  const client = new pg.Client({ connectionString: config.databaseUrl.url });
  await client.connect();
  try {
    // A table of a few rows is read from end to end otherwise.
    await client.query("SET enable_seqscan = off; SET enable_bitmapscan = off");
    await client.query("SET enable_sort = off");
    const { rows } = await client.query({
      text: `EXPLAIN ${sql}`,
      values: params,
      rowMode: "array",
    });
    return !rows.some(([step]) => /^\s*(->\s+)?Sort\b/.test(String(step)));
  } finally {
    await client.end();
  }
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
          if (!(await isInOrder(query))) slow.push(sort);
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
