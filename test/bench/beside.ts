// `npm run bench:beside`: how long introspection takes at a steady rate, quiet and beside what may hold it up (Q2): one client that
// searches among many users, or clients that write to a disk that is slow to flush. Beside both, what a process costs that only
// keeps a core busy, and on PostgreSQL what the same searches cost that another process makes. Nothing is bound to a core. See README.md.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { flushesIn, watchedBy } from "../faults/flush-watch.ts";
import type { JsonValue } from "@bufbuild/protobuf";
import { optionsOf } from "../../.ci/options.ts";
import { freshDatabase } from "../support/postgres.ts";
import { rowsOf } from "./builds.ts";
import { median, ratioOf } from "./judge.ts";
import { type LeanClient, leanClient } from "./lean-client.ts";
import { generatorOf, runLoad } from "./load/load.ts";
import type { LoadResult, LoadSpec } from "./load/spec.ts";
import { atExit, type Child, tools } from "./process.ts";
import { restSpec } from "./requests.ts";
import { seedUsers } from "./rows-directory.ts";
import { newStore, startService } from "./store.ts";

const flags = optionsOf(
  "How long introspection takes at a steady rate, quiet and beside what may hold it up.",
  {
    users: ["100000", "among how many users is searched"],
    engine: ["sqlite", "`sqlite` or `postgres`"],
    rate: ["1000", "introspections a second"],
    rounds: ["5", "how many rounds"],
    seconds: ["8", "how long each side is measured in a round"],
    flush: [
      "",
      "SQLite: write to a disk that takes so many milliseconds to flush, in the place of searching",
    ],
  },
);
const [rounds, seconds] = [Number(flags.rounds), Number(flags.seconds)];
const writes = flags.flush !== "";
if (writes && flags.engine === "postgres") throw new Error("--flush is for SQLite");
/** Beside a busy core the calls of a generator that has just started are the slow ones: its own code is compiled then (0341). */
const warmUpSeconds = 2;
/** The p99 is at most so many times the quiet one (Q2). */
const most = 2;
const writers = 8;
/** First the service runs as one that has run for long: code is compiled with so many times the writing clients and introspections (0401). */
const warmUp = { writers: 12, introspections: 3, seconds: 12 };
const besideName = writes ? "beside writes" : "beside searches";
tools.taskset = false;

await using running = new AsyncDisposableStack();
const database = flags.engine === "postgres" ? running.use(await freshDatabase()) : undefined;
const onDatabase: Record<string, string> =
  database === undefined ? {} : { IDSVC_DATABASE_URL: database.url };
const store = running.use(await newStore(0, onDatabase));
const users = Number(flags.users);
await seedUsers(store, users, Math.min(users, 10_000));
const flushes = join(store.dir, "flushes");
const { imports, env } = watchedBy(flushes, { takesMs: Number(flags.flush) });
const slowDisk = {
  ...env,
  NODE_OPTIONS: [process.env["NODE_OPTIONS"] ?? "", ...imports.map((each) => `--import=${each}`)]
    .join(" ")
    .trim(),
};
const startOne = async (): Promise<Child> => {
  const set = { IDSVC_RATE_LIMIT: "0", ...onDatabase, ...(writes ? slowDisk : {}) };
  return running.use((await startService(store.dir, { env: set })).child);
};
const child = await startOne();
/** What searches of another process cost is what the database takes of the machine. */
const replica = database === undefined ? undefined : await startOne();
const api = "/resources/v3alpha";
const [row] = await rowsOf(child, store.token, "^introspection$");
if (row === undefined) throw new Error("no row is named introspection");
const load = { ...row.load, perSecond: Number(flags.rate), warmUpSeconds } as LoadSpec;

let done = 0;
const request = (port: number, path: string, body: JsonValue) =>
  restSpec(port, `POST ${api}/${path}`, { token: store.token, body });
async function search({ send }: LeanClient, port: number): Promise<void> {
  await send(request(port, "_search_all", { q: `seeded-${done}` }));
  const name = { name: "99", method: "TEXT_FILTER_METHOD_CONTAINS" };
  await send(request(port, "users/_search?query.limit=20", [{ display_name: name }]));
  done += 2;
}
async function write({ send }: LeanClient, port: number): Promise<void> {
  const name = `made ${done} ${Math.random()}`;
  await send(request(port, "targets", { name, rest_webhook: { url: "https://example.com/" } }));
  done += 1;
}

/** So many clients do it over and over, until what is returned is called. */
function clients(
  count: number,
  work: (client: LeanClient, port: number) => Promise<void>,
  { port } = child,
) {
  let isOver = false;
  const loops = Array.from({ length: count }, async () => {
    using client = await leanClient(port);
    while (!isOver) await work(client, port);
  });
  return async () => {
    isOver = true;
    await Promise.all(loops);
  };
}
const busyCore = () => {
  const spinning = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
  const callOff = atExit(() => spinning.kill("SIGKILL"));
  return async () => {
    callOff();
    spinning.kill("SIGKILL");
  };
};
const besides = (times = 1): (() => Promise<void>) =>
  writes ? clients(times * writers, write) : clients(1, search);
const kinds: { name: string; begin: () => () => Promise<void> }[] = [
  { name: "quiet", begin: () => async () => {} },
  { name: besideName, begin: () => besides() },
  { name: "beside a busy core", begin: busyCore },
  ...(replica === undefined
    ? []
    : [{ name: "beside a replica's", begin: () => clients(1, search, replica) }]),
];

/** How long the thread that answers had work to do and no core to do it on, in milliseconds; Linux tells. */
function waitedForCore(): number {
  const [, ns] = readFileSync(`/proc/${child.pid}/schedstat`, "utf8").split(" ");
  return Number(ns) / 1e6;
}

type Found = Pick<LoadResult, "p50" | "p99"> & { waited: number; done: number };
const stopWarmUp = besides(warmUp.writers);
await runLoad({ ...load, perSecond: warmUp.introspections * Number(flags.rate) }, warmUp.seconds);
await stopWarmUp();
const found = new Map(kinds.map(({ name }): [string, Found[]] => [name, []]));
for (let round = -1; round < rounds; round++) {
  for (const { name, begin } of kinds) {
    const stop = begin();
    const [before, doneBefore] = [waitedForCore(), done];
    const { p50, p99, problem } = await runLoad(load, seconds);
    const [waited, answered] = [waitedForCore() - before, done - doneBefore];
    await stop();
    if (problem !== "") throw new Error(problem);
    // One round to warm up.
    if (round >= 0) found.get(name)?.push({ p50, p99, waited, done: answered });
  }
}

const lasts = warmUpSeconds + seconds;
const of = (name: string, what: (one: Found) => number) =>
  median((found.get(name) ?? []).map(what));
console.log(
  `${flags.rate} introspections a second (${generatorOf(load)}), ${users} users, ms, medians of ${rounds} rounds`,
);
console.log(
  `${"".padEnd(20)} ${"p50".padStart(6)} ${"p99".padStart(6)} ${"to quiet".padStart(9)} ${"no core, ms a second".padStart(21)} ${"besides, a second".padStart(18)}`,
);
const p99sOf = (name: string) => (found.get(name) ?? []).map(({ p99 }) => p99);
const toQuiet = (name: string): number => ratioOf(p99sOf(name), p99sOf("quiet"));
for (const { name } of kinds) {
  const cells = [
    of(name, ({ p50 }) => p50)
      .toFixed(2)
      .padStart(6),
    median(p99sOf(name)).toFixed(2).padStart(6),
    toQuiet(name).toFixed(2).padStart(9),
    (of(name, ({ waited }) => waited) / lasts).toFixed(0).padStart(21),
    (of(name, (one) => one.done) / lasts).toFixed(1).padStart(18),
  ];
  console.log(`${name.padEnd(20)} ${cells.join(" ")}`);
}
if (writes && flushesIn(flushes).commits === 0) throw new Error("nothing was flushed");
if (toQuiet(besideName) > most) {
  console.log(`missed: ${besideName} p99 is at most ${most} times the quiet one`);
  process.exitCode = 1;
}
