import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { appendFile, chown, mkdtemp, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);
const oldest = 14;
const startMs = 30_000;

export const clusterPrefix = "idsvc-pg-";
export const superuser = "idsvc";

/** How a server is told to stop: wait for sessions, end them, or drop everything as in a crash. */
export type StopMode = "smart" | "fast" | "immediate";
const signals = { smart: "SIGTERM", fast: "SIGINT", immediate: "SIGQUIT" } as const;

/** A PostgreSQL server of its own, in a folder of its own. Disposing stops it and removes the folder. */
export type Cluster = AsyncDisposable & {
  readonly folder: string;
  readonly port: number;
  readonly pid: number;
  /** The address of a database; over TCP only when the cluster was asked to listen. */
  url(database: string): string;
  start(): Promise<void>;
  stop(mode?: StopMode): Promise<void>;
  /** No warning, no time to flush. */
  kill(): Promise<void>;
};

export type ClusterOptions = {
  /** Listens on loopback too, for tests that put something between. */
  tcp?: boolean;
  settings?: Record<string, string>;
  /** Begins as a copy of this server, and follows it. */
  standbyOf?: Cluster;
};

/** Starts a server of the machine's own PostgreSQL, as a user without rights when we are root. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const bin = findPostgres();
  const asUser = unprivileged();
  const folder = await mkdtemp(join(tmpdir(), clusterPrefix));
  if (asUser.uid !== undefined && asUser.gid !== undefined)
    await chown(folder, asUser.uid, asUser.gid);
  const port = options.tcp === true ? await freePort() : 5432;
  const base = join(folder, "base");
  // Byte order must come from our tables: the server's own order of texts is another one, where it can be.
  const locale = bin.version >= 15 ? ["--locale-provider=icu", "--icu-locale=en-US"] : [];
  const init = [
    "-D",
    base,
    "-U",
    superuser,
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--no-locale",
    "--no-sync",
    "--no-instructions",
    ...locale,
  ];
  const { standbyOf: primary } = options;
  const [program, args] =
    primary === undefined
      ? ["initdb", init]
      : ["pg_basebackup", ["-D", base, "-d", primary.url("postgres"), "-R", "-c", "fast"]];
  await run(join(bin.path, program), args, { ...asUser, cwd: folder });
  const settings: Record<string, string> = {
    listen_addresses: options.tcp === true ? "127.0.0.1" : "",
    port: String(port),
    unix_socket_directories: folder,
    // Each test app has some ten, and three processes have up to sixteen apps at once.
    max_connections: "1000",
    shared_buffers: "64MB",
    log_min_messages: "warning",
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(base, "postgresql.conf"), lines.join(""));
  let server: ChildProcess | undefined;

  const cluster: Cluster = {
    folder,
    port,
    get pid() {
      return server?.pid ?? 0;
    },
    url: (database) =>
      options.tcp === true
        ? `postgres://${superuser}@127.0.0.1:${port}/${database}`
        : `postgres://${superuser}@${encodeURIComponent(folder)}/${database}`,
    async start() {
      const log = await open(join(folder, "log"), "a");
      server = spawn(join(bin.path, "postgres"), ["-D", base], {
        ...asUser,
        cwd: folder,
        stdio: ["ignore", log.fd, log.fd],
      });
      await once(server, "spawn");
      await log.close();
      for (const end = Date.now() + startMs; !(await answers(cluster.url("postgres"))); ) {
        if (server.exitCode !== null || Date.now() > end) {
          throw new Error(
            `PostgreSQL did not start:\n${await readFile(join(folder, "log"), "utf8")}`,
          );
        }
        await delay(20);
      }
    },
    async stop(mode = "fast") {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const gone = once(server, "exit");
      server.kill(signals[mode]);
      await gone;
    },
    async kill() {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const gone = once(server, "exit");
      server.kill("SIGKILL");
      await gone;
    },
    async [Symbol.asyncDispose]() {
      await cluster.stop("immediate");
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await cluster.start();
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
  return cluster;
}

/** @throws with what to install, when this machine has no PostgreSQL */
function findPostgres(): { path: string; version: number } {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian)
    ? readdirSync(debian).map(Number).filter(Number.isInteger)
    : [];
  const found = versions
    .toSorted((a, b) => b - a)
    .map((version) => join(debian, `${version}`, "bin"));
  const onPath = (process.env["PATH"] ?? "").split(delimiter).filter((path) => path !== "");
  for (const path of [...found, ...onPath]) {
    if (!existsSync(join(path, "initdb")) || !existsSync(join(path, "postgres"))) continue;
    const version = majorOf(path);
    if (version >= oldest) return { path, version };
  }
  throw new Error(
    `these tests need PostgreSQL ${oldest} or later on this machine: install it (Debian and Ubuntu: apt-get install postgresql), so that initdb and postgres are in ${debian}/<version>/bin or on PATH`,
  );
}

function majorOf(path: string): number {
  const debian = /\/postgresql\/(\d+)\/bin$/.exec(path);
  if (debian !== null) return Number(debian[1]);
  const header = join(path, "../share/postgresql/postgres.bki");
  const other = join(path, "../share/postgres.bki");
  const text =
    [header, other].filter(existsSync).map((file) => readFileSync(file, "utf8"))[0] ?? "";
  return Number(/^# PostgreSQL (\d+)/.exec(text)?.[1] ?? 0);
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = ["postgres", "nobody"].flatMap((name) => users.filter(([each]) => each === name))[0];
  if (user === undefined)
    throw new Error("there is no user postgres or nobody to run the server as");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
