// Run: alone, early
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "../../src/errors.ts";
import { Conflict, type MigratableDatabase } from "../../src/storage/database.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import { startProxy } from "../support/postgres-proxy.ts";
import { happened, logOf, notes, schema, unit } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";
import { backendIn, holding, locked } from "./two-replicas.ts";

const appending = "idsvc_append";

/** A store that is reached through a network which misbehaves. */
async function behindProxy() {
  const place = await databasePlace();
  const proxy = await startProxy(place.url);
  const db = await openPostgres({ url: proxy.url, schema });
  await db.migrate();
  // The connections of the writer are warm, so that a rule meets the append and nothing else.
  await db.commit(unit({ instanceId: "warm", events: [happened("a", 1n)] }));
  return {
    place,
    proxy,
    db,
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

const refused = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual([error.kind, error.reason], ["unavailable", reason]);
  assert.ok((error.retryAfterSeconds ?? 0) > 0, "it says when to come back");
  assert.doesNotMatch(error.message, /127\.0\.0\.1|localhost|idsvc@|user/i);
  return true;
};

const added = (id: string) =>
  unit({
    events: [happened(id, 1n)],
    changes: [insertRow(notes, { instanceId: "one", id, body: "x", sequence: 1n })],
  });

const heads = async (db: MigratableDatabase) => (await db.heads()).get("one") ?? 0n;

describe("a commit whose connection breaks (F10)", () => {
  it("is found to be done when only its answer was lost, and is told as done", async () => {
    await using store = await behindProxy();
    store.proxy.cut("after", appending);
    assert.deepEqual(await store.db.commit(added("a")), { firstSequence: 1n });
    assert.equal(store.proxy.cuts, 1);
    assert.equal((await logOf(store.db)).length, 1);
  });
  it("tells each unit of the batch its own outcome from the kept results", async () => {
    await using store = await behindProxy();
    store.proxy.cut("after", appending);
    const outcomes = await Promise.allSettled(
      ["a", "b", "a", "c"].map((id) => store.db.commit(added(id))),
    );
    assert.equal(store.proxy.cuts, 1);
    assert.deepEqual(
      outcomes.map((outcome) =>
        outcome.status === "fulfilled" ? outcome.value.firstSequence : outcome.reason.constructor,
      ),
      [1n, 2n, Conflict, 3n],
    );
  });
  it("is sent once more when it never arrived, and is there once", async () => {
    await using store = await behindProxy();
    store.proxy.cut("before", appending);
    assert.deepEqual(await store.db.commit(added("a")), { firstSequence: 1n });
    assert.equal(store.proxy.cuts, 1);
    assert.equal((await logOf(store.db)).length, 1);
  });
  it("is refused as surely undone when it is lost twice, and can be made again", async () => {
    await using store = await behindProxy();
    store.proxy.cut("before", appending, 2);
    await assert.rejects(store.db.commit(added("a")), refused("STORE_UNAVAILABLE"));
    assert.equal(await heads(store.db), 0n);
    assert.deepEqual(await store.db.commit(added("a")), { firstSequence: 1n });
  });
  it("can never happen late once it was found undone: its key is spent", async () => {
    await using store = await behindProxy();
    await using other = await openPostgres({ url: store.place.url, schema });
    await other.migrate();
    // The batch waits for a row that we hold; the connection is cut meanwhile, and the batch is given up.
    const { place } = store;
    const lock = "UPDATE commit_counters SET commits = commits WHERE instance_id = 'warm'";
    const held = await holding(place, lock);
    const late = store.db.commit(unit({ instanceId: "warm", events: [happened("a", 2n)] }));
    await backendIn(place, locked);
    store.proxy.shut(true);
    await delay(50);
    store.proxy.shut(false);
    await backendIn(place, "EXISTS (SELECT FROM append_batches WHERE results IS NULL)");
    await held[Symbol.asyncDispose]();
    assert.deepEqual(await late, { firstSequence: 2n });
    // What was cut off is over too: no other session of the database is at work.
    const others =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()";
    await backendIn(place, `NOT EXISTS (${others})`);
    const log = await logOf(other, "warm");
    assert.deepEqual(
      log.map(({ version }) => version),
      [1n, 2n],
    );
    const { rows } = await place.query(
      "SELECT count(*)::int AS voids FROM append_batches WHERE results IS NULL",
    );
    assert.deepEqual(rows, [{ voids: 1 }]);
  });
  it("is of unknown outcome when the database stays away, and moves nothing that is cached", async () => {
    await using store = await behindProxy();
    store.proxy.cut("after", appending);
    const asked = store.db.commit(added("a"));
    while (store.proxy.cuts === 0) await delay(1);
    store.proxy.shut(true);
    await assert.rejects(asked, refused("STORE_OUTCOME_UNKNOWN"));
    store.proxy.shut(false);
    // It was done: whoever looks finds it whole, as the answer says.
    assert.equal(await heads(store.db), 1n);
  });
});

describe("a database that is away (F08)", () => {
  it("is refused without naming host or user, and is back as soon as it is there", async () => {
    await using store = await behindProxy();
    store.proxy.shut(true);
    // A call on a connection whose end is not known yet would be of unknown outcome.
    await delay(50);
    const t = store.db.table(notes);
    await assert.rejects(store.db.commit(added("a")), refused("STORE_UNAVAILABLE"));
    await assert.rejects(async () => store.db.read.select().from(t), refused("STORE_UNAVAILABLE"));
    await assert.rejects(
      store.db.snapshot((read) => [read.select().from(t)]),
      refused("STORE_UNAVAILABLE"),
    );
    await assert.rejects(store.db.heads(), refused("STORE_UNAVAILABLE"));
    await assert.rejects(async () => store.db.catchUp(), refused("STORE_UNAVAILABLE"));
    store.proxy.shut(false);
    await store.db.commit(added("a"));
    assert.equal((await store.db.read.select().from(t)).length, 1);
    await store.db.catchUp();
  });
  it("heals from backends that are killed again and again: each unit is done or refused, never both", async () => {
    await using store = await behindProxy();
    let killing = true;
    const killer = (async () => {
      while (killing) {
        await store.place.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'idsvc%' AND datname = current_database()",
        );
        await delay(15);
      }
    })();
    const ids = Array.from({ length: 150 }, (_, at) => `n${at}`);
    const outcomes = new Map<string, string>();
    for (const id of ids) {
      await store.db.commit(added(id)).then(
        () => outcomes.set(id, "done"),
        (error: unknown) =>
          outcomes.set(id, error instanceof DomainError ? error.reason : String(error)),
      );
    }
    killing = false;
    await killer;
    await delay(300);
    const log = new Set((await logOf(store.db)).map(({ id }) => id));
    for (const [id, outcome] of outcomes) {
      assert.ok(["done", "STORE_UNAVAILABLE"].includes(outcome), outcome);
      assert.equal(log.has(id), outcome === "done", `${id} is ${outcome}`);
    }
    assert.ok([...outcomes.values()].filter((outcome) => outcome === "done").length > 20);
    assert.equal(await heads(store.db), BigInt(log.size));
  });
});
