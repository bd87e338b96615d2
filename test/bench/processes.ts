// `npm run bench:processes`: the service by one process and by two (IDSVC_PROCESSES), in turn, on either database: requests a second of
// processor time of all its processes together, those of the database left out. By default all run on one core, and the load on the
// other, so that what two processes cost is seen and not what two cores give; with `--cores all` nothing is bound to a core. Beside
// them two services that share nothing: what they lose to each other no two processes can gain. See README.md.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { optionsOf } from "../../.ci/options.ts";
import { freshDatabase, type TestDatabase } from "../support/postgres.ts";
import { rowsOf, type Row, startBuild } from "./builds.ts";
import { median } from "./judge.ts";
import { runLoad } from "./load/load.ts";
import { type Child, cpuSeconds, endedChildrenSeconds, tools } from "./process.ts";
import { root } from "./store.ts";

const flags = optionsOf(
  "The service by one process and by two (IDSVC_PROCESSES): requests a second of processor time of all its processes together.",
  {
    rounds: ["10", "how many rounds"],
    seconds: ["2", "how long each side is measured in a round"],
    connections: [
      "128",
      "so many clients call at once, each the next time when it has its answer; of two processes each has half of them",
    ],
    engine: ["postgres", "`sqlite` or `postgres`"],
    warm: [
      "100000",
      "so many requests of a row each process has answered before that row counts: code is compiled by how often it runs",
    ],
    cores: [
      "one",
      "`one`: the service on one core and the load on another; `all`: both wherever the system runs them",
    ],
    only: ["^(token|introspection|get-target|create-target)$", "a regular expression of row names"],
  },
);
const [rounds, seconds] = [Number(flags.rounds), Number(flags.seconds)];
const warmRequests = Number(flags.warm);
// Shorter than what makes a process give memory back, and with it code (decision 0382).
const warmTurnSeconds = 3;
const connections = Number(flags.connections);
if (flags.cores === "all") tools.taskset = false;

/** At least this part of the rate of one is asked of two (Q2). */
const mustRead = 0.85;
const mustWrite = flags.engine === "postgres" ? 0.75 : mustRead;
const must: Record<string, number> = { token: mustWrite, "create-target": mustWrite };

/** A process, and those that it has started. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return [pid, ...children.split(" ").filter(Boolean).map(Number)];
}

const usedBy = (pid: number): number =>
  familyOf(pid).reduce((sum, each) => sum + cpuSeconds(each), 0);

/**
 * What a row takes by a side: requests a second of its processor time and of the wall clock, microseconds of the database's a
 * request, and the part of all cores that the load itself took.
 */
type Rate = {
  rate: number;
  ofClock: number;
  databaseUs: number;
  load: number;
  requests: number;
};

/** Drives all services of a side at once, with equal parts of the clients. */
async function rateOf({ services }: Side, name: string, lasting: number): Promise<Rate> {
  const used = () => ({
    load: endedChildrenSeconds(),
    at: performance.now() / 1_000,
    ours: services.reduce((sum, { child }) => sum + usedBy(child.pid), 0),
    // All databases of a run are of one server.
    database: services[0]?.server === undefined ? 0 : usedBy(services[0].server),
  });
  const before = used();
  const results = await Promise.all(
    services.map(({ rows }) => {
      const load = rows.find((row) => row.name === name)?.load;
      if (load === undefined) throw new Error(`no row is named ${name}`);
      return runLoad({ ...load, connections: connections / services.length }, lasting);
    }),
  );
  for (const { problem } of results) if (problem !== "") throw new Error(problem);
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const after = used();
  const lasted = after.at - before.at;
  return {
    rate: requests / (after.ours - before.ours),
    ofClock: results.reduce((sum, one) => sum + one.requests / one.seconds, 0),
    load: (after.load - before.load) / lasted / cpus().length,
    databaseUs: ((after.database - before.database) / requests) * 1e6,
    requests,
  };
}

/** The process of PostgreSQL that has started those which serve connections. */
async function serverOf({ execute }: TestDatabase): Promise<number> {
  const { rows } = await execute(
    "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1) AS pid",
  );
  return Number(rows[0].pid);
}

type Service = { child: Child; server: number | undefined; rows: Row[] };
/** @property processes that serve, of all its services */
type Side = { processes: number; services: Service[]; rates: Map<string, Rate[]> };

await using running = new AsyncDisposableStack();

async function startService(processes: number): Promise<Service> {
  const env: Record<string, string> = { IDSVC_PROCESSES: String(processes) };
  let server: number | undefined;
  if (flags.engine === "postgres") {
    const database = running.use(await freshDatabase());
    env["IDSVC_DATABASE_URL"] = database.url;
    server = await serverOf(database);
  }
  const { child, token } = await startBuild(root, env);
  running.use(child);
  return { child, server, rows: await rowsOf(child, token, flags.only) };
}

const sides: Side[] = [];
for (const processes of [[1], [2], [1, 1]]) {
  sides.push({
    processes: processes.reduce((sum, each) => sum + each),
    services: await Promise.all(processes.map(startService)),
    rates: new Map(),
  });
}
const [one, two, apart] = sides;
const names = one?.services[0]?.rows.map(({ name }) => name) ?? [];

/** Drives all sides in turn until each process of each has answered as many requests, those of a side by equal parts of the load. */
async function warmUp(name: string): Promise<void> {
  const left = new Map(sides.map((side) => [side, warmRequests * side.processes]));
  while ([...left.values()].some((requests) => requests > 0)) {
    for (const side of sides) {
      const { requests } = await rateOf(side, name, warmTurnSeconds);
      left.set(side, (left.get(side) ?? 0) - requests);
    }
  }
}

// One row after the other, so that no side pauses for longer than the others have their turns.
for (const name of names) {
  await warmUp(name);
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      side.rates.set(name, [...(side.rates.get(name) ?? []), await rateOf(side, name, seconds)]);
    }
  }
}

const heading = [
  "row",
  "one process",
  "two processes",
  "ratio",
  "must",
  "two services",
  "ratio",
  "db us, one",
  "db us, two",
  "a second, one",
  "a second, two",
  "load %, two",
];
console.log(heading.map((word) => word.padStart(16)).join(""));
for (const name of names) {
  const [alone, shared, separate] = [one, two, apart].map((side) => side?.rates.get(name) ?? []);
  const ratioOf = (side: Rate[] = []): number =>
    median((alone ?? []).map(({ rate }, round) => (side[round]?.rate ?? Number.NaN) / rate));
  const least = must[name] ?? mustRead;
  const ratio = ratioOf(shared);
  const of =
    (what: keyof Rate, times = 1) =>
    (side: Rate[] = []) =>
      median(side.map((rate) => rate[what] * times)).toFixed(0);
  const [rates, ofDatabase, ofClock] = [of("rate"), of("databaseUs"), of("ofClock")];
  const cells = [rates(alone), rates(shared), ratio.toFixed(2), String(least)];
  const line = [name, ...cells, rates(separate), ratioOf(separate).toFixed(2)];
  const onClock = [ofClock(alone), ofClock(shared), of("load", 100)(shared)];
  const all = [...line, ofDatabase(alone), ofDatabase(shared), ...onClock];
  console.log(all.map((cell) => cell.padStart(16)).join(""));
  if (!(ratio >= least)) process.exitCode = 1;
}
