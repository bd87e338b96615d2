import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "..");

/**
 * What the first line of a spec may say of how it is run, `// Run: shared, store`:
 * - `shared`: in one process with others of its folder, one after the other, as to load the service takes longer than most
 *   specs do; or
 * - `alone`: it stops things, fills things, watches the process, or keeps it for long;
 * - `store`: it is about how things are stored, found and told, and sends the database what no other does, or races, so `npm test`
 *   runs it on PostgreSQL too (decision 0347);
 * - `long`: it kills, waits or copies for long, so only `npm run test:long` runs it;
 * - `turns`: it does each thing one of two ways, or some of all things, and `npm run test:long` runs it again, for the rest
 *   (`test/support/turns.ts`);
 * - `early`: it takes longest, so it begins first, and is not left for the end while a core has nothing to do;
 * - `browser`: it opens Chromium, so it shares a process, and with it a Chromium, with a few others that do;
 * - `costly`: what a hash of a password is or costs matters to it, so they are made as the service makes them (`test-process.js`).
 */
export const words = [
  "shared",
  "alone",
  "store",
  "long",
  "turns",
  "early",
  "browser",
  "costly",
] as const;
export type Word = (typeof words)[number];
export type Spec = { path: string; says: ReadonlySet<Word> };

export const engines = ["sqlite", "postgres"] as const;
export type Engine = (typeof engines)[number];

const store = join(root, "test/support/app.ts");

/** All specs. @throws when one does not say how it is run, so that none is lost by a slip of the pen */
export const allSpecs = (): Spec[] =>
  globSync("test/**/*.spec.ts", { cwd: root })
    .toSorted()
    .map((path) => ({ path, says: declared(readFileSync(join(root, path), "utf8"), path) }));

/** What the text of a spec says in its first line. */
export function declared(text: string, path: string): ReadonlySet<Word> {
  const wrong = (what: string) =>
    new Error(`${path}: ${what}; its first line says how it is run (.ci/specs.ts)`);
  const [, said] = /^\/\/ Run: ([a-z, ]+)\r?\n/.exec(text) ?? [];
  if (said === undefined) throw wrong("does not begin with “// Run: …”");
  const says = new Set<Word>();
  for (const each of said.split(", ")) {
    const word = words.find((one) => one === each);
    if (word === undefined) throw wrong(`“${each}” is none of ${words.join(", ")}`);
    if (says.has(word)) throw wrong(`says “${word}” twice`);
    says.add(word);
  }
  if (says.has("shared") === says.has("alone")) throw wrong("is either shared or alone");
  return says;
}

/** Which specs one of the two runs on an engine. */
export function specsOf(engine: Engine, isLong: boolean, all = allSpecs()): Spec[] {
  if (engine === "sqlite")
    return all.filter(({ says }) => says.has("long") === isLong || (isLong && says.has("turns")));
  return all.filter(
    ({ path, says }) =>
      (says.has("store") && !says.has("long")) !== isLong && reaches(join(root, path), store),
  );
}

/** Whether a file imports another, itself or through others. */
function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return importsOf(from).some((path) => reaches(path, to, seen));
}

const known = new Map<string, string[]>();

function importsOf(file: string): string[] {
  let imports = known.get(file);
  if (imports === undefined) {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const named = text.matchAll(/\bfrom "(\.[^"]+)"/g);
    known.set(file, (imports = [...named].map(([, path = ""]) => resolve(dirname(file), path))));
  }
  return imports;
}
