import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { optionsOf } from "../../.ci/options.ts";
import { type Place, places, root } from "./places.ts";

// `npm run mutate`: puts each fault of places.json into a copy of the tree, one at a time, and runs its spec on the engines that
// it is for. It is caught where the test that is named for it goes red on each of them, and every spec must be green without a
// fault. Ends with 1 below the least share. `-- --only src/oidc` tries the places whose file begins so.

const leastShare = 0.95;
const timeout = 10 * 60_000;

type Engine = "sqlite" | "postgres";
const enginesOf = ({ engine }: Place): readonly Engine[] =>
  engine === "both" ? ["sqlite", "postgres"] : [engine ?? "sqlite"];

const asked = optionsOf(
  "Puts each fault of places.json into a copy of the tree and runs the spec that must go red. Ends with 1 below the least share.",
  {
    only: ["", "places whose file begins so"],
  },
);
const chosen = places.filter(({ file }) => file.startsWith(asked.only));
if (chosen.length === 0) throw new Error(`no place begins with ${asked.only}`);

const folder = mkdtempSync(join(tmpdir(), "idsvc-mutate-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
copyTree();

for (const engine of ["sqlite", "postgres"] as const) {
  const specs = new Set(
    chosen.filter((place) => enginesOf(place).includes(engine)).map(({ spec }) => spec),
  );
  const green = specs.size === 0 ? undefined : run([...specs], engine);
  if (green !== undefined && green.status !== 0)
    throw new Error(`red on ${engine} without a fault:\n${green.stdout.slice(-4_000)}`);
}

const scores = new Map<string, { caught: number; all: number }>();
for (const place of chosen) {
  const of = place.file.split("/").slice(0, 2).join("/");
  const score = scores.get(of) ?? { caught: 0, all: 0 };
  scores.set(of, score);
  score.all += 1;
  const missedOn = withFault(place, () =>
    enginesOf(place).filter((engine) => !isRed(place, engine)),
  );
  if (missedOn.length === 0) score.caught += 1;
  else {
    const where = `${place.file}: ${place.find.trim()}`;
    console.log(`not caught on ${missedOn.join(", ")}: ${where} (${place.spec}: ${place.test})`);
  }
}
for (const [of, { caught, all }] of [...scores].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${of}: ${caught} of ${all}`);
const caught = [...scores.values()].reduce((sum, score) => sum + score.caught, 0);
console.log(`all: ${caught} of ${chosen.length}`);
process.exitCode = caught / chosen.length < leastShare ? 1 : 0;

function copyTree(): void {
  const { stdout } = spawnSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  for (const file of stdout.split("\0").filter((each) => each !== "")) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

function withFault<T>({ file, find, replace }: Place, work: () => T): T {
  const path = join(folder, file);
  const before = readFileSync(path, "utf8");
  writeFileSync(
    path,
    before.replace(find, () => replace),
  );
  try {
    return work();
  } finally {
    writeFileSync(path, before);
  }
}

function isRed({ spec, test }: Place, engine: Engine): boolean {
  const named = engine === "postgres" ? `${test} (on PostgreSQL)` : test;
  return run([spec], engine).stdout.includes(`✖ ${named} (`);
}

function run(specs: readonly string[], engine: Engine) {
  return spawnSync(process.execPath, [".ci/test.ts", "--engine", engine, ...specs], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout,
  });
}
