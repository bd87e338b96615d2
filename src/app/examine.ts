import { jobsHeldSince } from "../jobs/hold.ts";
import { jobs } from "../jobs/job.ts";
import type { Concern } from "../projection/module.ts";
import { verifyProjections } from "../projection/rebuild.ts";
import { sql } from "../storage/drizzle.ts";
import { cursors } from "../storage/kernel-tables.ts";
import { type Checksum, checksumOf } from "../storage/rows.ts";
import { storeFormat } from "../storage/schema.ts";
import { clockConcern } from "./clock-behind.ts";
import { externalUrlConcern } from "./external-url.ts";
import { policiesOf } from "./policies.ts";
import type { Kernel } from "./kernel.ts";
import { proxyConcern } from "./unknown-proxies.ts";
import { storeDamaged } from "../storage/refusals.ts";
import type { Config } from "./config.ts";

/** Events that a slow consumer has not read yet: of all instances, and of the one where it is most. */
export type Lag = { events: bigint; most: bigint };
export type JobCounts = { open: number; due: number; dead: number };

/** What there is to know of a store, beside its health. Counts of a store that serves are of one moment each. */
export type Findings = {
  storeFormat: { store: number; build: number };
  logs: number;
  events: bigint;
  subscriptions: Record<string, Lag>;
  jobs: JobCounts & { heldSince: Date | undefined };
  /** Rows that differ from a fresh fold of the log, and what the rows that are there sum up to. */
  projections: Record<string, Checksum & { differing: number }>;
  concerns: readonly Concern[];
};

/** Reads the whole store: it takes time in proportion to what it holds. */
export async function examine(kernel: Kernel): Promise<Findings> {
  const { db, projectionTables, now } = kernel;
  const { format, risks } = await db.health();
  const heads = await db.heads();
  const differences = await verifyProjections(kernel, projectionTables);
  const projections: Findings["projections"] = {};
  for (const table of projectionTables) {
    const sum = await checksumOf(db.read, table, db.table(table));
    projections[table.name] = { ...sum, differing: differences.get(table.name) ?? 0 };
  }
  return {
    storeFormat: { store: format, build: storeFormat },
    logs: heads.size,
    events: [...heads.values()].reduce((sum, head) => sum + head, 0n),
    subscriptions: await lags(kernel, heads),
    jobs: { ...(await countJobs(kernel, now())), heldSince: await jobsHeldSince(db) },
    projections,
    concerns: await concernsOf(kernel, risks),
  };
}

async function concernsOf(kernel: Kernel, risks: readonly string[]): Promise<Concern[]> {
  const text = "settings of the database put the store at risk";
  const found: Concern[] = [
    { name: "database_settings", text, count: risks.length, some: risks },
    await clockConcern(kernel),
    await proxyConcern(kernel),
    await externalUrlConcern(kernel),
  ];
  const policies = policiesOf(kernel.db);
  for (const { concerns } of kernel.modules) {
    if (concerns !== undefined) found.push(...(await concerns({ ...kernel, policies })));
  }
  return found.filter(({ count }) => count > 0);
}

async function lags(
  { db }: Kernel,
  heads: ReadonlyMap<string, bigint>,
): Promise<Record<string, Lag>> {
  const rows = await db.read.select().from(db.table(cursors));
  const found: Record<string, Lag> = {};
  for (const [name, mine] of Map.groupBy(rows, (row) => row.name)) {
    const positions = new Map(mine.map(({ instanceId, position }) => [instanceId, position]));
    const behind = [...heads].map(([instanceId, head]) => head - (positions.get(instanceId) ?? 0n));
    const most = behind.reduce((a, b) => (a > b ? a : b), 0n);
    found[name] = { events: behind.reduce((a, b) => a + b, 0n), most };
  }
  return found;
}

async function countJobs({ db }: Kernel, now: Date): Promise<JobCounts> {
  const t = db.table(jobs);
  const count = (condition: ReturnType<typeof sql>) =>
    sql<string | number | null>`sum(case when ${condition} then 1 else 0 end)`;
  const [row] = await db.read
    .select({
      open: count(sql`${t.deadAt} is null`),
      due: count(sql`${t.deadAt} is null and ${t.dueAt} <= ${now.getTime()}`),
      dead: count(sql`${t.deadAt} is not null`),
    })
    .from(t);
  return { open: Number(row?.open), due: Number(row?.due), dead: Number(row?.dead) };
}

export const storeUnsound = ({ databaseUrl }: Config) => {
  const where = databaseUrl.kind === "sqlite" ? ` ${databaseUrl.file}` : "";
  return storeDamaged("failedPrecondition", `the store${where} is DAMAGED: restore a backup`);
};
