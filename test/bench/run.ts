// `npm run bench`: the service beside its peers and floors. See README.md.
import { optionsOf } from "../../.ci/options.ts";
import { gateFailures } from "./judge.ts";
import { fullTiming, measure, type Measured, quickTiming } from "./measure.ts";
import { residentMiB, stolen } from "./process.ts";
import {
  machine,
  type Machine,
  madeRow,
  record,
  rowResult,
  type RowResult,
  table,
} from "./report.ts";
import { passwordRow } from "./password-row.ts";
import { directoryBench } from "./rows-directory.ts";
import { createBench } from "./rows-create.ts";
import { microBench } from "./rows-micro.ts";
import { oidcBench, oidcRows } from "./rows-oidc.ts";
import { executionBench } from "./rows-executions.ts";
import { manyTargets, rpcBench } from "./rows-rpc.ts";
import { searchBench } from "./rows-search.ts";
import { chosen, hello, type RowPlan, type Wanted } from "./rows.ts";
import { startRows } from "./start.ts";
import { newStore, startService } from "./store.ts";

const flags = optionsOf("The service beside its peers and floors.", {
  quick: [false, "shorter measurements"],
  full: [false, "with a million users: to seed them takes minutes"],
  json: [false, "print the results as JSON"],
  record: [false, "write the results down as those of this machine"],
  gate: [false, "end with 1 where a row is worse than was written down"],
  only: ["", "a regular expression of row names, as in goals.json"],
});
const timing = flags.quick ? quickTiming : fullTiming;
const microTime = flags.quick ? { rounds: 2, ms: 200 } : { rounds: 5, ms: 500 };
const only = new RegExp(flags.only);
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
};

type Run = { rows: RowResult[]; machine: Machine; peersReady: string };

async function run(wanted: Wanted): Promise<Run> {
  const before = stolen();
  const measured = new Map<string, Measured>();
  const plans: RowPlan[] = [];
  const extra: RowResult[] = [];
  {
    using store = await newStore(manyTargets);
    const { child } = await startService(store.dir);
    await using service = child;
    await using rpc = await rpcBench(store, service);
    await using create = await createBench(store, service);
    await using search = await searchBench(searches(wanted));
    const all = {
      cases: [...rpc.cases, ...search.cases, ...create.cases],
      rows: [...rpc.rows, ...create.rows, ...search.rows],
    };
    const { cases, rows } = chosen(all, wanted);
    if (rows.length > 0) {
      for (const [name, each] of await measure(cases, timing, progress)) measured.set(name, each);
      const resident = residentMiB(service.pid);
      if (wanted("rss-loaded")) extra.push(madeRow("rss-loaded", resident, { MiB: resident }));
    }
    plans.push(...rows);
  }
  {
    progress("the directory");
    await using directory = await directoryBench(directories(wanted));
    const { cases, rows } = chosen(directory, wanted);
    if (rows.length > 0) {
      for (const [name, each] of await measure(cases, timing, progress)) measured.set(name, each);
    }
    for (const [label, { pid }] of directory.services) {
      const id = `rss-users-${label}`;
      const resident = residentMiB(pid);
      if (wanted(id)) extra.push(madeRow(id, resident, { MiB: resident }));
    }
    plans.push(...rows);
  }
  if (oidcRows.some(({ id }) => wanted(id))) {
    progress("the provider");
    await using provider = await oidcBench(timing.rounds, wanted);
    const { cases, rows } = chosen(provider, wanted);
    for (const [name, each] of await measure(cases, timing, progress)) measured.set(name, each);
    plans.push(...rows);
  }
  if (wanted("executions-stored") || wanted("executions-webhook")) {
    progress("executions");
    await using executions = await executionBench();
    const { cases, rows } = chosen(executions, wanted);
    for (const [name, each] of await measure(cases, timing, progress)) measured.set(name, each);
    plans.push(...rows);
  }
  if (wanted("password-check")) {
    progress("password checks");
    extra.push(await passwordRow(flags.quick ? 2 : 5, flags.quick ? 2 : 4));
  }
  progress("validation and event store");
  const micro = await microBench(wanted, microTime);
  for (const [name, each] of micro.measured) measured.set(name, each);
  plans.push(...micro.rows);
  let peersReady = "";
  if (wanted("start-existing")) {
    progress("start and memory");
    const started = await startRows(flags.quick ? 2 : 7, flags.quick ? 0 : 100_000);
    peersReady = started.peers;
    extra.unshift(...started.rows);
  }
  progress("");
  const where = machine(measured.get(hello)?.rates ?? [], before);
  return {
    rows: [...plans.map((plan) => rowResult(plan, measured)), ...extra],
    machine: where,
    peersReady,
  };
}

function searches(wanted: Wanted) {
  const all = ["first10", "first100", "middle", "name"] as const;
  const kinds = flags.quick ? all.slice(0, 2) : all;
  const sizes = [{ label: "10k", targets: 10_000 }];
  if (!flags.quick) sizes.push({ label: "100k", targets: 100_000 });
  return sizes
    .map((size) => ({
      ...size,
      kinds: kinds.filter((kind) => wanted(`search-${size.label}-${kind}`)),
    }))
    .filter(({ kinds: some }) => some.length > 0);
}

function directories(wanted: Wanted) {
  const ids = ["user-get", "user-search", "user-create", "rss-users"];
  const sizes = [
    { label: "1k", users: 1_000, memberships: 10 },
    { label: "10k", users: 10_000, memberships: 1_000 },
  ];
  if (!flags.quick) sizes.push({ label: "100k", users: 100_000, memberships: 100_000 });
  if (flags.full) sizes.push({ label: "1M", users: 1_000_000, memberships: 100_000 });
  return sizes.filter(({ label }) => ids.some((id) => wanted(`${id}-${label}`)));
}

function print({ rows, machine: where, peersReady }: Run): void {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ machine: where, peersReady, rows })}\n`);
    return;
  }
  process.stdout.write(`${table(rows, where)}\n`);
  if (peersReady !== "") process.stdout.write(`peers ready: ${peersReady}\n`);
}

const runs = [await run((id) => only.test(id))];
const [first] = runs;
if (first !== undefined) {
  print(first);
  if (flags.record) record(first.rows, first.machine);
}
const gradesOf = () =>
  runs.map(({ rows }) => rows.map(({ id, verdict: { grade } }) => ({ id, grade })));
const missed = () =>
  new Set(
    gradesOf()
      .flat()
      .filter(({ grade }) => grade === "missed")
      .map(({ id }) => id),
  );
if (flags.gate) {
  // A miss counts when it comes twice: what was missed is run again, the rest is not.
  while (runs.length < 3 && gateFailures(gradesOf()).length === 0 && missed().size > 0) {
    const again = missed();
    const next = await run((id) => again.has(id));
    print(next);
    runs.push(next);
  }
}
const failed = gradesOf()
  .flat()
  .filter(({ grade }) => grade === "failed")
  .map(({ id }) => id);
const refused = flags.gate ? gateFailures(gradesOf()) : failed;
if (refused.length > 0) process.stderr.write(`bench: ${refused.join(", ")} failed\n`);
process.exitCode = refused.length > 0 ? 1 : 0;
