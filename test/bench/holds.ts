// `npm run bench:holds`: how long each kind of call holds the event loop that answers, in processor time, among many users (Q1). The
// service runs in this process and its callers in a thread. Ends with 1 where a hold is longer than it may be. See README.md.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { JsonValue } from "@bufbuild/protobuf";
import { startApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/app/config.ts";
import { growSlowly } from "../../src/cli/heap.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { optionsOf } from "../../.ci/options.ts";
import { freshDatabase } from "../support/postgres.ts";
import { measureHolds } from "../support/loop-holds.ts";
import type { Asked, Told } from "./holds-caller.ts";
import { median } from "./judge.ts";
import { atExit } from "./process.ts";
import { seedUsers } from "./rows-directory.ts";
import { externalUrl, newStore, root } from "./store.ts";

const flags = optionsOf(
  "How long each kind of call holds the event loop that answers, in processor time, among many users.",
  {
    users: ["100000", "how many users"],
    engine: ["sqlite", "`sqlite` or `postgres`"],
    calls: [
      "5",
      "how often each is called; the shortest of the longest holds counts, as the collector is met by chance",
    ],
    only: ["", "a regular expression of row names"],
  },
);
const [users, calls] = [Number(flags.users), Number(flags.calls)];
const api = "/resources/v3alpha";
const metricsToken = "a-token-for-the-metrics-of-the-bench";
const mostMs = 50;
/** For a body of 4 MiB of a caller who is known. */
const mostOfBodyMs = 250;

await using running = new AsyncDisposableStack();
const database = flags.engine === "postgres" ? running.use(await freshDatabase()) : undefined;
const env: Record<string, string> =
  database === undefined ? {} : { IDSVC_DATABASE_URL: database.url };
const store = running.use(await newStore(0, env));
const began = performance.now();
await seedUsers(store, users, Math.min(users, 10_000));
console.log(`${users} users, made in ${Math.round((performance.now() - began) / 1_000)} s`);

const config = loadConfig({
  files: [],
  flags: {},
  env: {
    IDSVC_DATA_DIR: store.dir,
    IDSVC_PORT: "0",
    IDSVC_EXTERNAL_URL: externalUrl,
    IDSVC_RATE_LIMIT: "0",
    IDSVC_METRICS_TOKEN: metricsToken,
    ...env,
  },
});
const kernel = running.use(await openKernel(config, { logger: silentLogger(), serves: true }));
const app = running.use(await startApp(kernel));
// As a start does.
growSlowly();
const caller = new Worker(new URL("./holds-caller.ts", import.meta.url));
running.defer(() => void caller.terminate());

async function ask(method: string, path: string, body?: JsonValue): Promise<string> {
  const asked: Asked = {
    url: `http://localhost:${app.port}${path}`,
    method,
    token: path === "/metrics" ? metricsToken : store.token,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
  caller.postMessage(asked, []);
  const [told] = (await once(caller, "message")) as [Told];
  if (told.status >= 300 || told.status === 0) throw new Error(`${method} ${path}: ${told.text}`);
  return told.text;
}

const search =
  (kind: string, body: JsonValue, query = "query.limit=20") =>
  () =>
    ask("POST", `${api}/${kind}/_search?${query}`, body);
const named = (field: string, name: string, method: string) => [
  { [field]: { name, method: `TEXT_FILTER_METHOD_${method}` } },
];
let turn = 0;
const person = (nth: number) => ({
  username: `made-${nth}`,
  data: { given_name: "Grace", family_name: "Hopper" },
});
/** Lines of an import: another organization each time, and as many users as fill so many bytes. */
function linesOf(bytes: number): string {
  const orgId = `moved-${(turn += 1)}`;
  const lines = [JSON.stringify({ orgId, org: { name: orgId } })];
  for (let [size, nth] = [0, 0]; size < bytes; size += lines.at(-1)?.length ?? 0, nth += 1) {
    const user = {
      userName: `user-${turn}-${nth}`,
      profile: { firstName: "Ada", lastName: `Number ${nth}` },
      email: { email: `user-${nth}@example.test`, isEmailVerified: true },
    };
    lines.push(JSON.stringify({ orgId, humanUsers: [{ userId: `${orgId}-${nth}`, user }] }));
  }
  return lines.join("\n");
}

type Row = { name: string; must: number; work: () => Promise<unknown> };
const row = (name: string, work: () => Promise<unknown>, must = mostMs): Row => ({
  name,
  must,
  work,
});
const rows: Row[] = [
  row("one user", () => ask("GET", `${api}/users/${store.made.machine.user_id}`)),
  row("a page of users", search("users", [])),
  row("the largest page of users", search("users", [], "query.limit=1000")),
  row(
    "a page in the middle, by offset",
    search("users", [], `query.limit=20&query.offset=${users >> 1}`),
  ),
  row(
    "users by the beginning of a name",
    search("users", named("username", "seeded-00001", "STARTS_WITH")),
  ),
  row("users by a part of a name", search("users", named("display_name", "99", "CONTAINS"))),
  row(
    "users by a name that nobody has",
    search("users", named("display_name", "nobody", "CONTAINS_IGNORE_CASE")),
  ),
  row(
    "users by mail, by a part",
    search("users", named("email", "@nowhere.example", "CONTAINS_IGNORE_CASE")),
  ),
  row(
    "users that are not locked, sorted by name",
    search(
      "users",
      [{ not: { state: { state: "USER_STATE_LOCKED" } } }],
      "query.limit=20&sorting_column=USER_FIELD_NAME_DISPLAY_NAME",
    ),
  ),
  row("events by type", search("events", [{ types: { types: ["user.human.added"] } }])),
  row(
    "the largest page of events",
    search(
      "events",
      [{ types: { types: ["user.added", "user.human.added"] } }],
      "query.limit=1000",
    ),
  ),
  row("memberships", search("memberships", [])),
  row("a search over everything", () => ask("POST", `${api}/_search_all`, { q: "seeded-0000" })),
  row("metrics", () => ask("GET", "/metrics")),
  row("a new user with a password", () =>
    ask("POST", `${api}/users`, {
      ...person((turn += 1)),
      authenticators: { password: { password: "correct horse battery staple" } },
    }),
  ),
  row("an export", () => ask("POST", "/management/v1/export", {})),
  row(
    "an import of 4 MiB",
    () => ask("POST", "/management/v1/import?awaitResponse=false", linesOf(4_000_000)),
    mostOfBodyMs,
  ),
  row("a rebuild by the command while the service serves", async () => {
    const command = [join(root, "src/main.js"), "projections", "rebuild"];
    const child = spawn(process.execPath, command, {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, IDSVC_DATA_DIR: store.dir, IDSVC_EXTERNAL_URL: externalUrl, ...env },
    });
    const callOff = atExit(() => child.kill("SIGKILL"));
    const ended = once(child, "exit").finally(callOff);
    while (child.exitCode === null && child.signalCode === null) {
      await ask("GET", `${api}/users/${store.made.machine.user_id}`);
      await search("users", [])();
      await delay(20);
    }
    const [code] = await ended;
    if (code !== 0) throw new Error(`the rebuild ended with ${code}`);
  }),
];

console.log(
  `${"longest hold of each call, ms of the processor".padEnd(52)} ${"least".padStart(8)} ${"median".padStart(8)} ${"must".padStart(6)} ${"clock".padStart(9)}`,
);
for (const { name, must, work } of rows) {
  if (!new RegExp(flags.only).test(name)) continue;
  const held: number[] = [];
  const took: number[] = [];
  // The first time code is compiled.
  await work();
  for (let nth = 0; nth < calls; nth += 1) {
    await delay(50);
    using holds = measureHolds();
    const from = performance.now();
    await work();
    took.push(performance.now() - from);
    held.push(holds.longestMs());
  }
  const least = Math.min(...held);
  const cells = [least, median(held)].map((ms) => ms.toFixed(1).padStart(8));
  const clock = median(took).toFixed(1).padStart(9);
  console.log(`${name.padEnd(52)} ${cells.join(" ")} ${String(must).padStart(6)} ${clock}`);
  if (least > must) process.exitCode = 1;
}
