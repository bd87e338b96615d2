import { type ChildProcess, spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { PassThrough } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { run } from "node:test";
import { spec as reporter, type TestEvent } from "node:test/reporters";
import { Command, Option } from "commander";
import { bundled } from "./bundles.ts";
import { type Cost, costsOf, tableOf } from "./costs.ts";
import { declared, type Engine, engines, root, type Spec, specsOf } from "./specs.ts";

// `npm test`: the specs on SQLite, and those about the store once more on PostgreSQL. `npm run test:long` (`--long`): what is
// left, which kills, waits and copies for long, does things the other of two ways, or starts the service on PostgreSQL for what is
// not about the store.
// `--engine` runs one of the two; files after it are run instead of all. What is red on one engine keeps the other from
// nothing. The last output is what the specs cost, by engine and folder (`IDSVC_TEST_LEDGER` names a file that keeps it by spec),
// and the summary of the test runner, over all.

const cores = availableParallelism();

// Half of the start of a process is to compile the sources.
process.env["NODE_COMPILE_CACHE"] = join(root, "node_modules/.cache/compile");

const folder = temporaryFolder();
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
process.env["TMPDIR"] = folder;
process.env["IDSVC_TEST_KEYS"] = mkdtempSync(join(folder, "keys-"));
const reports = mkdtempSync(join(folder, "reports-"));
const ledger = (process.env["IDSVC_TEST_LEDGER"] ??= join(folder, "costs"));

// Young objects of tests are many and short: with more room for them less is copied (5 % of the processor time).
const nodeFlags = [
  "--max-semi-space-size=32",
  "--disable-proto=throw",
  "--report-on-signal",
  `--report-directory=${reports}`,
  "--report-compact",
  "--report-exclude-env",
  "--report-exclude-network",
  `--import=${new URL("test-process.js", import.meta.url).href}`,
];

const command = new Command(process.env["npm_lifecycle_event"] ?? "test")
  .description("The specs on SQLite, and those about the store once more on PostgreSQL.")
  .argument("[file...]", "specs that are run instead of all")
  .addOption(new Option("--engine <name>", "runs one of the two").choices(engines))
  .option("--long", "what is left, which kills, waits and copies for long", false)
  .parse();
const { args: files } = command;
const asked = command.opts<{ engine?: Engine; long: boolean }>();
const chosen = engines.filter((each) => each === (asked.engine ?? each));
// Processes wait for a part of their time, those of PostgreSQL more than others.
const processes = Math.ceil(cores * (chosen.length > 1 ? 2.5 : 1.5));
// Each file has a run of its own, which listens to the process.
process.setMaxListeners(0);
const timeout = (asked.long ? 60 : 10) * 60_000;
if (asked.long) process.env["IDSVC_TEST_LONG"] = "1";

// The runner's own timeout ends a test and not its process. A process runs for as long as a server is left in it, and
// reports nothing where its event loop stands still. Before that it is asked for a diagnostic report: what it still has open.
const reportBefore = 20_000;
subscribe("child_process", (message) => {
  const { process: child } = message as { process: ChildProcess };
  const ask = setTimeout(() => child.kill("SIGUSR2"), timeout - reportBefore);
  const end = setTimeout(() => {
    console.log(`killed, as it did not end: ${child.spawnargs.at(-1)} (process ${child.pid})`);
    for (const report of globSync(`report.*.${child.pid}.*.json`, { cwd: reports })) {
      console.log(readFileSync(join(reports, report), "utf8"));
    }
    child.kill("SIGKILL");
    // Processes that it has started may keep them open.
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  }, timeout);
  child.once("close", () => {
    clearTimeout(ask);
    clearTimeout(end);
  });
});

// Else each of the specs that open the console first builds its pages, which are there when the first of them asks. A build that
// fails is told by them.
if (files.length === 0)
  spawn(process.execPath, [join(import.meta.dirname, "console.ts")], { stdio: "ignore" });

/** A file of one or several specs, and the engine that it is run on: a process. */
type File = { engine: Engine; path: string };

/**
 * All files in the order in which they begin: of both engines those that take longest, then files with several specs, and the others; of
 * each kind those of the two engines mixed, so that a process of the one waits while one of the other works.
 */
function filesOf(engine: Engine): (File & { order: number })[] {
  const specs = files.length > 0 ? files.map(named) : specsOf(engine, asked.long);
  console.log(`${specs.length} specs on ${engine}`);
  if (files.length > 0)
    return specs.map(({ path }, order) => ({ engine, path: join(root, path), order }));
  const kinds = Map.groupBy(bundled(specs), (path) => Number(basename(path).charAt(0)));
  // The PostgreSQL server that they share ends a moment after the last of them, and says then what it took.
  const part = engine === "postgres" ? 0.6 : 1;
  return [...kinds].flatMap(([kind, paths]) =>
    paths.map((path, at) => ({ engine, path, order: kind + (part * at) / paths.length })),
  );
}

function named(path: string): Spec {
  return { path, says: declared(readFileSync(join(root, path), "utf8"), path) };
}

// The words of the test runner's own summary; `todo` is one of them.
const summary = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/; // its count of tests that say todo

/** A line of what the test runner says at its end. */
const countOf = ({ type, data }: TestEvent): RegExpExecArray | null =>
  type === "test:diagnostic" && data.nesting === 0 ? summary.exec(data.message) : null;

/** Names the engine in the name of a test, which is all that the list of what failed shows. */
function onPostgres(event: TestEvent): TestEvent {
  if (event.data === undefined || !("name" in event.data)) return event;
  const data = { ...event.data, name: `${event.data.name} (on PostgreSQL)` };
  return { ...event, data } as TestEvent;
}

function start({ engine, path }: File): AsyncIterable<TestEvent> {
  return run({
    cwd: root,
    env: { ...process.env, IDSVC_TEST_ENGINE: engine },
    execArgv: nodeFlags,
    timeout,
    files: [path],
  });
}

/**
 * What the test runner reports, and of which engine, file by file in the order in which they began. Whichever of so many processes ends, the next file begins,
 * so that all cores work to the end: the test runner has one environment and one list of files for each of its runs (decision 0376).
 */
async function* eventsByFile(
  all: readonly File[],
  atOnce: number,
): AsyncGenerator<readonly [Engine, TestEvent]> {
  const waiting = all.values();
  const begun = queue<readonly [Engine, AsyncIterable<TestEvent>]>();
  const work = async () => {
    for (const file of waiting) {
      const said = queue<TestEvent>();
      begun.write([file.engine, said]);
      await pipeline(start(file), said);
    }
  };
  const done = Promise.all(Array.from({ length: atOnce }, work)).finally(() => begun.end());
  for await (const [engine, said] of begun) {
    for await (const event of said) yield [engine, event];
  }
  await done;
}

/** What takes all that is written to it, whether somebody reads or not. */
const queue = <T>(): PassThrough & AsyncIterable<T> =>
  new PassThrough({ objectMode: true, highWaterMark: Number.MAX_SAFE_INTEGER });

/**
 * A line about a test that failed, and none about the suites that it is in. The reporter's own list of them is not shown where
 * only the lines before the counts are.
 */
function failureOf(event: TestEvent): string | undefined {
  if (event.type !== "test:fail" || event.data.todo !== undefined) return undefined; // so the runner marks tests that may fail
  const { name, file = "", line, details } = event.data;
  const { failureType, cause, message } = details.error as Error & { failureType?: string };
  if (failureType === "subtestsFailed") return undefined;
  const [reason] = (cause instanceof Error ? cause.message : message).split("\n", 1);
  return `failed: ${relative(root, file)}:${line} ${name}: ${reason}`;
}

/** What the test runner tells of all runs, as if they were one. */
async function* events(): AsyncGenerator<TestEvent> {
  const totals = new Map<string, number>();
  const failures: string[] = [];
  const all = chosen.flatMap(filesOf).toSorted((one, other) => one.order - other.order);
  for await (const [engine, event] of eventsByFile(all, processes)) {
    const [, count, number] = countOf(event) ?? [];
    const shown = engine === "sqlite" ? event : onPostgres(event);
    if (count === undefined) yield shown;
    else totals.set(count, (totals.get(count) ?? 0) + Number(number));
    const failure = failureOf(shown);
    if (failure !== undefined) failures.push(failure);
    if (event.type === "test:fail") process.exitCode = 1;
    if (event.type === "test:summary" && !event.data.success) process.exitCode = 1;
  }
  totals.set("duration_ms", performance.now());
  const counts = [...totals].map(([name, count]) => `${name} ${count}`);
  const costs = files.length > 0 ? [] : tableOf([...costsOf(ledger), ownCost()]);
  for (const message of [...costs, ...failures, ...counts]) {
    yield { type: "test:diagnostic", data: { nesting: 0, message, level: "info" } };
  }
}

/** What telling of all that costs, in the table of costs. */
function ownCost(): Cost {
  const { user, system } = process.cpuUsage();
  const self = (user + system) / 1_000;
  return { engine: "runner", spec: ".ci/test.ts", self, children: 0, wall: performance.now() };
}

const output = new reporter();
output.on("error", (error) => {
  throw error;
});
output.pipe(process.stdout);
for await (const event of events()) if (!output.write(event)) await once(output, "drain");
output.end();
await finished(output);

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
