import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "../../src/errors.ts";
import { Conflict, type MigratableDatabase } from "../../src/storage/database.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { and, asc, eq, gt } from "../../src/storage/drizzle.ts";
import { events } from "../../src/storage/kernel-tables.ts";
import { happened, schema, unit } from "../storage/place.ts";
import { type Fault, newOutcome, type Outcome, pause } from "./fault.ts";
import { databaseUrl, query } from "./store.ts";

const writerCount = 24;
const instances = ["one", "two", "three"];
const naiveMs = 3_000;
const roundMs = 5_000;
const mostAtOnce = 1_000;
const wrongInTen = 0.1;
const afterCommitMs = 300;

const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idsvc write'
  ORDER BY random() LIMIT 1`;

/**
 * The gap problem (4.1): writers on two replicas with units that fail, sessions that are ended in the middle, and readers
 * that follow the log from a cursor. The same reader on numbers that are drawn before the commit must lose some, or it
 * could not see a loss.
 */
export const readerRace: Fault = {
  id: "F11",
  title: "readers with a cursor among writers of two replicas",
  engines: ["postgres"],
  rounds: { usual: 3, full: 360 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    const url = databaseUrl(store.place);
    const one = await openPostgres({ url, schema });
    const two = await openPostgres({ url, schema });
    await using stack = new AsyncDisposableStack();
    stack.use(one);
    stack.use(two);
    await one.migrate();
    await two.migrate();
    const { written, missed } = await naive(url);
    if (missed === 0)
      outcome.unexplained.push(
        `the naive reader lost none of ${written}: the harness sees nothing`,
      );
    outcome.remark = `the naive cursor lost ${missed} of ${written}`;
    // Each replica and instance has readers of its own, which go on from round to round.
    const readers = [one, two].flatMap((db) =>
      instances.map((instanceId) => createReader(db, instanceId)),
    );
    while (outcome.rounds < rounds) {
      await raceFor(roundMs, {
        url,
        replicas: [one, two],
        readers,
        outcome,
        stride: outcome.rounds,
      });
      outcome.rounds += 1;
    }
    for (const reader of readers) {
      const head = (await one.heads()).get(reader.instanceId) ?? 0n;
      outcome.lost.push(...reader.violations);
      if (reader.last() !== head)
        outcome.lost.push(
          `a reader of ${reader.instanceId} saw ${reader.last()} of ${head} events`,
        );
    }
    return outcome;
  },
};

type Reader = {
  instanceId: string;
  violations: string[];
  last(): bigint;
  /** Reads on until told otherwise, and then to the end of the log. */
  follow(isGoing: () => boolean): Promise<void>;
};

function createReader(db: MigratableDatabase, instanceId: string): Reader {
  const t = db.table(events);
  const violations: string[] = [];
  let after = 0n;
  return {
    instanceId,
    violations,
    last: () => after,
    async follow(isGoing) {
      for (;;) {
        const isLast = !isGoing();
        const rows = await db.read
          .select({ sequence: t.sequence })
          .from(t)
          .where(and(eq(t.instanceId, instanceId), gt(t.sequence, after)))
          .orderBy(asc(t.sequence))
          .limit(Math.ceil(Math.random() * mostAtOnce))
          .then(
            (found) => found,
            // A session of ours was ended: the cursor stands where it stood.
            () => [],
          );
        for (const { sequence } of rows) {
          // Sequences have no holes, so what is passed over shows at once, and not only at the end.
          if (sequence !== after + 1n)
            violations.push(`a reader of ${instanceId} saw ${sequence} after ${after}`);
          after = sequence;
        }
        if (isLast && rows.length === 0) return;
        await delay(1);
      }
    },
  };
}

async function raceFor(
  ms: number,
  race: {
    url: string;
    replicas: MigratableDatabase[];
    readers: Reader[];
    outcome: Outcome;
    stride: number;
  },
): Promise<void> {
  const { outcome } = race;
  const end = Date.now() + ms;
  let isGoing = true;
  const following = race.readers.map((reader) => reader.follow(() => isGoing));
  const writing = Array.from({ length: writerCount }, async (_, at) => {
    const db = race.replicas[at % race.replicas.length];
    const instanceId = instances[at % instances.length] ?? "one";
    for (let each = 0; Date.now() < end; each++) {
      const id = `${race.stride}/${at}/${each}`;
      const many = Math.ceil(Math.random() * 3);
      const wrong = {
        kind: "stream",
        aggregateType: "note",
        aggregateId: id,
        version: 9n,
      } as const;
      const isWrong = Math.random() < wrongInTen;
      try {
        await db?.commit(
          unit({
            instanceId,
            expect: isWrong ? [wrong] : [],
            events: Array.from({ length: many }, (__, place) => happened(id, BigInt(place + 1))),
          }),
        );
        outcome.acknowledged += 1;
        if (isWrong) outcome.lost.push(`${id} was committed against its expectation`);
      } catch (error) {
        const isExpected = isWrong && error instanceof Conflict;
        const isUnavailable = error instanceof DomainError && error.kind === "unavailable";
        if (!isExpected && !isUnavailable) outcome.unexplained.push(`${id}: ${String(error)}`);
      }
      if (Math.random() < 0.3) await pause(0, 8);
    }
  });
  while (Date.now() < end) {
    await pause(200, 600);
    await query(race.url, terminate);
    outcome.struck += 1;
  }
  await Promise.all(writing);
  await delay(afterCommitMs);
  isGoing = false;
  await Promise.all(following);
}

/** Way A of 4.1: a serial position, a moment of thought before the commit, and a reader that asks for what is above. */
async function naive(url: string): Promise<{ written: number; missed: number }> {
  await query(url, "CREATE TABLE naive (position bigserial PRIMARY KEY)");
  const end = Date.now() + naiveMs;
  const seen = new Set<unknown>();
  let isGoing = true;
  const reading = (async () => {
    for (let after = "0"; isGoing; await delay(2)) {
      const above = `SELECT position FROM naive WHERE position > ${after} ORDER BY position`;
      const rows = await query(url, above);
      for (const [position] of rows) seen.add(position);
      after = String(rows.at(-1)?.[0] ?? after);
    }
  })();
  const insert = "INSERT INTO naive DEFAULT VALUES; SELECT pg_sleep(random() * 0.008)";
  const writing = Array.from({ length: 8 }, async () => {
    while (Date.now() < end) await query(url, insert);
  });
  await Promise.all(writing);
  isGoing = false;
  await reading;
  const rows = await query(url, "SELECT position FROM naive");
  return { written: rows.length, missed: rows.filter(([each]) => !seen.has(each)).length };
}
