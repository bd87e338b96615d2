// `npm run bench:import`: users imported a second, with and without hashes, on both engines, beside the same rows inserted raw;
// memory meanwhile, and what it costs those who introspect.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beginImport, rssMb } from "../faults/import-kill.ts";
import { type Running, startServer } from "../faults/server.ts";
import { databaseUrl, openArena, query, type Engine, type Store, token } from "../faults/store.ts";
import { optionsOf } from "../../.ci/options.ts";
import { openRaw } from "./raw-append.ts";
import { printVerdict } from "./report.ts";

const flags = optionsOf(
  "Users imported a second, with and without hashes, beside the same rows inserted raw.",
  {
    users: [
      "20000",
      "how many users; of fewer the first second, in which code is compiled, is most of what is measured",
    ],
    engine: ["", "`sqlite` or `postgres`; both, when it is left out"],
  },
);
const users = Number(flags.users);
const usersABatch = 100;
const introspectors = 4;
const idleMs = 3_000;
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

type Client = { clientId: string; secret: string };

async function addClient({ url }: Running): Promise<Client> {
  const post = async (path: string, body: object) => {
    const sent = { method: "POST", headers, body: JSON.stringify(body) };
    return Object(await (await fetch(`${url}/resources/v3alpha${path}`, sent)).json());
  };
  const { details } = await post("/projects", { name: "Bench" });
  const api = { auth_method_type: "API_AUTH_METHOD_TYPE_BASIC" };
  const made = await post("/apps", { name: "API", project_id: details.id, api });
  return { clientId: String(made.client_id), secret: String(made.client_secret) };
}

/** Introspects until it is stopped, and gives the p99 in milliseconds. */
function introspect({ url }: Running, { clientId, secret }: Client) {
  const times: number[] = [];
  let isOver = false;
  const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}`;
  const one = async () => {
    while (!isOver) {
      const from = performance.now();
      const body = new URLSearchParams({ token });
      const answer = await fetch(`${url}/oauth/v2/introspect`, {
        method: "POST",
        headers: { authorization },
        body,
      });
      if (answer.status !== 200) throw new Error(await answer.text());
      await answer.arrayBuffer();
      times.push(performance.now() - from);
      await delay(5);
    }
  };
  const running = Array.from({ length: introspectors }, one);
  return async (): Promise<number> => {
    isOver = true;
    await Promise.all(running);
    times.sort((a, b) => a - b);
    return times[Math.floor(times.length * 0.99)] ?? 0;
  };
}

/**
 * Imports, and gives the seconds from the stored body to the last record, and the highest memory in MB.
 *
 * @param from the number of the first user, so that a second import brings others
 */
async function timeImport(server: Running, withHash: boolean, first: number) {
  const id = await beginImport(server.url, users, "", withHash, first);
  const from = performance.now();
  for (let highestMb = 0; ; await delay(50)) {
    const answer = await fetch(`${server.url}/management/v1/import/${id}`, { headers });
    const { job } = Object(await answer.json());
    highestMb = Math.max(highestMb, await rssMb(server.pid));
    if (job.state === "IMPORT_STATE_RUNNING") continue;
    if (job.created !== String(first === 0 ? users + 1 : users))
      throw new Error(JSON.stringify(job));
    return { seconds: (performance.now() - from) / 1_000, highestMb };
  }
}

/** The seconds that the rows of one store take when they are inserted into another, so many users a transaction. */
async function timeRaw(engine: Engine, from: Store, to: Store): Promise<number> {
  return engine === "sqlite" ? rawSqlite(from, to) : await rawPostgres(from, to);
}

function rawSqlite(from: Store, to: Store): number {
  const [source, target] = [from, to].map(({ place }) => openRaw(join(place.dataDir, "idsvc.db")));
  if (source === undefined || target === undefined) throw new Error("two stores were named");
  const names = source
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
  const tables = names.map((name) => {
    const read = source.prepare(`SELECT * FROM "${name}"`).raw();
    const rows = read.all() as unknown[][];
    const marks = read.columns().map(() => "?");
    const insert = target.prepare(`INSERT OR IGNORE INTO "${name}" VALUES (${marks.join(", ")})`);
    return { rows, insert };
  });
  const batches = Math.ceil((2 * users) / usersABatch);
  const start = performance.now();
  for (let batch = 0; batch < batches; batch++) {
    target.exec("BEGIN IMMEDIATE");
    for (const { rows, insert } of tables) {
      const size = Math.ceil(rows.length / batches);
      for (const row of rows.slice(batch * size, (batch + 1) * size)) insert.run(...row);
    }
    target.exec("COMMIT");
  }
  const seconds = (performance.now() - start) / 1_000;
  source.close();
  target.close();
  return seconds;
}

async function rawPostgres(from: Store, to: Store): Promise<number> {
  const [source, target] = [databaseUrl(from.place), databaseUrl(to.place)];
  const names = await query(source, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const batches = Math.ceil((2 * users) / usersABatch);
  const statements: string[][] = Array.from({ length: batches }, () => []);
  for (const [name] of names) {
    const rows = await query(source, `SELECT row_to_json(t)::text FROM "${String(name)}" t`);
    const size = Math.ceil(rows.length / batches);
    for (const [batch, of] of statements.entries()) {
      const part = rows.slice(batch * size, (batch + 1) * size).map(([row]) => String(row));
      if (part.length === 0) continue;
      const json = `[${part.join(",")}]`.replaceAll("'", "''");
      of.push(
        `INSERT INTO "${String(name)}" SELECT * FROM json_populate_recordset(null::"${String(name)}", '${json}') ON CONFLICT DO NOTHING`,
      );
    }
  }
  const start = performance.now();
  for (const of of statements) await query(target, `BEGIN; ${of.join("; ")}; COMMIT`);
  return (performance.now() - start) / 1_000;
}

process.stdout.write(
  "engine    hashes  users/s  raw users/s  ratio  MB before  MB highest  beside introspection: users/s  p99 ms idle  p99 ms meanwhile\n",
);
for (const engine of ["sqlite", "postgres"] as const) {
  if (flags.engine !== "" && flags.engine !== engine) continue;
  await using arena = await openArena(engine);
  for (const withHash of [true, false]) {
    await using store = await arena.newStore();
    await using empty = await arena.newStore();
    await (await startServer(empty.place)).stop();
    const server = await startServer(store.place);
    const client = await addClient(server);
    const before = await rssMb(server.pid);
    const { seconds, highestMb } = await timeImport(server, withHash, 0);
    const idle = introspect(server, client);
    await delay(idleMs);
    const idleP99 = await idle();
    const busy = introspect(server, client);
    const beside = await timeImport(server, withHash, users);
    const busyP99 = await busy();
    await server.stop();
    const [rate, raw] = [users / seconds, (2 * users) / (await timeRaw(engine, store, empty))];
    const cells = [rate.toFixed(0), raw.toFixed(0), (rate / raw).toFixed(2), before.toFixed(0)];
    const latency = [(users / beside.seconds).toFixed(0), idleP99.toFixed(1), busyP99.toFixed(1)];
    const rest = [Math.max(highestMb, beside.highestMb).toFixed(0), ...latency];
    process.stdout.write(
      `${engine.padEnd(9)} ${(withHash ? "with" : "without").padEnd(7)} ${[...cells, ...rest].map((cell) => cell.padStart(9)).join(" ")}\n`,
    );
    printVerdict(`import-${engine}-${withHash ? "hashes" : "no-hashes"}`, rate, {
      "of raw rows": rate / raw,
      "p99 beside it": busyP99 / idleP99,
    });
  }
}
