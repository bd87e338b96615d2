import { setTimeout as delay } from "node:timers/promises";
import { newSealingKey } from "../../src/crypto/secrets.ts";
import { aggregate } from "../../src/eventstore/aggregate.ts";
import { defineEvents, payload } from "../../src/eventstore/event.ts";
import { createEventStore, type EventStore } from "../../src/eventstore/eventstore.ts";
import { createSecretStore } from "../../src/eventstore/secret-store.ts";
import type { Transaction, WriteContext } from "../../src/eventstore/transaction.ts";
import {
  handle,
  type JobHandler,
  type JobRow,
  enqueue,
  jobKind,
  jobs,
} from "../../src/jobs/job.ts";
import { type JobFailure, type Pace, startJobWorker } from "../../src/jobs/worker.ts";
import type { MigratableDatabase } from "../../src/storage/database.ts";
import { asc } from "../../src/storage/drizzle.ts";
import type { Schema } from "../../src/storage/schema.ts";
import type { Place } from "../storage/place.ts";

export const bellEvents = defineEvents("bell", { rung: payload<{ note: string }>() });
/** How often a bell was rung. */
export const bell = aggregate(bellEvents, 0, (state) => state + 1);
const owner = { type: "instance", id: "one" } as const;

/** Carries a note to somebody. */
export const carry = jobKind<{ note: string }>("bell.carry");

export const by: WriteContext = {
  instanceId: "one",
  editorId: "editor",
  service: "test",
  clientId: "",
  requestId: "request",
};

export const schema: Schema = { state: [jobs], projections: [] };

export type Store = AsyncDisposable & { db: MigratableDatabase; events: EventStore };

export async function openStore(place: Pick<Place, "open">, now: () => Date): Promise<Store> {
  const db = await place.open(schema);
  await db.migrate();
  const secrets = createSecretStore(db, { current: newSealingKey("master:test") });
  const events = createEventStore({
    db,
    secrets,
    now,
    catalog: { events: [bellEvents], reduce: () => [], claimErrors: new Map() },
  });
  return { db, events, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

/** An event and the job it causes, in one unit. */
export async function ring(
  { events }: Store,
  id: string,
  more: { key?: string; dueAt?: Date; bell?: string } = {},
): Promise<void> {
  await events.transact(by, async (tx) => {
    await record(tx, more.bell ?? id, id);
    tx.write(enqueue(carry, { instanceId: "one", id, now: tx.now, ...more }, { note: id }));
  });
}

export async function record(tx: Transaction, id: string, note: string): Promise<void> {
  tx.record(bell, await tx.load(bell, id), [bellEvents.rung({ note })], owner);
}

export const ringsOf = async ({ events }: Store, id: string): Promise<number> =>
  (await events.load(bell, "one", id)).state;

export const stored = ({ db }: Store): Promise<JobRow[]> =>
  db.read
    .select()
    .from(db.table(jobs))
    .orderBy(asc(db.table(jobs).id));

/** A clock that goes on by itself and can be set forward. */
export function clock() {
  let ahead = 0;
  return {
    now: () => new Date(Date.now() + ahead),
    forward(ms: number) {
      ahead += ms;
    },
  };
}

let workers = 0;

/** A worker in a hurry. */
export function startWorker(
  { db }: Store,
  handler: JobHandler<{ note: string }>,
  parts: { now?: () => Date; pace?: Partial<Pace>; failures?: JobFailure[]; holder?: string } = {},
): AsyncDisposable {
  return startJobWorker({
    db,
    handlers: handle(carry, handler),
    holder: parts.holder ?? `worker ${++workers}`,
    now: parts.now ?? (() => new Date()),
    random: () => 0,
    onFailure: (failure) => void parts.failures?.push(failure),
    pace: { pollMs: 20, leaseMs: 10_000, renewMs: 500, stopWithinMs: 2_000, ...parts.pace },
  });
}

/** Waits until something is so. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  patienceMs = 60_000,
): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await delay(5);
  }
}
