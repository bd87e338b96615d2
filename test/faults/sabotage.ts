import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, relative, resolve } from "node:path";

/** What is wrong with a service that was sabotaged: texts of its sources, and what stands in their place. */
export type Sabotage = readonly { file: string; find: string; replace: string }[];

const root = resolve(import.meta.dirname, "../..");

/** Sabotages by name. The faults of this folder must find each of them (`sabotage.spec.ts`). */
export const sabotages = {
  "SQLite acknowledges before it commits": [
    {
      file: "src/storage/sqlite/apply.ts",
      find: "    const began = performance.now();\n",
      replace: "    late?.();\n    const began = performance.now();\n",
    },
    {
      file: "src/storage/sqlite/apply.ts",
      find: "      end.run();\n",
      // A batch is done a second after it was acknowledged, or before the next one. A unit alone is done at once, as those of the first start are.
      replace: `      if (units.length === 1) end.run();
      else {
        rollback.run();
        late = () => {
          late = undefined;
          begin.run();
          heads.clear();
          applyEach(units);
          heads.write();
          end.run();
        };
        setTimeout(() => late?.(), 1_000);
      }
`,
    },
    {
      file: "src/storage/sqlite/apply.ts",
      find: "  let isBroken = false;\n",
      replace: "  let isBroken = false;\n  let late;\n",
    },
    {
      // A batch every 50 ms: for most of that time the last one is acknowledged and not done, however busy the machine is.
      file: "src/storage/sqlite/group-commit.ts",
      find: "setImmediate(flushWhenQuiet)",
      replace: "setTimeout(flush, 50)",
    },
  ],
  "PostgreSQL acknowledges before it commits": [
    {
      file: "src/storage/postgres/writer.ts",
      find: "    const { rows } = await client.query<[BatchResult]>({",
      replace: `    await client.query("BEGIN");
    const { rows } = await client.query<[BatchResult]>({`,
    },
    {
      file: "src/storage/postgres/writer.ts",
      find: "    client.release();\n    const [[results] = []] = rows;",
      replace: `    const released = () => client.release();
    setTimeout(() => void client.query("COMMIT").then(released, released), 150);
    const [[results] = []] = rows;`,
    },
    {
      file: "src/storage/postgres/writer.ts",
      find: "      client.release(serverError(error)?.code === readOnly);\n",
      // With the connection ends what was begun and refused.
      replace: "      client.release(true);\n",
    },
  ],
  "PostgreSQL does not flush": [
    {
      file: "src/storage/postgres/writer.ts",
      find: "SELECT ${appendFunction}($1, $2, $3, $4)",
      replace: `SELECT CASE WHEN set_config('synchronous_commit', 'off', true) = 'off' THEN \${appendFunction}($1, $2, $3, $4) END`,
    },
  ],
  "rows of projections are dropped": [
    {
      file: "src/eventstore/assemble.ts",
      find: "      rows.push(...parts.catalog.reduce(recorded));",
      // Of what the first start makes all rows are there, or nobody could write anything.
      replace: `      if (recorded.type !== "target.added") rows.push(...parts.catalog.reduce(recorded));`,
    },
  ],
  "SQLite does not flush": [
    {
      file: "src/storage/sqlite/open.ts",
      find: "synchronous = FULL",
      replace: "synchronous = NORMAL",
    },
  ],
  "SQLite writes on after a flush that failed": [
    {
      file: "src/storage/sqlite/group-commit.ts",
      find: "      return giveUp(outcome.error);\n",
      replace: "      return;\n",
    },
    {
      file: "src/storage/sqlite/apply.ts",
      find: "      isBroken = true;\n",
      replace: "",
    },
  ],
  "a lost answer is taken for never happened": [
    {
      file: "src/storage/postgres/outcome.ts",
      find: 'return row.results === null ? "void" : { results: row.results };',
      replace: 'return "void";',
    },
  ],
  "the feed drops events": [
    {
      file: "src/resources/event/watch.ts",
      find: "      yield message;\n",
      replace: "      if (message.init.sequence % 5n !== 0n) yield message;\n",
    },
  ],
  "codes count twice": [
    {
      file: "src/oidc/store/spend.ts",
      find: "  tx.expectRows(table, isUnused, 1);\n",
      replace: "",
    },
  ],
} as const satisfies Record<string, Sabotage>;

export type SabotageName = keyof typeof sabotages;

const chosen = process.env["SABOTAGE"];

/** What a process needs to be sabotaged: this very file is imported before the service. */
export const sabotagedBy = (name: SabotageName) => ({
  imports: [import.meta.filename],
  env: { SABOTAGE: name },
});

// Imported by the process that is to be sabotaged; the sources on the disk stay as they are.
if (chosen !== undefined) sabotage(sabotages[chosen as SabotageName]);

function sabotage(edits: Sabotage): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const path = relative(root, URL.parse(url)?.pathname ?? "");
      if (edits.every(({ file }) => file !== path)) return loaded;
      return { ...loaded, source: sabotaged(path, String(loaded.source), edits) };
    },
  });
}

/**
 * The source of a file after those edits that are of it.
 *
 * @throws Error where it does not have each text once
 */
function sabotaged(path: string, source: string, edits: Sabotage): string {
  const own = edits.filter(({ file }) => file === path);
  return own.reduce((text, { find, replace }) => {
    if (text.split(find).length !== 2)
      throw new Error(`${path} is not as its sabotage expects: ${find}`);
    return text.replace(find, () => replace);
  }, source);
}

/** @throws Error where the sources do not have the texts that a sabotage replaces */
export function requireTexts(name: SabotageName): void {
  const edits: Sabotage = sabotages[name];
  for (const path of new Set(edits.map(({ file }) => file)))
    sabotaged(path, readFileSync(join(root, path), "utf8"), edits);
}
