import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type pg from "pg";
import { storeClosed } from "../refusals.ts";
import type { Committed, Unit } from "../database.ts";
import { createGathering } from "../gathering.ts";
import { checkTexts } from "../texts.ts";
import { appendFunction } from "./append-function.ts";
import {
  type Batch,
  type BatchResult,
  encodeBatch,
  outcomeOf,
  type Part,
  type UnitResult,
} from "./batch.ts";
import { limits } from "./connect.ts";
import { isDefinite, isRetryable, serverError, isBusy, cannotBeReached } from "./errors.ts";
import { isOvertakenError, type Overtaken } from "./overtaken.ts";
import { resolveOutcome } from "./outcome.ts";

/** Units in one transaction at most: with more, PostgreSQL must look up subtransactions on disk. */
const mostUnits = 60;
const tries = 6;
const watchMs = 100;
const readOnly = "25006";

type Waiting = {
  unit: Unit;
  since: number;
  resolve: (committed: Committed) => void;
  reject: (error: unknown) => void;
};

/** Told of every unit that was committed, before its caller is. */
export type OnCommitted = (unit: Unit, firstSequence: bigint) => void;
/** Told, for each instance of a batch, how many units it had seen before and how many of ours were added. */
export type OnCounted = (instanceId: string, before: number, ours: number) => void;

export type Writer = AsyncDisposable & {
  commit(unit: Unit): Promise<Committed>;
};

type Parts = {
  pool: pg.Pool;
  connections: number;
  onCommitted: OnCommitted;
  /** Told of each batch that was sent, and of its milliseconds. */
  onBatch: (units: number, ms: number) => void;
  onCounted: OnCounted;
  overtaken: Overtaken;
};

/**
 * Commits units in batches: what arrives while a batch of its instance is under way goes together in the next one.
 * Instances go side by side over the connections of the pool, so one that is slow holds up no other. Where no batch is under way,
 * one that has much fewer units than the last one waits for more (gathering.ts).
 */
export function createWriter(parts: Parts): Writer {
  const { overtaken } = parts;
  const queues = new Map<string, Waiting[]>();
  const flying = new Map<string, number>();
  const flights = new Set<Promise<void>>();
  const gathering = createGathering(schedule);
  let scheduled = false;
  let closed = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(dispatch);
  }

  function dispatch(): void {
    scheduled = false;
    if (!closed && flights.size === 0 && gathering.waits(unitsIn(queues))) return;
    for (;;) {
      const free = parts.connections - flights.size;
      const ready = [...queues.keys()].filter((instanceId) => !flying.has(instanceId));
      if (free === 0 || ready.length === 0) return;
      depart(ready.slice(0, Math.ceil(ready.length / free)));
    }
  }

  /** Takes units of these instances, evenly, into one batch. */
  function depart(instanceIds: string[]): void {
    const share = Math.max(1, Math.floor(mostUnits / instanceIds.length));
    const taken = new Map<string, Waiting[]>();
    // Ordered alike on every replica: two batches never wait for each other.
    for (const instanceId of instanceIds.slice(0, mostUnits).toSorted()) {
      const queue = queues.get(instanceId) ?? [];
      taken.set(instanceId, queue.splice(0, share));
      if (queue.length === 0) queues.delete(instanceId);
      flying.set(instanceId, Date.now());
    }
    gathering.sent(unitsIn(taken));
    const flight = fly(parts, taken).finally(() => {
      flights.delete(flight);
      for (const instanceId of taken.keys()) flying.delete(instanceId);
      schedule();
    });
    flights.add(flight);
  }

  const watch = watchQueues((tooLong) => {
    const oldest = flights.size < parts.connections ? Infinity : Math.min(...flying.values());
    for (const [instanceId, queue] of queues) {
      if ((flying.get(instanceId) ?? oldest) > tooLong) continue;
      const remaining = refuseLate(queue, tooLong);
      if (remaining.length === 0) queues.delete(instanceId);
      else queues.set(instanceId, remaining);
    }
  });

  return {
    commit: (unit) =>
      closed
        ? Promise.reject(storeClosed())
        : new Promise((resolve, reject) => {
            overtaken.requireCurrent();
            checkTexts(unit);
            const queue = queues.get(unit.instanceId);
            const entry = { unit, since: Date.now(), resolve, reject };
            if (queue === undefined) queues.set(unit.instanceId, [entry]);
            else queue.push(entry);
            schedule();
          }),
    async [Symbol.asyncDispose]() {
      closed = true;
      while (queues.size > 0 || flights.size > 0) {
        dispatch();
        await Promise.race(flights);
      }
      clearInterval(watch);
    },
  };
}

const unitsIn = (queues: ReadonlyMap<string, readonly Waiting[]>): number =>
  queues.values().reduce((sum, { length }) => sum + length, 0);

/** Refuses the units that wait since before an instant, and gives the others. */
const refuseLate = (queue: readonly Waiting[], tooLong: number): Waiting[] =>
  queue.filter(({ since, reject }) => {
    if (since > tooLong) return true;
    reject(isBusy());
    return false;
  });

function settle(
  parts: Parts,
  { unit, resolve, reject }: Waiting,
  result: UnitResult | undefined,
): void {
  if (result === undefined) return reject(new Error("the store has lost a unit of a batch"));
  const outcome = outcomeOf(result);
  if ("error" in outcome) return reject(outcome.error);
  parts.onCommitted(unit, outcome.committed.firstSequence);
  resolve(outcome.committed);
}

async function fly(parts: Parts, taken: Map<string, Waiting[]>): Promise<void> {
  const batch: Part[] = [...taken].map(([instanceId, entries]) => ({
    instanceId,
    units: entries.map(({ unit }) => unit),
  }));
  try {
    const began = performance.now();
    const results = await send(parts.pool, parts.overtaken, encodeBatch(batch));
    const units = batch.reduce((sum, part) => sum + part.units.length, 0);
    parts.onBatch(units, performance.now() - began);
    [...taken].forEach(([instanceId, entries], at) => {
      const [before, each] = results[at] ?? [0, []];
      parts.onCounted(instanceId, before, entries.length);
      entries.forEach((entry, index) => settle(parts, entry, each[index]));
    });
  } catch (error) {
    const failure = await parts.overtaken.explain(error);
    for (const entries of taken.values()) for (const { reject } of entries) reject(failure);
  }
}

/** Tells again and again since when a unit waits too long: behind a batch that takes long, its caller is to come back. */
function watchQueues(refuse: (tooLong: number) => void): NodeJS.Timeout {
  let lookedAt = Date.now();
  let isSkipped = false;
  return setInterval(() => {
    const now = Date.now();
    // Where the event loop stood still, answers that have arrived are not read yet. Every second look counts in any case.
    isSkipped = !isSkipped && now - lookedAt > watchMs + limits.lateMs;
    lookedAt = now;
    if (!isSkipped) refuse(now - limits.waitMs);
  }, watchMs).unref();
}

/** Sends a batch until it is known what became of it. @throws where it left nothing behind, or the store cannot tell */
async function send(pool: pg.Pool, overtaken: Overtaken, batch: Batch): Promise<BatchResult> {
  let resent = false;
  for (let attempt = 1; ; attempt++) {
    const key = randomUUID();
    const call = await callOnce(pool, key, batch, overtaken.version);
    if ("results" in call) return call.results;
    if (call.state === "overtaken") {
      // By another build, or by a swap that left everything as this one knows it.
      await overtaken.look(pool);
      overtaken.requireCurrent();
      if (attempt === tries) throw isBusy(call.error);
    } else if (call.state === "retry") {
      if (attempt === tries) throw isBusy(call.error);
      await delay(Math.random() * 2 ** attempt);
    } else {
      const outcome = await resolveOutcome(pool, key, call.error);
      if (outcome !== "void") return outcome.results;
      // It can never commit any more, so sending it again is safe; a second loss is the caller's to hear of.
      if (resent) throw cannotBeReached(call.error);
      resent = true;
    }
  }
}

type Call = { results: BatchResult } | { state: "retry" | "unknown" | "overtaken"; error: unknown };

/** Calls the append function once. Throws only what surely left nothing behind. */
async function callOnce(
  pool: pg.Pool,
  key: string,
  { shapes, work }: Batch,
  projections: string | null,
): Promise<Call> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<[BatchResult]>({
      name: appendFunction,
      text: `SELECT ${appendFunction}($1, $2, $3, $4)`,
      values: [key, shapes, work, projections],
      rowMode: "array",
    });
    client.release();
    const [[results] = []] = rows;
    if (results === undefined) throw new Error("the append function gave no answer");
    return { results };
  } catch (error) {
    if (isDefinite(error)) {
      // A server that may not be written is a standby by now: the next connection looks for the primary.
      client.release(serverError(error)?.code === readOnly);
      if (isRetryable(error)) return { state: "retry", error };
      if (isOvertakenError(error)) return { state: "overtaken", error };
      throw error;
    }
    client.release(true);
    return { state: "unknown", error };
  }
}
