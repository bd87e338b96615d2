import { randomUUID } from "node:crypto";
import { Conflict, type Database, type Expectation } from "./database.ts";
import { eq } from "./drizzle.ts";
import { leases } from "./kernel-tables.ts";
import { insertRow, type RowChange, updateRows } from "./row-change.ts";
import type { Row } from "./table.ts";

type Fence = Extract<Expectation, { kind: "rows" }>;

/** What a holder works under. */
export type Held = {
  /** Grows with every change of holder, never falls: a peer that remembers the largest can refuse a late one. */
  readonly token: bigint;
  /** Belongs into every unit of the work: once another holds the lease, such a unit is a conflict (F14). */
  readonly fence: Fence;
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal;
};

export type Lease = AsyncDisposable & {
  /** Undefined while another holds it, and as soon as this process cannot be sure that it does. */
  held(): Held | undefined;
  /** Tries to take or to keep the lease now; it does so by itself three times in its life. */
  renew(): Promise<Held | undefined>;
};

export type LeaseOptions = {
  db: Database;
  name: string;
  /** How long a holder that has vanished keeps others waiting. */
  lifeMs?: number;
  onGained?: (held: Held) => void;
  onError?: (error: unknown) => void;
};

const ownInstance = "";
const usualLifeMs = 15_000;

/**
 * Holds a lease over and over: one process at a time does what the name says, and when it vanishes another goes on.
 *
 * Clocks of machines are not compared (F20): a holder moves `expires` with every renewal, and whoever has watched
 * a row stand still for a whole life takes it. A holder counts from before its last renewal was sent. Disposing frees it
 * at once.
 */
export function holdLease(options: LeaseOptions): Lease {
  const { db, name, lifeMs = usualLifeMs } = options;
  const holder = randomUUID();
  const t = db.table(leases);
  let watched: { row: Row<typeof leases>; since: number } | undefined;
  let own: { held: Held; until: number; loss: AbortController } | undefined;
  let written: Row<typeof leases> | undefined;
  let renewing: Promise<Held | undefined> | undefined;
  let closed = false;

  function lose(): void {
    own?.loss.abort();
    own = undefined;
  }

  const held = (): Held | undefined => {
    if (own !== undefined && performance.now() >= own.until) lose();
    return own?.held;
  };

  async function attempt(): Promise<Held | undefined> {
    const sent = performance.now();
    const [row] = await db.read.select().from(t).where(eq(t.name, name));
    if (row?.holder !== holder || held() === undefined) lose();
    if (own === undefined && !mayTake(row)) return undefined;
    const token = own === undefined ? (row?.token ?? 0n) + 1n : own.held.token;
    // The instant only has to differ from the one before, also when the clock steps back.
    const expires = new Date(Math.max(Date.now() + lifeMs, (row?.expires.getTime() ?? 0) + 1));
    const next = { name, holder, token, expires };
    const change = row === undefined ? insertRow(leases, next) : updateRows(leases, { name }, next);
    if (closed || !(await write(db, row, change))) {
      lose();
      return undefined;
    }
    written = next;
    const until = sent + lifeMs;
    if (own !== undefined) {
      own = { ...own, until };
      return own.held;
    }
    const loss = new AbortController();
    own = { held: { token, fence: fenceOf(next), signal: loss.signal }, until, loss };
    options.onGained?.(own.held);
    return own.held;
  }

  /** A row that stood still for a life has no holder any more; one whose time is the epoch was given back. */
  function mayTake(row: Row<typeof leases> | undefined): boolean {
    if (row === undefined || row.expires.getTime() === 0) return true;
    const before = watched?.row;
    if (before?.token !== row.token || before.expires.getTime() !== row.expires.getTime()) {
      watched = { row, since: performance.now() };
    }
    return watched !== undefined && performance.now() - watched.since >= lifeMs;
  }

  const renew = (): Promise<Held | undefined> =>
    (renewing ??= attempt().finally(() => {
      renewing = undefined;
    }));

  const timer = setInterval(() => {
    held();
    void renew().catch((error: unknown) => options.onError?.(error));
  }, lifeMs / 3).unref();

  return {
    held,
    renew,
    async [Symbol.asyncDispose]() {
      closed = true;
      clearInterval(timer);
      await renewing?.catch(() => undefined);
      lose();
      if (written === undefined) return;
      // Also after its life, as others wait until the row has stood still for so long. If this fails, that is how it ends.
      const free = updateRows(leases, { name }, { holder: "", expires: new Date(0) });
      await write(db, written, free).catch(() => undefined);
    },
  };
}

/** Changes the row if it is still as it was read. */
async function write(
  db: Database,
  row: Row<typeof leases> | undefined,
  change: RowChange,
): Promise<boolean> {
  const expect: Expectation[] = row === undefined ? [] : [isStill(row)];
  try {
    await db.commit({
      instanceId: ownInstance,
      expect,
      claims: [],
      events: [],
      changes: [change],
    });
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}

const isStill = ({ name, token, expires }: Row<typeof leases>): Expectation => ({
  kind: "rows",
  table: leases,
  where: { name, token, expires },
  count: 1,
});

const fenceOf = ({ name, holder, token }: Row<typeof leases>): Fence => ({
  kind: "rows",
  table: leases,
  where: { name, holder, token },
  count: 1,
});
