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
import { parseArgs } from "node:util";
import { type Place, places, root } from "./places.ts";

// `npm run mutate`: puts each fault of places.json into a copy of the tree, one at a time, and runs its spec on SQLite. It is
// caught where the test that is named for it goes red, and every spec must be green without a fault. Ends with 1 below
// the least share. `-- --only src/oidc` tries the places whose file begins so.

const leastShare = 0.95;
const timeout = 5 * 60_000;

const { values: asked } = parseArgs({ options: { only: { type: "string", default: "" } } });
const chosen = places.filter(({ file }) => file.startsWith(asked.only));
if (chosen.length === 0) throw new Error(`no place begins with ${asked.only}`);

const folder = mkdtempSync(join(tmpdir(), "idsvc-mutate-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
copyTree();

const green = run([...new Set(chosen.map(({ spec }) => spec))]);
if (green.status !== 0) throw new Error(`red without a fault:\n${green.stdout.slice(-4_000)}`);

const scores = new Map<string, { caught: number; all: number }>();
for (const place of chosen) {
  const of = place.file.split("/").slice(0, 2).join("/");
  const score = scores.get(of) ?? { caught: 0, all: 0 };
  scores.set(of, score);
  score.all += 1;
  if (isCaught(place)) score.caught += 1;
  else console.log(`not caught: ${place.file}: ${place.find} (${place.spec}: ${place.test})`);
}
for (const [of, { caught, all }] of scores) console.log(`${of}: ${caught} of ${all}`);
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

function isCaught({ file, find, replace, spec, test }: Place): boolean {
  const path = join(folder, file);
  const before = readFileSync(path, "utf8");
  writeFileSync(
    path,
    before.replace(find, () => replace),
  );
  try {
    return run([spec]).stdout.includes(`✖ ${test} (`);
  } finally {
    writeFileSync(path, before);
  }
}

function run(specs: readonly string[]) {
  return spawnSync(process.execPath, [".ci/test.ts", "--engine", "sqlite", ...specs], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout,
  });
}
