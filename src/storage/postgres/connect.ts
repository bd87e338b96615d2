import pg from "pg";
import { failedPrecondition, unavailable } from "../../errors.ts";
import { storeError, unreachable } from "./errors.ts";

const oldestServer = 14;

/** How long things may take, in milliseconds. */
export const limits = {
  /** A caller waits this long for a connection before they are told to come back. */
  waitMs: 1_000,
  /** A timer that fires later than requested by more than this shows that the event loop stood still. */
  lateMs: 100,
  /** A connection is requested this often at most where each wait for it ended late. */
  lateTries: 4,
  statementMs: 5_000,
  lockMs: 2_000,
  /** Schema changes wait for readers, and for another replica that is at it. */
  adminLockMs: 60_000,
  idleInTransactionMs: 10_000,
  /** The client's own limit: a statement that has not answered by then is on a dead connection. */
  answerMs: 7_000,
  connectMs: 2_000,
} as const;

const settings = {
  // What frees a server of a client that has vanished without a word, and of one that no longer listens.
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 3,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 15_000,
  default_transaction_isolation: "read\\ committed",
  // A search uses one core of the server rather than three, so that other calls have the rest (decision 0400).
  max_parallel_workers_per_gather: 0,
};

export type ConnectionRole = "read" | "lengthy" | "write" | "watch" | "admin";

/**
 * The settings of every connection: limits that hold on the server too, whatever becomes of this process. What the URL has as
 * `options` is set after them.
 */
export const connectionConfig = (url: string, role: ConnectionRole): pg.ClientConfig => ({
  ...withOptions(url),
  application_name: `idsvc ${role}`,
  connectionTimeoutMillis: limits.connectMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
  statement_timeout: role === "admin" ? 0 : limits.statementMs,
  lock_timeout: role === "admin" ? limits.adminLockMs : limits.lockMs,
  idle_in_transaction_session_timeout:
    role === "admin" ? limits.adminLockMs : limits.idleInTransactionMs,
});

// Of what is given twice pg takes what the URL says, and nothing else.
function withOptions(url: string): Pick<pg.ClientConfig, "connectionString" | "options"> {
  const [address, ...query] = url.split("?");
  const params = new URLSearchParams(query.join("?"));
  const theirs = params.getAll("options");
  params.delete("options");
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return {
    connectionString: theirs.length === 0 ? url : `${address}?${params}`,
    options: [...ours, ...theirs].join(" "),
  };
}

/**
 * A pool that heals: connections that break are dropped and made anew, and each new one proves that it leads to a
 * server that may be written, never to a standby (F09).
 */
export function createPool(
  url: string,
  role: ConnectionRole,
  max: number,
  pipeline = false,
): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(url, role),
    pipeline,
    max,
    connectionTimeoutMillis: limits.waitMs,
    idleTimeoutMillis: 60_000,
    query_timeout: limits.answerMs,
    // What whoever waited for it no longer wants then goes to the next one: after `verify` the pool would forget it.
    async onConnect(client) {
      const { rows } = await client.query<{ pg_is_in_recovery: boolean }>(
        "SELECT pg_is_in_recovery()",
      );
      if (rows[0]?.pg_is_in_recovery === true) throw inRecovery();
    },
  });
  // A connection that breaks tells its query; an idle one that breaks is nobody's call, the next one gets another.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return retryingLateWaits(pool);
}

type Connected = (error: Error | undefined, client?: pg.PoolClient, done?: Release) => void;
type Release = (release?: boolean | Error) => void;

/**
 * Has a pool wait again for a connection where the event loop stood still during the wait. The pool's timer fires before the
 * server's answers are read then, so its error says nothing about the server; that it fires late shows the pause.
 */
function retryingLateWaits(pool: pg.Pool): pg.Pool {
  const connectOnce = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const connectWithRetry = async (): Promise<pg.PoolClient> => {
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now();
      try {
        return await connectOnce();
      } catch (error) {
        const isLate = performance.now() - startedAt > limits.waitMs + limits.lateMs;
        if (!isLate || attempt === limits.lateTries) throw error;
      }
    }
  };
  const connectOrCallBack = (connected?: Connected): Promise<pg.PoolClient> | undefined => {
    const client = connectWithRetry();
    if (connected === undefined) return client;
    client.then(
      (each) => connected(undefined, each, (release) => each.release(release)),
      (error: Error) => connected(error, undefined, () => {}),
    );
    return undefined;
  };
  return Object.assign(pool, { connect: connectOrCallBack });
}

/** One connection of its own, on which statements may be sent before the one before is answered. */
export async function connect(url: string, role: ConnectionRole): Promise<pg.Client> {
  const client = new pg.Client({ ...connectionConfig(url, role), pipeline: true });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** A connection without limits of time, opened when it is needed, for one transaction after the other. */
export type Administrator = AsyncDisposable & {
  transaction<T>(
    work: (client: pg.Client) => Promise<T>,
    isolation?: "READ COMMITTED" | "REPEATABLE READ",
  ): Promise<T>;
};

export function administrator(url: string): Administrator {
  let opened: Promise<pg.Client> | undefined;
  const end = async (): Promise<void> => {
    const client = opened;
    opened = undefined;
    await client?.then((each) => each.end()).catch(() => undefined);
  };
  return {
    async transaction(work, isolation = "READ COMMITTED") {
      try {
        const client = await (opened ??= connect(url, "admin"));
        await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
        const result = await work(client);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        // Ends the transaction too.
        await end();
        throw storeError(error);
      }
    },
    [Symbol.asyncDispose]: end,
  };
}

const inRecovery = () =>
  unavailable(
    "STORE_IN_RECOVERY",
    "the database is a standby and takes no writes: IDSVC_DATABASE_URL must lead to the primary",
    { retryAfterSeconds: 5 },
  );

export type ServerFacts = {
  version: number;
  encoding: string;
  flushes: string;
  fsync: string;
  recovering: boolean;
  readOnly: string;
};

/**
 * Proves that the server can keep our promises, before anything is written.
 *
 * @throws FAILED_PRECONDITION STORE_UNREACHABLE, POSTGRES_TOO_OLD, STORE_ENCODING, STORE_NOT_DURABLE, STORE_READ_ONLY
 */
export async function checkServer(url: string): Promise<void> {
  const client = new pg.Client(connectionConfig(url, "admin"));
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<ServerFacts>(
      `SELECT current_setting('server_version_num')::int AS version,
         current_setting('server_encoding') AS encoding,
         current_setting('synchronous_commit') AS flushes,
         current_setting('fsync') AS fsync,
         pg_is_in_recovery() AS recovering,
         current_setting('transaction_read_only') AS "readOnly"`,
    );
    judgeServer(rows[0]);
  } catch (error) {
    throw error instanceof pg.DatabaseError || !(error instanceof Error && "reason" in error)
      ? unreachable(error)
      : error;
  } finally {
    // A server that went away meanwhile needs no goodbye.
    await client.end().catch(() => undefined);
  }
}

/** @throws FAILED_PRECONDITION when a server of which this is known cannot keep our promises */
export function judgeServer(facts: ServerFacts | undefined): void {
  if (facts === undefined) throw new Error("the server told nothing of itself");
  if (facts.version < oldestServer * 10_000) {
    throw failedPrecondition(
      "POSTGRES_TOO_OLD",
      `PostgreSQL ${Math.floor(facts.version / 10_000)} is older than ${oldestServer}: upgrade the server`,
    );
  }
  if (facts.encoding !== "UTF8") {
    throw failedPrecondition(
      "STORE_ENCODING",
      `the database has the encoding ${facts.encoding}: make one with ENCODING 'UTF8'`,
    );
  }
  if (facts.flushes === "off") {
    throw failedPrecondition(
      "STORE_NOT_DURABLE",
      "synchronous_commit is off, so the database acknowledges what a crash would lose: set it to on",
    );
  }
  if (facts.fsync === "off") {
    throw failedPrecondition(
      "STORE_NOT_DURABLE",
      "fsync is off, so a crash of the database's machine would lose what was acknowledged, or all of it: set it to on",
    );
  }
  if (facts.recovering || facts.readOnly === "on") {
    throw failedPrecondition(
      "STORE_READ_ONLY",
      "the database takes no writes (a standby, or default_transaction_read_only): IDSVC_DATABASE_URL must lead to the primary",
    );
  }
}

/** What settings of the server put at risk that may be right where it runs; in words for whoever operates it. */
export async function risksOf(connection: Pick<pg.Pool, "query">): Promise<string[]> {
  const { rows } = await connection.query<{ pages: string }>(
    "SELECT current_setting('full_page_writes') AS pages",
  );
  return rows[0]?.pages === "off"
    ? [
        "full_page_writes is off: where the file system can tear a page, a crash of the database's machine damages the store; set it to on unless the file system never does",
      ]
    : [];
}
