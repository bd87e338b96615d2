// `npm run bench:growth`: rates over 10k, 100k and 1M targets as ratios to 10k.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { rebuildProjections } from "../../src/projection/rebuild.ts";
import { optionsOf } from "../../.ci/options.ts";
import { ratioOf } from "./judge.ts";
import { counterMark, type LoadSpec } from "./load/spec.ts";
import { type BenchCase, fullTiming, measure, type Measured, quickTiming } from "./measure.ts";
import { type Child, residentMiB, stolen } from "./process.ts";
import { machine, machineLine, madeRow, type RowResult } from "./report.ts";
import { callJson, restSpec } from "./requests.ts";
import { newStore, sizeMiB, startService, type Store, withKernel } from "./store.ts";

const flags = optionsOf("Rates over 10k, 100k and 1M targets as ratios to 10k.", {
  max: ["100k", "the most targets: 10k, 100k or 1M"],
  full: [false, "as `--max 1M`"],
  quick: [false, "shorter measurements"],
  json: [false, "print the results as JSON"],
});
const sizes = [10_000, 100_000, 1_000_000];
const nameOf = (targets: number) => (targets < 1e6 ? `${targets / 1000}k` : `${targets / 1e6}M`);
const most = sizes.find((size) => nameOf(size) === (flags.full ? "1M" : flags.max));
assert.ok(most !== undefined, `--max is one of ${sizes.map(nameOf).join(", ")}`);

const kinds = [
  ...(["create", "get", "page", "middle", "after", "total"] as const),
  ...(["name", "sort", "text"] as const),
];
type Kind = (typeof kinds)[number];
const targetsPath = "/resources/v3alpha/targets";

type Place = {
  targets: number;
  store: Store;
  service: Child;
  rebuilt: number;
  readyMs: number;
  idleMiB: number;
};

async function seeded(targets: number): Promise<Place> {
  process.stderr.write(`seeding ${nameOf(targets)}\n`);
  const store = await newStore(targets);
  const rebuilt = await withKernel(store, async (kernel) => {
    let events = 0;
    const started = performance.now();
    const onProgress = (count: number) => void (events = count);
    await rebuildProjections({ ...kernel, onProgress }, kernel.projectionTables);
    return (events / (performance.now() - started)) * 1000;
  });
  const { child: service, readyMs } = await startService(store.dir);
  await delay(1_500);
  return { targets, store, service, rebuilt, readyMs, idleMiB: residentMiB(service.pid) };
}

async function casesOf({ targets, store, service }: Place): Promise<BenchCase[]> {
  const { token } = store;
  const search = (query: string, body: object[] = []) =>
    restSpec(service.port, `POST ${targetsPath}/_search?${query}`, {
      token,
      connections: 16,
      body: body as { name: object }[] as never,
    });
  const page = search("query.limit=100");
  const { result } = await callJson(page);
  const middle = await callJson(search(`query.limit=100&query.offset=${targets / 2}`));
  const first = Object(Array.isArray(result) ? result[0] : undefined);
  const body = { name: `made ${counterMark}`, rest_webhook: { url: "https://example.com/" } };
  const loads: Record<Kind, LoadSpec> = {
    create: restSpec(service.port, `POST ${targetsPath}`, {
      token,
      body,
      counted: true,
      connections: 32,
    }),
    get: restSpec(service.port, `GET ${targetsPath}/${first.details.id}`, { token }),
    page,
    middle: search(`query.limit=100&query.offset=${targets / 2}`),
    after: search(
      `query.limit=100&query.skip_total=true&query.after=${Object(middle["details"]).next}`,
    ),
    name: search("query.limit=10", [
      { name: { name: "seeded 00000123", method: "TEXT_FILTER_METHOD_EQUALS" } },
    ]),
    sort: search("query.limit=100&sorting_column=TARGET_FIELD_NAME_CHANGE_DATE"),
    total: search("query.limit=1"),
    text: search("query.limit=10", [
      { name: { name: "DED 000012", method: "TEXT_FILTER_METHOD_CONTAINS_IGNORE_CASE" } },
    ]),
  };
  return kinds.map((kind) => ({
    name: `${kind} ${nameOf(targets)}`,
    pid: service.pid,
    load: loads[kind],
    verify: async () => {
      const {
        target,
        result: found,
        details,
      } = await callJson(kind === "create" ? page : loads[kind]);
      if (kind === "get") assert.equal(Object(target).details.id, first.details.id);
      else assert.ok(Array.isArray(found) && found.length > 0, "something is found");
      if (kind === "total") assert.ok(Number(Object(details).total_result) >= targets);
    },
  }));
}

/** Rates of one kind over all sizes, as lines that are judged against the smallest. */
function rowsOf(kind: Kind, places: Place[], measured: Map<string, Measured>): RowResult[] {
  const ratesAt = ({ targets }: Place) => {
    const each = measured.get(`${kind} ${nameOf(targets)}`);
    return {
      problem: each?.problem ?? "",
      rates: (kind === "create" ? each?.rates : each?.cpuRates) ?? [],
    };
  };
  const [smallest] = places;
  const base = smallest === undefined ? [] : ratesAt(smallest).rates;
  return places.map((place) => {
    const { rates, problem } = ratesAt(place);
    const middle = rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)] ?? Number.NaN;
    return madeRow(`growth-${kind}`, middle, { "to 10k": ratioOf(rates, base) }, problem);
  });
}

function print(rows: RowResult[][], places: Place[]): void {
  const cells = (values: string[]) => values.map((text) => text.padStart(16)).join("");
  const line = (title: string, values: string[], verdict = "") =>
    process.stdout.write(`${title.padEnd(30)}${cells(values)}  ${verdict}\n`);
  line(
    "growth (per second, to 10k)",
    places.map(({ targets }) => nameOf(targets)),
  );
  for (const row of rows) {
    const texts = row.map(
      ({ service, measures }) => `${service.toFixed(0)} ${(measures["to 10k"] ?? 0).toFixed(3)}`,
    );
    const last = row.at(-1);
    line(last?.title ?? "", texts, last?.verdict.text);
  }
  line(
    "ready (ms)",
    places.map(({ readyMs }) => readyMs.toFixed(0)),
  );
  line(
    "resident idle (MiB)",
    places.map(({ idleMiB }) => idleMiB.toFixed(0)),
  );
  line(
    "resident after load (MiB)",
    places.map(({ service }) => residentMiB(service.pid).toFixed(0)),
  );
  line(
    "database (MiB)",
    places.map(({ store }) => sizeMiB(store).toFixed(0)),
  );
}

const before = stolen();
await using running = new AsyncDisposableStack();
const places: Place[] = [];
for (const targets of sizes.filter((size) => size <= most)) {
  const place = await seeded(targets);
  running.use(place.store);
  running.use(place.service);
  places.push(place);
}
const cases = (await Promise.all(places.map(casesOf))).flat();
const measured = await measure(cases, flags.quick ? quickTiming : fullTiming);
const rows = [
  ...kinds.map((kind) => rowsOf(kind, places, measured)),
  places.map(({ rebuilt }) =>
    madeRow("growth-rebuild", rebuilt, { "to 10k": rebuilt / (places[0]?.rebuilt ?? Number.NaN) }),
  ),
];
const where = machine([], before);
if (flags.json) {
  const facts = places.map(({ targets, rebuilt, readyMs, idleMiB }) => ({
    targets,
    rebuilt,
    readyMs,
    idleMiB,
  }));
  process.stdout.write(`${JSON.stringify({ machine: where, places: facts, rows })}\n`);
} else {
  print(rows, places);
  process.stdout.write(`${machineLine(where)}\n`);
}
const failed = rows.flat().filter(({ verdict }) => verdict.grade === "failed");
for (const { title, verdict } of failed) process.stderr.write(`${title}: ${verdict.text}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
