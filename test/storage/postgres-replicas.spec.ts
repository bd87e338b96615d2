// Run: alone, early
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "../../src/errors.ts";
import { ClaimTaken, Conflict, type MigratableDatabase } from "../../src/storage/database.ts";
import { and, asc, eq, gt, sql } from "../../src/storage/drizzle.ts";
import { events } from "../../src/storage/kernel-tables.ts";
import { cachedRead } from "../../src/storage/read-cache.ts";
import { putRow } from "../../src/storage/row-change.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { startProxy } from "../support/postgres-proxy.ts";
import { happened, logOf, notes, samples, schema, someSample, unit } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";
import { backendIn, holding, locked, twoReplicas } from "./two-replicas.ts";
import { withinRounds } from "../support/paced.ts";

const sample = (id: string) => putRow(samples, { ...someSample, id });
const note = (id: string, body = "x") =>
  putRow(notes, { instanceId: "one", id, body, sequence: 1n });

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 60_000; !holds(); await delay(2)) {
    assert.ok(Date.now() < end, "what was waited for came too late");
  }
}

/** The body of the note, from a cache of this replica. */
const cachedBody = (db: MigratableDatabase) => {
  const t = db.table(notes);
  let reads = 0;
  const read = cachedRead(db, [notes], async (instanceId, id) => {
    reads += 1;
    const [row] = await db.read
      .select()
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
    return row?.body;
  });
  return { read: async (id = "a") => read("one", id), reads: () => reads };
};

describe("two replicas on one database", () => {
  it("migrate at once, and each finds the store as it should be (F24)", async () => {
    await using place = await databasePlace();
    const all = await Promise.all([1, 2, 3, 4].map(() => place.open(schema)));
    assert.deepEqual(await Promise.all(all.map((db) => db.migrate())), [[], [], [], []]);
    for (const [at, db] of all.entries()) {
      await db.commit(unit({ events: [happened(`n${at}`, 1n)] }));
    }
    for (const db of all) await db[Symbol.asyncDispose]();
  });
  it("see in a cached read within a second what the other has written (B7, F28)", async () => {
    await using pair = await twoReplicas();
    const cached = cachedBody(pair.two);
    for (let round = 0; round < 20; round++) {
      await pair.one.commit(unit({ changes: [note("a", `v${round}`)] }));
      const isSeen = async () => (await cached.read()) === `v${round}`;
      await withinRounds("what was written is seen", { rounds: 10, pauseMs: 100 }, isSeen, () =>
        pair.one.read.select().from(pair.one.table(notes)),
      );
    }
  });
  it("answer from memory while nothing is written", async () => {
    await using pair = await twoReplicas();
    await pair.one.commit(unit({ changes: [note("a", "v")] }));
    await pair.two.catchUp();
    const cached = cachedBody(pair.two);
    // Nothing cached counts while the counters could not be read for long, which a busy machine may bring about between two turns.
    for (const end = Date.now() + 1_500; Date.now() < end; await delay(5)) {
      await pair.two.catchUp();
      await cached.read();
    }
    assert.equal(cached.reads(), 1);
  });
  it("answer from memory what the other has not touched, and read anew what it has", async () => {
    await using pair = await twoReplicas();
    await pair.one.commit(unit({ changes: [note("a", "v")] }));
    await pair.two.catchUp();
    const cached = cachedBody(pair.two);
    await cached.read();
    for (let round = 0; round < 100; round++) {
      await pair.one.commit(
        unit({ changes: [sample(`${round}`)], events: [happened(`${round}`, 1n)] }),
      );
      await pair.two.catchUp();
      assert.equal(await cached.read(), "v");
    }
    assert.equal(cached.reads(), 1);
    await pair.one.commit(unit({ changes: [note("a", "w")] }));
    await pair.two.catchUp();
    assert.deepEqual([await cached.read(), cached.reads()], ["w", 2]);
  });
  it("take everything for changed when they cannot tell what was", async () => {
    await using pair = await twoReplicas();
    const cached = cachedBody(pair.two);
    await pair.one.commit(unit({ changes: [note("a", "v")] }));
    for (const loss of ["RETURN NULL", "NEW.parts := NULL; RETURN NEW"]) {
      await pair.place.query(`
        CREATE OR REPLACE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${loss}; END $$;
        CREATE OR REPLACE TRIGGER lose BEFORE INSERT OR UPDATE ON commit_parts
          FOR EACH ROW EXECUTE FUNCTION lose()`);
      await pair.two.catchUp();
      await cached.read();
      const before = cached.reads();
      await pair.one.commit(unit({ changes: [sample(loss)] }));
      await pair.two.catchUp();
      assert.deepEqual([await cached.read(), cached.reads()], ["v", before + 1]);
    }
  });
  it("see at once what was acknowledged elsewhere, when they catch up first (C2, F15)", async () => {
    await using pair = await twoReplicas();
    const cached = cachedBody(pair.two);
    for (let round = 0; round < 200; round++) {
      await pair.one.commit(unit({ changes: [note("a", `v${round}`)] }));
      await pair.two.catchUp();
      assert.equal(await cached.read(), `v${round}`);
    }
  });
  it("see at once what the other wrote, also while they write themselves", async () => {
    await using pair = await twoReplicas();
    let going = true;
    const busy = (async () => {
      for (let at = 0; going; at++)
        await pair.two.commit(unit({ changes: [note("busy", `${at}`)] }));
    })();
    const cached = cachedBody(pair.two);
    for (let round = 0; round < 100; round++) {
      await pair.one.commit(unit({ changes: [note("a", `v${round}`)] }));
      await pair.two.catchUp();
      assert.equal(await cached.read(), `v${round}`);
    }
    going = false;
    await busy;
  });
  it("hear of events that the other has written", async () => {
    await using pair = await twoReplicas();
    const heard: string[] = [];
    pair.two.onCommit((instanceId) => heard.push(instanceId));
    await pair.one.commit(unit({ events: [happened("a", 1n)] }));
    await until(() => heard.includes("one"));
  });
  it("trust nothing cached while they cannot ask, and go on when they can (F28)", async () => {
    await using pair = await twoReplicas();
    await using proxy = await startProxy(pair.place.url);
    await using third = await openPostgres({ url: proxy.url, schema });
    await third.migrate();
    const trusts = () => !Number.isNaN(third.cacheVersion("one", [notes]));
    await until(trusts);
    proxy.hole(true);
    await until(() => !trusts());
    proxy.hole(false);
    proxy.shut(true);
    proxy.shut(false);
    await until(trusts);
    await pair.one.commit(unit({ changes: [note("a", "new")] }));
    await third.catchUp();
    assert.equal(await cachedBody(third).read(), "new");
  });
  it("have one winner each time they race for a claim, and no event of the loser (F12)", async () => {
    await using pair = await twoReplicas();
    const rounds = Array.from({ length: 60 }, (_, at) => at);
    for (const round of rounds) {
      const racers = [pair.one, pair.two].map((db, at) => {
        const holderId = `${round}/${at}`;
        const hold = { op: "hold", scope: "", kind: "name", value: `v${round}` } as const;
        return db.commit(
          unit({
            // Each in its own instance: only the claim itself stands between them.
            instanceId: `i${at}`,
            claims: [{ ...hold, holderType: "note", holderId }],
            events: [happened(holderId, 1n)],
          }),
        );
      });
      const outcomes = await Promise.allSettled(racers);
      const losers = outcomes.filter((outcome) => outcome.status === "rejected");
      assert.equal(losers.length, 1);
      assert.ok(losers[0]?.reason instanceof ClaimTaken);
    }
    const written = [...(await logOf(pair.one, "i0")), ...(await logOf(pair.one, "i1"))];
    assert.equal(written.length, rounds.length);
  });
  it("come through a deadlock: both units are done", async () => {
    await using pair = await twoReplicas();
    const claim = (value: string, holderId: string) =>
      ({ op: "add", scope: "", kind: "name", value, holderType: "note", holderId }) as const;
    for (let round = 0; round < 10; round++) {
      const values = Array.from({ length: 20 }, (_, at) => `${round}/${at}`);
      const both = [pair.one, pair.two].map((db, at) => {
        const order = at === 0 ? values : values.toReversed();
        const claims = order.map((value) => claim(value, `h${at}`));
        return db.commit(
          unit({ instanceId: `i${at}`, claims, events: [happened(`${round}`, 1n)] }),
        );
      });
      const outcomes = await Promise.allSettled(both);
      const failed = outcomes.filter((outcome) => outcome.status === "rejected");
      assert.equal(failed.length, 1);
      assert.ok(failed[0]?.reason instanceof ClaimTaken, String(failed[0]?.reason));
    }
  });
});

describe("the log under writers of two replicas (F11)", () => {
  /** What a reader finds who has read up to there. */
  const sequencesAfter = async (db: MigratableDatabase, after: bigint): Promise<bigint[]> => {
    const t = db.table(events);
    const rows = await db.read
      .select({ sequence: t.sequence })
      .from(t)
      .where(and(eq(t.instanceId, "one"), gt(t.sequence, after)))
      .orderBy(asc(t.sequence))
      .limit(100);
    return rows.map(({ sequence }) => sequence);
  };
  const readersAndWriters = async (
    pair: Awaited<ReturnType<typeof twoReplicas>>,
    write: (db: MigratableDatabase, id: string) => Promise<unknown>,
    durationMs: number,
  ) => {
    const seen: bigint[] = [];
    let going = true;
    const reader = (async () => {
      for (;;) {
        const isLast = !going;
        const found = await sequencesAfter(pair.two, seen.at(-1) ?? 0n);
        seen.push(...found);
        if (isLast && found.length === 0) return;
        await delay(1);
      }
    })();
    const end = Date.now() + durationMs;
    const writers = Array.from({ length: 16 }, async (_, at) => {
      const db = at % 2 === 0 ? pair.one : pair.two;
      for (let round = 0; Date.now() < end; round++) await write(db, `${at}/${round}`);
    });
    await Promise.all(writers);
    going = false;
    await reader;
    const written = (await logOf(pair.one)).map(({ sequence }) => sequence);
    return { seen, written };
  };

  it("shows a reader with a cursor every event once and in order, without a hole", async () => {
    await using pair = await twoReplicas();
    let failed = 0;
    const { seen, written } = await readersAndWriters(
      pair,
      async (db, id) => {
        const isBad = Math.random() < 0.1;
        const expect = isBad
          ? [{ kind: "stream", aggregateType: "note", aggregateId: id, version: 9n } as const]
          : [];
        const two = [happened(id, 1n), happened(id, 2n)];
        await db.commit(unit({ expect, events: two })).catch((error: unknown) => {
          assert.ok(error instanceof Conflict);
          failed += 1;
        });
      },
      1_500,
    );
    assert.ok(failed > 0 && written.length > 500, `${written.length} written, ${failed} failed`);
    assert.deepEqual(
      written,
      written.map((_, at) => BigInt(at + 1)),
    );
    assert.deepEqual(seen, written);
  });
  it("loses events with numbers drawn before the commit, which proves that this reader can", async () => {
    await using pair = await twoReplicas();
    const { query } = pair.place;
    await query("CREATE SEQUENCE naive");
    await query("CREATE TABLE gate (is_open boolean)");
    const insert = `INSERT INTO events
      SELECT 'one', n, 'note', 'n' || n, 1, 'note.added', 1, '{}', '', '', '', '', '', '', 0 FROM nextval('naive') n`;
    // Who draws first commits when the reader has passed their number.
    const first = query(
      `DO $$ BEGIN ${insert}; WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.005); END LOOP; END $$`,
    );
    await backendIn(pair.place, "wait_event = 'PgSleep'");
    await query(insert);
    const seen = await sequencesAfter(pair.two, 0n);
    await query("INSERT INTO gate VALUES (true)");
    await first;
    seen.push(...(await sequencesAfter(pair.two, seen.at(-1) ?? 0n)));
    const written = (await logOf(pair.one)).map(({ sequence }) => sequence);
    assert.deepEqual({ seen, written }, { seen: [2n], written: [1n, 2n] });
  });
});

describe("limits of a busy database (F25)", () => {
  const busy = (error: unknown) => {
    assert.ok(error instanceof DomainError, String(error));
    assert.deepEqual([error.kind, error.reason], ["unavailable", "STORE_BUSY"]);
    assert.equal(error.retryAfterSeconds, 1);
    return true;
  };

  it("tells callers to come back when an instance is locked for long, and holds up no other", async () => {
    await using pair = await twoReplicas();
    await pair.one.commit(unit({ events: [happened("a", 1n)] }));
    const lock = "UPDATE commit_counters SET commits = commits WHERE instance_id = 'one'";
    const held = await holding(pair.place, lock);
    const add = (id: string) => pair.one.commit(unit({ events: [happened(id, 1n)] }));
    let isOver = false;
    const first = assert.rejects(add("b"), busy).finally(() => (isOver = true));
    await backendIn(pair.place, locked, { isOver: () => isOver });
    const queued = assert.rejects(add("c"), busy);
    const all = Promise.all([first, queued]);
    // Who waits for three seconds at the database itself is refused after them.
    const patient = assert.rejects(pair.place.query(`SET lock_timeout = '3s'; ${lock}`), {
      code: "55P03",
    });
    const earlier = Promise.race([all.then(() => "they"), patient.then(() => "the database")]);
    await pair.one.commit(unit({ instanceId: "two", events: [happened("a", 1n)] }));
    assert.equal(await earlier, "they");
    await Promise.all([all, patient]);
    await held[Symbol.asyncDispose]();
    assert.equal((await logOf(pair.one)).length, 1);
  });
  it("lets no flood of searches starve a write, and bounds how long a search waits", async () => {
    await using pair = await twoReplicas();
    const t = pair.one.table(notes);
    await pair.one.commit(unit({ changes: [note("a")] }));
    const { query } = pair.place;
    await query(`CREATE TABLE gate (is_open boolean); CREATE SEQUENCE begun;
      CREATE FUNCTION search() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('begun');
        WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.005); END LOOP;
        RETURN ''; END $$`);
    const begun = async () => {
      const { rows } = await query("SELECT pg_sequence_last_value('begun')::int AS n");
      return (rows[0] as { n: number | null }).n ?? 0;
    };
    const refused: unknown[] = [];
    const searches = Array.from({ length: 20 }, () =>
      pair.one.read
        .select({ x: sql`search()` })
        .from(t)
        .catch((error: unknown) => refused.push(error)),
    );
    await withinRounds(
      "eight searches",
      { rounds: 200, pauseMs: 5 },
      async () => (await begun()) === 8,
    );
    const slept = query("SELECT pg_sleep(1.5)").then(() => refused.length);
    await pair.one.commit(unit({ events: [happened("a", 1n)] }));
    assert.equal(await slept, 12, "they wait no longer than for so long");
    await query("INSERT INTO gate VALUES (true)");
    await Promise.all(searches);
    for (const reason of refused) busy(reason);
    assert.equal(await begun(), 8, "eight connections read, and who waited for one did nothing");
  });
});
