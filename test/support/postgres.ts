import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

// One server for all test processes of this working tree and user; the name vanishes with the process that holds it.
const tree = createHash("sha256").update(`${import.meta.dirname} ${process.getuid?.()}`);
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
export async function freshDatabase(): Promise<TestDatabase> {
  const base = await (server ??= joinServer());
  const name = `t${randomBytes(8).toString("hex")}`;
  await administer(`CREATE DATABASE ${name}`);
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
