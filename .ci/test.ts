import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { bundled } from "./bundles.ts";

// `npm test`: the specs on SQLite, then those about the store once more on PostgreSQL. `npm run test:long` (`--long`): what is
// left, which kills, waits and copies for long, or starts the service on PostgreSQL for what is not about the store.
// `--engine` runs one of the two; files after it are run instead of all.

const root = resolve(import.meta.dirname, "..");
const hardening = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
const store = join(root, "test/support/app.ts");
const lasting =
  /^test\/(?:api\/transport-slow|authority\/search-proof|faults\/(?:backup|import-kill|kill|master-key)|executor\/kill|cli\/promote|notify\/claims-kill|resources\/org\/contents-kill)\.spec/;
// How things are stored, found and told.
const ofTheStore =
  /^test\/(?:api\/(?:matrix|owners|replicas)|app|authority|executor\/(?:deliveries|events|replicas)|jobs|login\/(?:password|provider|registration)|management|notify\/(?:domain-claimed|gateways|mail-faults)|oidc\/(?:authorization-code|back-channel|ends|refresh|replicas|store-fails)|projection|resources)/;
const engines = ["sqlite", "postgres"] as const;

// Half of the start of a process is to compile the sources.
const cache = { NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compile") };

const folder = temporaryFolder();
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const isLong = process.argv.includes("--long");
const [flag, wanted, ...files] = process.argv.slice(2).filter((each) => each !== "--long");
const chosen = flag === "--engine" ? engines.filter((engine) => engine === wanted) : engines;
if (chosen.length === 0) throw new Error(`--engine is one of ${engines.join(", ")}`);

for (const engine of chosen) {
  const specs = files.length > 0 ? files : specsOf(engine);
  const processes = files.length > 0 ? files : bundled(specs);
  console.log(`\n${specs.length} specs on ${engine}`);
  const { status } = spawnSync(
    process.execPath,
    // What fails may leave a server behind: its process would never end. A third process would use what two leave while
    // they wait, and take from what F22 measures.
    [...hardening, "--test", "--test-concurrency=2", "--test-timeout=400000", ...processes],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, ...cache, TMPDIR: folder, IDSVC_TEST_ENGINE: engine },
    },
  );
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Where the specs keep their stores: in memory where there is room, as a commit on a disk takes as long as the rest of a
 * call. What a killed process has written is there all the same, and every flush is still asked for.
 */
function temporaryFolder(): string {
  const memory = "/dev/shm";
  const isRoomy = (path: string): boolean => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize >= 2 * 1024 ** 3;
  };
  const parent = existsSync(memory) && isRoomy(memory) ? memory : tmpdir();
  // A run that was killed could not tidy up.
  for (const left of globSync("idsvc-tests-*", { cwd: parent })) {
    const [, , pid = ""] = left.split("-");
    if (!isAlive(Number(pid))) rmSync(join(parent, left), { recursive: true, force: true });
  }
  const path = mkdtempSync(join(parent, `idsvc-tests-${process.pid}-`));
  // PostgreSQL runs as another user.
  chmodSync(path, 0o1777);
  return path;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's is alive too.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function specsOf(engine: (typeof engines)[number]): string[] {
  const all = globSync("test/**/*.spec.ts", { cwd: root }).toSorted();
  if (engine === "sqlite") return all.filter((spec) => lasting.test(spec) === isLong);
  return all.filter(
    (spec) =>
      (ofTheStore.test(spec) && !lasting.test(spec)) !== isLong && reaches(join(root, spec), store),
  );
}

/** Whether a file imports another, itself or through others. */
function reaches(from: string, to: string, seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from) || !existsSync(from)) return false;
  seen.add(from);
  const imports = readFileSync(from, "utf8").matchAll(/\bfrom "(\.[^"]+)"/g);
  return [...imports].some(([, path = ""]) => reaches(resolve(dirname(from), path), to, seen));
}
