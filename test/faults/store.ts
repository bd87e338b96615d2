import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Cluster, type ClusterOptions, startCluster } from "../support/postgres-cluster.ts";
import { type SabotageName, sabotagedBy } from "./sabotage.ts";
import { freePort } from "../support/free-port.ts";
import { type Place } from "./server.ts";

export type Engine = "sqlite" | "postgres";

export const token = "token-of-the-fault-tests";

/** An empty store, and where the service finds it. */
export type Store = AsyncDisposable & {
  place: Place;
  /** The place of another process on the same store, at a port of its own. */
  replica(): Promise<Place>;
};

/** Where stores of one engine are made; on PostgreSQL a cluster of its own that flushes as a real one does. */
export type Arena = AsyncDisposable & {
  engine: Engine;
  /**
   * @param folder  where the data folder lies, when it must lie somewhere
   * @param tablespace  of PostgreSQL, where the tables lie then
   */
  newStore(folder?: string, tablespace?: string): Promise<Store>;
  /** The cluster, on PostgreSQL. */
  cluster(): Cluster;
};

export async function openArena(
  engine: Engine,
  {
    sabotage,
    processes = 1,
    ...options
  }: ClusterOptions & { sabotage?: SabotageName; processes?: number } = {},
): Promise<Arena> {
  // What is flushed is flushed for those who write: the server by itself would hide that they do not.
  const settings = { wal_writer_delay: "10s", ...options.settings };
  const cluster = engine === "postgres" ? await startCluster({ ...options, settings }) : undefined;
  return {
    engine,
    newStore: (folder, tablespace) =>
      newStore(cluster, folder, { sabotage, tablespace, processes }),
    cluster() {
      if (cluster === undefined) throw new Error("SQLite has no cluster");
      return cluster;
    },
    [Symbol.asyncDispose]: async () => cluster?.[Symbol.asyncDispose](),
  };
}

async function urlIn(
  cluster: Cluster | undefined,
  tablespace = "pg_default",
): Promise<string | undefined> {
  if (cluster === undefined) return undefined;
  const name = `f${randomBytes(6).toString("hex")}`;
  await query(cluster.url("postgres"), `CREATE DATABASE ${name} TABLESPACE ${tablespace}`);
  return cluster.url(name);
}

/** A store in this cluster, or an SQLite file. */
export async function newStore(
  cluster?: Cluster,
  folder = tmpdir(),
  more: {
    sabotage?: SabotageName | undefined;
    tablespace?: string | undefined;
    processes?: number;
  } = {},
): Promise<Store> {
  const { sabotage, tablespace, processes = 1 } = more;
  const url = await urlIn(cluster, tablespace);
  const dataDir = mkdtempSync(join(folder, "idsvc-fault-"));
  const sabotaged = sabotage === undefined ? { imports: [], env: {} } : sabotagedBy(sabotage);
  const { imports } = sabotaged;
  const env = {
    ...sabotaged.env,
    IDSVC_BOOTSTRAP_TOKEN: token,
    IDSVC_EXTERNAL_URL: "http://localhost",
    ...(processes === 1 ? {} : { IDSVC_PROCESSES: String(processes) }),
    ...(url === undefined ? {} : { IDSVC_DATABASE_URL: url }),
  };
  const replica = async () => ({ dataDir, env, imports, port: await freePort() });
  return {
    place: await replica(),
    replica,
    [Symbol.asyncDispose]: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Runs statements beside the service. */
export async function query(connectionString: string, text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<unknown[]>({ text, rowMode: "array" })).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The database that the service of a place uses. */
export function databaseUrl({ env = {} }: Place): string {
  const url = env["IDSVC_DATABASE_URL"];
  if (url === undefined) throw new Error("this place has no database server");
  return url;
}
