import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

// `npm test`: all specs on SQLite, then once more on PostgreSQL those that start the service. `--engine` runs one of the
// two; files after it are run instead of all.

const root = resolve(import.meta.dirname, "..");
const hardening = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
const store = join(root, "test/support/app.ts");
const engines = ["sqlite", "postgres"] as const;

const [flag, wanted, ...files] = process.argv.slice(2);
const chosen = flag === "--engine" ? engines.filter((engine) => engine === wanted) : engines;
if (chosen.length === 0) throw new Error(`--engine is one of ${engines.join(", ")}`);

for (const engine of chosen) {
  const specs = files.length > 0 ? files : specsOf(engine);
  console.log(`\n${specs.length} specs on ${engine}`);
  const { status } = spawnSync(
    process.execPath,
    [...hardening, "--test", "--test-concurrency=3", ...specs],
    { cwd: root, stdio: "inherit", env: { ...process.env, IDSVC_TEST_ENGINE: engine } },
  );
  if (status !== 0) process.exit(status ?? 1);
}

function specsOf(engine: (typeof engines)[number]): string[] {
  const all = globSync("test/**/*.spec.ts", { cwd: root }).toSorted();
  return engine === "sqlite" ? all : all.filter((spec) => reaches(join(root, spec), store));
}

/** Whether a file imports another, itself or through others. */
function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from) || !existsSync(from)) return false;
  seen.add(from);
  const imports = readFileSync(from, "utf8").matchAll(/\bfrom "(\.[^"]+)"/g);
  return [...imports].some(([, path = ""]) => reaches(resolve(dirname(from), path), to, seen));
}
