import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { optionsOf } from "./options.ts";
import { refuseBreakingChanges } from "./breaking.ts";
import { buf, generate } from "./generate.ts";

const root = resolve(import.meta.dirname, "..");

/** One thing that is checked. It fails by throwing. */
type Step = { name: string; cheap?: boolean; run: () => void };

const steps: Step[] = [
  { name: "format", cheap: true, run: () => npm("format:check") },
  { name: "lint", cheap: true, run: () => npm("lint") },
  { name: "types", cheap: true, run: () => npm("types") },
  { name: "generated", cheap: true, run: generatedIsFresh },
  { name: "buf lint", cheap: true, run: () => buf("lint") },
  { name: "buf format", cheap: true, run: () => buf("format", "proto", "--diff", "--exit-code") },
  { name: "buf breaking", cheap: true, run: () => refuseBreakingChanges() },
  { name: "layers", run: () => tests("test/architecture/layers.spec.ts") },
  { name: "tests", run: () => npm("test") },
];

function npm(script: string): void {
  execute("npm", ["run", "--silent", script]);
}

function tests(file: string): void {
  execute(process.execPath, ["--test", file]);
}

function execute(command: string, args: string[]): void {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (error !== undefined) throw error;
  if (status === 0) return;
  throw new Error(`${stdout}${stderr}\n${command} ${args.join(" ")} ended with ${status}`);
}

function generatedIsFresh(): void {
  aside((target) => {
    generate(target);
    const stale = ["gen", "third_party"].flatMap((folder) => {
      const fresh = contents(join(target, folder));
      const committed = contents(join(root, folder));
      return [...new Set([...fresh.keys(), ...committed.keys()])]
        .filter((file) => fresh.get(file) !== committed.get(file))
        .map((file) => `${folder}/${file}`);
    });
    if (stale.length === 0) return;
    const why = "not what proto/ and the packages give: run `npm run generate`";
    throw new Error(`${stale.join("\n")}\n${why}`);
  });
}

function aside(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-check-"));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function contents(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((file) => [relative(folder, file), readFileSync(file, "base64")]));
}

/** Runs the steps in order and prints a line for each; false, after the output of the step, at the first that fails. */
function check(chosen: readonly Step[]): boolean {
  const begun = performance.now();
  for (const { name, run } of chosen) {
    const start = performance.now();
    const line = (outcome: string): void => {
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`${name.padEnd(14)}${seconds.padStart(6)} s  ${outcome}`);
    };
    try {
      run();
      line("ok");
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      line("FAILED");
      return false;
    }
  }
  console.log(
    `${"total".padEnd(14)}${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s`,
  );
  return true;
}

const flags = optionsOf("Format, lint, types, the schema, generated code, layers, and all tests.", {
  cheap: [false, "what takes no more than a minute"],
});
if (!check(steps.filter(({ cheap }) => cheap === true || !flags.cheap))) process.exitCode = 1;
