// `npm run bench:append`: durable commits a second and their p99, on both engines, beside the same statements sent by the bare
// driver in the same run; on PostgreSQL also of two replicas, and on many instances instead of one.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import pg from "pg";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { createIdSource } from "../../src/crypto/ids.ts";
import { targets } from "../../src/resources/action/target/target.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { databaseUrl, type Engine, openArena, type Store } from "../faults/store.ts";
import { optionsOf } from "../../.ci/options.ts";
import { openRaw, rawStore } from "./raw-append.ts";
import { targetConfig, writer } from "./store.ts";

const flags = optionsOf(
  "Durable commits a second and their p99, beside the same statements sent by the bare driver.",
  {
    engine: ["", "`sqlite` or `postgres`; both, when it is left out"],
    seconds: ["3", "how long each side is measured in a round"],
    rounds: ["3", "how many rounds"],
  },
);
const seconds = Number(flags.seconds);
const rounds = Number(flags.rounds);
const manyInstances = 8;

type Work = { place: Store["place"]; writers: number; instances: number; raw: boolean };
type Done = { count: number; p99: number };
type Measured = { rate: number; p99: number };

/** Writers that go on for the time, each with one unit at a time. */
async function repeat(writers: number, one: (writer: number) => Promise<void>): Promise<Done> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1_000;
  await Promise.all(
    Array.from({ length: writers }, async (_, at) => {
      while (performance.now() < end) {
        const start = performance.now();
        await one(at);
        times.push(performance.now() - start);
      }
    }),
  );
  times.sort((a, b) => a - b);
  return { count: times.length, p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

const newId = createIdSource();

async function byTheService({ place, writers, instances }: Work): Promise<Done> {
  const env = { IDSVC_DATA_DIR: place.dataDir, ...place.env };
  const config = loadConfig({ files: [], flags: {}, env });
  await using kernel = await openKernel(config, { logger: silentLogger() });
  return await repeat(writers, async (at) => {
    const instanceId = `bench-${at % instances}`;
    await kernel.events.transact(writer(instanceId), async (tx) => {
      const loaded = await tx.load(targets.aggregate, newId());
      const made = targets.add(loaded.state, targetConfig(`made ${newId()}`));
      tx.record(targets.aggregate, loaded, made, { type: "instance", id: instanceId });
    });
  });
}

async function byTheDriver(work: Work): Promise<Done> {
  const { place, writers, instances } = work;
  if (place.env?.["IDSVC_DATABASE_URL"] === undefined) {
    const db = openRaw(join(place.dataDir, "idsvc.db"));
    const stores = Array.from({ length: instances }, (_, at) => rawStore(db, `bench-${at}`));
    const done = await repeat(writers, async (at) => {
      stores[at % instances]?.each(`made ${newId()}`);
      await new Promise(setImmediate);
    });
    db.close();
    return done;
  }
  const connectionString = databaseUrl(place);
  const clients = Array.from({ length: writers }, () => new pg.Client({ connectionString }));
  await Promise.all(clients.map((client) => client.connect()));
  const done = await repeat(writers, async (at) => {
    const client = clients[at];
    if (client !== undefined) await appendByHand(client, `bench-${at % instances}`);
  });
  await Promise.all(clients.map((client) => client.end()));
  return done;
}

/** What one creation of a target writes, a statement at a time, the row that orders an instance last. */
async function appendByHand(client: pg.Client, instance: string): Promise<void> {
  const [id, now] = [newId(), Date.now()];
  const name = `made ${id}`;
  const run = (named: string, text: string, values: unknown[]) =>
    client.query({ name: named, text, values });
  await client.query("BEGIN");
  await run(
    "stream",
    "SELECT * FROM events WHERE instance_id = $1 AND aggregate_type = $2 AND aggregate_id = $3 ORDER BY aggregate_version",
    [instance, "target", id],
  );
  await run(
    "claim",
    "INSERT INTO claims (scope, kind, value, holder_type, holder_id) VALUES ($1, $2, $3, $4, $5)",
    [instance, "target.name", name, "target", id],
  );
  const { rows } = await run(
    "draw",
    `INSERT INTO sequences (instance_id, last, changed_at) VALUES ($1, 1, $2)
     ON CONFLICT (instance_id) DO UPDATE SET last = sequences.last + 1 RETURNING last`,
    [instance, now],
  );
  const sequence = rows[0]?.last;
  const payload = JSON.stringify(targetConfig(name));
  await run(
    "event",
    `INSERT INTO events (instance_id, sequence, aggregate_type, aggregate_id, aggregate_version, type, revision, payload,
       owner_type, owner_id, editor_id, service, client_id, request_id, created_at)
     VALUES ($1, $2, 'target', $3, 1, 'target.added', 1, $4, 'instance', $1, 'bench', 'bench', '', 'bench', $5)`,
    [instance, sequence, id, payload, now],
  );
  await run(
    "row",
    `INSERT INTO targets (instance_id, id, sequence, creation_date, change_date, name, kind, url, timeout_ms, is_async,
       interrupt_on_error, payload_secrets, name_folded)
     VALUES ($1, $2, $3, $4, $4, $5, 'rest_webhook', 'https://hooks.example.com/audit', 10000, false, true, false, $5)`,
    [instance, id, sequence, now, name],
  );
  await client.query("COMMIT");
}

/** The same work in so many processes at once: commits a second of all, and the worst p99. */
async function measure(work: Work, processes: number): Promise<Measured> {
  const writers = work.writers / processes;
  const children = Array.from({ length: processes }, () =>
    fork(import.meta.filename, process.argv.slice(2)),
  );
  const done = children.map(async (child) => {
    child.send({ ...work, writers });
    const [told] = (await once(child, "message")) as [Done];
    await once(child, "exit");
    return told;
  });
  const all = await Promise.all(done);
  const count = all.reduce((sum, each) => sum + each.count, 0);
  return { rate: count / seconds, p99: Math.max(...all.map(({ p99 }) => p99)) };
}

const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

async function compare(engine: Engine, store: Store): Promise<void> {
  const { place } = store;
  const cases: [title: string, work: Omit<Work, "place" | "raw">, processes: number][] = [
    ["1 writer", { writers: 1, instances: 1 }, 1],
    ["16 writers", { writers: 16, instances: 1 }, 1],
    [`16 writers on ${manyInstances} instances`, { writers: 16, instances: manyInstances }, 1],
  ];
  if (engine === "postgres") {
    cases.push(["16 writers at 2 replicas", { writers: 16, instances: 1 }, 2]);
    cases.push([
      `16 writers at 2 replicas on ${manyInstances} instances`,
      { writers: 16, instances: manyInstances },
      2,
    ]);
  }
  for (const [title, work, processes] of cases) {
    const own: Measured[] = [];
    const raw: Measured[] = [];
    // In turn, so that both see the same disk.
    for (let round = 0; round < rounds; round++) {
      own.push(await measure({ ...work, place, raw: false }, processes));
      raw.push(await measure({ ...work, place, raw: true }, processes));
    }
    const rates = [own, raw].map((side) => median(side.map(({ rate }) => rate)));
    const p99s = [own, raw].map((side) => median(side.map(({ p99 }) => p99)));
    const ratio = median(own.map(({ rate }, at) => rate / (raw[at]?.rate ?? Number.NaN)));
    const cells = [
      ...rates.map((rate) => rate.toFixed(0)),
      ratio.toFixed(2),
      ...p99s.map((p99) => p99.toFixed(1)),
    ];
    process.stdout.write(
      `${engine.padEnd(9)} ${title.padEnd(40)} ${cells.map((cell) => cell.padStart(9)).join(" ")}\n`,
    );
  }
}

async function main(): Promise<void> {
  process.stdout.write(
    `${"engine".padEnd(50)}  commits/s       raw     ratio  p99 ms    raw p99\n`,
  );
  for (const engine of ["sqlite", "postgres"] as const) {
    if (flags.engine !== "" && flags.engine !== engine) continue;
    await using arena = await openArena(engine);
    await using store = await arena.newStore();
    const { place } = store;
    const env = { IDSVC_DATA_DIR: place.dataDir, ...place.env };
    const config = loadConfig({ files: [], flags: {}, env });
    await using kernel = await openKernel(config, { logger: silentLogger() });
    await bootstrap(kernel);
    await compare(engine, store);
  }
}

if (process.send === undefined) {
  await main();
} else {
  const [work] = (await once(process, "message")) as [Work];
  const done = work.raw ? await byTheDriver(work) : await byTheService(work);
  process.send(done);
  process.disconnect();
}
