import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import type { Schema } from "../../src/storage/schema.ts";

let starts = 0;
let template: Promise<string> | undefined;

/**
 * Puts a store with the tables of a schema where none is yet, as one that was opened and closed before its first event: a copy of one
 * that a process makes once, as to make the tables takes half of a start. The first start of a process makes them itself.
 *
 * @param schema the same one at each call
 */
export async function copyTables(file: string, schema: Schema): Promise<void> {
  if (existsSync(file) || !existsSync(dirname(file))) return;
  starts += 1;
  if (starts > 1) copyFileSync(await (template ??= makeTemplate(schema)), file);
}

async function makeTemplate(schema: Schema): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-template-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "idsvc.db");
  const store = openSqlite({ path, schema });
  await store.migrate();
  await store[Symbol.asyncDispose]();
  return path;
}
