// Run: shared
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import Sqlite from "better-sqlite3";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { rebuildProjections } from "../../src/projection/rebuild.ts";
import { kernelTables } from "../../src/storage/kernel-tables.ts";
import { indexName } from "../../src/storage/sqlite/ddl.ts";
import { steady } from "../../src/storage/sqlite/statements.ts";
import { columnName, type AnyTable } from "../../src/storage/table.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";

/** A store of the service with all its tables, before and after a rebuild; plans are asked for beside it. */
async function withStore(
  work: (plan: (query: string) => string, tables: AnyTable[]) => void,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "idsvc-plans-"));
  try {
    const config = loadConfig({ files: [], flags: {}, env: { IDSVC_DATA_DIR: dir } });
    await using kernel = await openKernel(config, { logger: silentLogger() });
    const tables = [...kernelTables, ...kernel.projectionTables];
    for (const again of [false, true]) {
      if (again) await rebuildProjections(kernel, kernel.projectionTables);
      const connection = new Sqlite(join(dir, "idsvc.db"), { readonly: true });
      const plan = (query: string) =>
        connection
          .prepare(`EXPLAIN QUERY PLAN ${query}`)
          .raw()
          .all(...Array.from(query.matchAll(/\?/g), () => "x"))
          .map((step) => String(Reflect.get(Object(step), 3)))
          .filter((step) => !step.includes("SCALAR SUBQUERY") && !step.includes("CONSTANT ROW"))
          .join("; ");
      work(plan, tables);
      connection.close();
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const equal = (columns: readonly string[]) =>
  columns.map((column) => `"${columnName(column)}" = ?`).join(" AND ");

describe("plans of SQLite (they follow from the tables alone)", () => {
  it("use an index for equality of its columns, rather than read the instance from end to end", async () => {
    let asked = 0;
    await withStore((plan, tables) => {
      for (const table of tables) {
        for (const { columns } of table.indexes) {
          const steps = plan(`SELECT * FROM "${table.name}" WHERE ${equal(columns)}`);
          // The key finds them as well where it begins with these columns, and better where it is among them.
          const byKey =
            columns.every((column, at) => table.key[at] === column) ||
            table.key.every((column) => columns.includes(column));
          const used = byKey ? "PRIMARY KEY" : "INDEX";
          assert.match(steps, new RegExp(`^SEARCH ${table.name} USING (COVERING )?${used}`));
          if (!byKey) assert.equal(steps.match(/=\?/g)?.length, columns.length, steps);
          asked += 1;
        }
      }
    });
    assert.ok(asked > 20, `${asked} indexes`);
  });

  it("use the unique key for the whole key", async () => {
    await withStore((plan, tables) => {
      for (const { name, key } of tables) {
        const steps = plan(`SELECT * FROM "${name}" WHERE ${equal(key)}`);
        assert.match(steps, new RegExp(`^SEARCH ${name} USING PRIMARY KEY`));
      }
    });
  });

  it("find a token by its digest, and the events of one object, without the others", async () => {
    await withStore((plan) => {
      assert.match(
        plan(`SELECT * FROM secrets WHERE ${equal(["instanceId", "kind", "digest"])}`),
        /INDEX secrets_instance_id_kind_digest \(instance_id=\? AND kind=\? AND digest=\?\)/,
      );
      const object = equal(["instanceId", "aggregateType", "aggregateId"]);
      for (const order of ["", " order by aggregate_version", " order by sequence"]) {
        assert.match(
          plan(steady(`SELECT * FROM events WHERE ${object}${order}`)),
          /INDEX events_\w+ \(instance_id=\? AND aggregate_type=\? AND aggregate_id=\?\)/,
        );
      }
    });
  });

  it("read a page in the order of an index, without sorting", async () => {
    await withStore((plan, tables) => {
      for (const table of tables) {
        for (const { columns } of table.indexes) {
          const [first, second, third] = columns.map(columnName);
          if (first !== "instance_id" || third !== "id" || columns.length !== 3) continue;
          for (const direction of ["asc", "desc"]) {
            const order = `order by "${second}" ${direction}, "id" ${direction}`;
            const steps = plan(
              steady(
                `SELECT * FROM "${table.name}" WHERE "instance_id" = ? ${order} limit ? offset ?`,
              ),
            );
            assert.ok(steps.includes(indexName(table, columns)), steps);
            assert.ok(!steps.includes("TEMP B-TREE"), steps);
          }
        }
      }
    });
  });

  it("read what an organization has page by page in the order of an index, without sorting", async () => {
    let asked = 0;
    await withStore((plan, tables) => {
      for (const table of tables) {
        for (const { columns } of table.indexes) {
          const [first, second, ...rest] = columns.map((column) => `"${columnName(column)}"`);
          if (second !== '"organization_id"' || rest.length === 0) continue;
          const [order, marks] = [rest.join(", "), rest.map(() => "?").join(", ")];
          for (const later of ["", ` AND (${order}) > (${marks})`]) {
            const where = `${first} = ? AND ${second} = ?${later}`;
            const steps = plan(
              steady(`SELECT * FROM "${table.name}" WHERE ${where} order by ${order} limit ?`),
            );
            assert.ok(steps.includes("organization_id=?"), steps);
            assert.ok(!steps.includes("TEMP B-TREE"), steps);
            asked += 1;
          }
        }
      }
    });
    assert.ok(asked > 20, `${asked} pages`);
  });
});

describe("parameters of statements with an order or a limit", () => {
  it("are hidden from the planner, which would compile anew for each value", () => {
    assert.equal(
      steady(`select * from "t" where "a" = ? and "b" >= ? order by "c" limit ? offset ?`),
      `select * from "t" where "a" = (select ?) and "b" >= (select ?) order by "c" limit (select ?) offset (select ?)`,
    );
    assert.equal(
      steady(`select * from "t" where "a" = ? limit ?`),
      `select * from "t" where "a" = (select ?) limit (select ?)`,
    );
  });
  it("are left alone in lists, in functions, and where there is neither", () => {
    for (const text of [
      `select * from "t" where "a" = ?`,
      `insert into "t" values (?, ?)`,
      `select * from "t" where "a" in (?, ?) and instr("b", ?) > 0 order by "c"`,
    ])
      assert.equal(steady(text), text);
  });
});
