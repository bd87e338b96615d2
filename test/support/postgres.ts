import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { functions } from "../../src/storage/postgres/append-function.ts";
import { createTable, indexesOf, ownTables, triggersOf } from "../../src/storage/postgres/ddl.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { allTables, type Schema, shapeOf, storeFormat } from "../../src/storage/schema.ts";
import { endSessions, keepSessions, sessionsOf } from "./postgres-sessions.ts";

// One server for all test processes of a run, which have a temporary folder of their own, of this working tree and user. The
// server of the run before may still be there for a moment, without its files. The name vanishes with its process.
const run = `${import.meta.dirname} ${process.getuid?.()} ${tmpdir()}`;
const tree = createHash("sha256").update(run);
const serverName = `idsvc-test-postgres-${tree.digest("hex").slice(0, 16)}`;
const patienceMs = 60_000;

/** An empty database, dropped when disposed. */
export type TestDatabase = AsyncDisposable & {
  url: string;
  /** Runs a statement beside the service. */
  execute(statement: string): Promise<pg.QueryResult>;
};

let server: Promise<string> | undefined;
let administrator: Promise<Idle> | undefined;

// Missing in its types: an idle connection keeps no process alive.
type Idle = pg.Client & { ref(): void; unref(): void };

/** A database of its own on the server of this test run, which is started when nobody has yet. */
export async function freshDatabase(like = ""): Promise<TestDatabase> {
  const base = await (server ??= joinServer());
  const name = `t${randomBytes(8).toString("hex")}`;
  await administer(`CREATE DATABASE ${name} ${like}`);
  const url = `${base}${name}`;
  return {
    url,
    async execute(statement) {
      const client = await connectTo(url);
      try {
        return await client.query(statement);
      } finally {
        await client.end();
      }
    },
    async [Symbol.asyncDispose]() {
      await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/**
 * A database of its own with the tables of a schema, as a store that was opened and closed before its first event: a copy
 * of one that is made once a run, as all those statements take the server six times as long. When it is disposed it is emptied for the
 * next one who asks.
 */
export async function databaseOf(schema: Schema): Promise<TestDatabase> {
  const at = empty.findIndex((each) => each.schema === schema);
  const [waiting] = at === -1 ? [] : empty.splice(at, 1);
  if (waiting !== undefined) return waiting.again;
  let template = templates.get(schema);
  if (template === undefined) templates.set(schema, (template = makeTemplate(schema)));
  const database = await freshDatabase(await template);
  const { url } = database;
  keepSessions(url);
  const asMade = await stateOf(url);
  const drop = async () => {
    await endSessions(url);
    await database[Symbol.asyncDispose]();
  };
  const again: TestDatabase = {
    ...database,
    async [Symbol.asyncDispose]() {
      if (empty.length < mostEmpty && (await emptied(url, asMade)))
        empty.push({ schema, again, drop });
      else await drop();
    },
  };
  return again;
}

/** Databases that nobody has. */
const empty: { schema: Schema; again: TestDatabase; drop: () => Promise<void> }[] = [];
// As many services have a process at the same time.
const mostEmpty = 4;
process.once("beforeExit", () => void Promise.all(empty.map(({ drop }) => drop())));

/** What a database consists of, and the rows of each table that has some. */
type State = { shape: string; rows: [table: string, json: string][] };

async function stateOf(url: string): Promise<State> {
  const client = await connectTo(url);
  try {
    const { shape, filled } = await lookAt(client, []);
    const rows: State["rows"] = [];
    for (const table of filled) {
      const { rows: all } = await client.query(`SELECT json_agg(t)::text AS json FROM ${table} t`);
      if (all[0].json !== null) rows.push([table, all[0].json]);
    }
    return { shape, rows };
  } finally {
    await client.end();
  }
}

/** Takes all rows out of a database but those that it had when it was made. @returns whether it is as it was made */
async function emptied(url: string, asMade: State): Promise<boolean> {
  const kept = await sessionsOf(url);
  const client = await connectTo(url);
  try {
    const { shape, filled, others } = await lookAt(client, kept);
    if (others > 0 || shape !== asMade.shape) return false;
    // Events are append-only by a trigger.
    await client.query("BEGIN; SET LOCAL session_replication_role = replica");
    if (filled.length > 0)
      await client.query(filled.map((table) => `DELETE FROM ${table}`).join(";"));
    for (const [table, json] of asMade.rows) {
      const text = `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`;
      await client.query(text, [json]);
    }
    await client.query("COMMIT");
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

/** How many others are connected, which tables have or had rows, and whatever changes when anybody changes a table, trigger or function. */
async function lookAt(
  client: pg.Client,
  kept: readonly number[],
): Promise<{ others: number; filled: string[]; shape: string }> {
  const { rows } = await client.query(
    `SELECT (SELECT count(*)::int FROM pg_stat_activity
               WHERE datname = current_database() AND backend_type = 'client backend'
                 AND pid <> pg_backend_pid() AND pid <> ALL($1)) AS others,
       (SELECT coalesce(array_agg(quote_ident(relname)), '{}') FROM pg_class
          WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0) AS filled,
       (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_class) || ' ' ||
       (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_trigger) || ' ' ||
       (SELECT concat(count(*), ' ', max(xmin::text::bigint)) FROM pg_proc) AS shape`,
    [kept],
  );
  return rows[0];
}

const templates = new WeakMap<Schema, Promise<string>>();

/** Tells apart what is made of two schemas, and of one by two builds. */
function fingerprintOf(schema: Schema): string {
  const tables = allTables(schema).map(({ table, role }) => [
    role,
    shapeOf(table),
    createTable(table),
    indexesOf(table),
    triggersOf(table),
  ]);
  const all = JSON.stringify([storeFormat, ownTables, functions, tables]);
  return createHash("sha256").update(all).digest("hex").slice(0, 16);
}

/**
 * What makes a database like it. Of several processes one makes the template; a copy is only taken of what has its last
 * name, which it is given when it is whole.
 */
async function makeTemplate(schema: Schema): Promise<string> {
  const name = `m${fingerprintOf(schema)}`;
  const base = await (server ??= joinServer());
  const client = await connectTo(`${base}postgres`);
  try {
    await client.query("SELECT pg_advisory_lock(hashtext($1))", [name]);
    const { rows } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
    // To copy files takes the server half as long as to write the blocks to its log, which is what it does from 15 on.
    const version = await client.query<{ server_version_num: string }>("SHOW server_version_num");
    const canChoose = Number(version.rows[0]?.server_version_num) >= 150_000;
    const like = `TEMPLATE ${name} ${canChoose ? "STRATEGY FILE_COPY" : ""}`;
    if (rows.length > 0) return like;
    await client.query(`DROP DATABASE IF EXISTS ${name}_draft WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${name}_draft`);
    const store = await openPostgres({ url: `${base}${name}_draft`, schema });
    await store.migrate();
    await store[Symbol.asyncDispose]();
    // The first connection after the tables were made writes down what each one looks up when it begins, which copies then have.
    const last = await connectTo(`${base}${name}_draft`);
    await last.end();
    await client.query(`ALTER DATABASE ${name}_draft RENAME TO ${name}`);
    return like;
  } finally {
    await client.end();
  }
}

/** One connection a process makes and drops databases, one after the other; between them it keeps nobody alive. */
async function administer(statement: string): Promise<void> {
  const before = administrator;
  const client = (async () => {
    const known =
      (await before?.catch(() => undefined)) ?? (await connectTo(`${await server}postgres`));
    known.ref();
    await known.query(statement);
    known.unref();
    return known;
  })();
  administrator = client;
  await client;
}

async function connectTo(connectionString: string): Promise<Idle> {
  const client = new pg.Client({ connectionString }) as Idle;
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Joins the server of this run by a connection to its keeper, for as long as this process lives. */
async function joinServer(): Promise<string> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await delay(50)) {
    const keeper = await dial();
    if (keeper === undefined) continue;
    const said = await firstLine(keeper);
    keeper.unref();
    if (said === undefined) continue;
    const { url, failure }: { url?: string; failure?: string } = JSON.parse(said);
    if (url !== undefined) return url;
    throw new Error(failure);
  }
  throw new Error("the PostgreSQL server of the tests did not start");
}

async function dial(): Promise<Socket | undefined> {
  const socket = connect(`\0${serverName}`);
  const connected = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  if (connected) return socket.on("error", () => socket.destroy());
  const script = join(import.meta.dirname, "postgres-keeper.ts");
  spawn(process.execPath, [script, serverName], { detached: true, stdio: "ignore" }).unref();
  // Several may be started by now; all but one leave at once.
  await delay(300);
  return undefined;
}

function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => {
      text += part;
      const end = text.indexOf("\n");
      if (end !== -1) resolve(text.slice(0, end));
    });
    socket.once("close", () => resolve(undefined));
  });
}
