// Run: alone, early
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError, type Kind } from "../../src/errors.ts";
import { deleteRows, insertRow, putRow } from "../../src/storage/row-change.ts";
import { storeFormat } from "../../src/storage/schema.ts";
import { backupSqlite } from "../../src/storage/sqlite/backup.ts";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import { open as openFile } from "../../src/storage/sqlite/open.ts";
import { storageContract } from "./contract.ts";
import { withinRounds } from "../support/paced.ts";
import { happened, logOf, notes, refusalOf, schema, unit } from "./place.ts";
import { beforeCommits, flushFailed } from "./sqlite-commits.ts";
import { connect, filePlace, servedPlace, sharedPlace } from "./sqlite-place.ts";

const refused = (kind: Kind, reason: string, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual([error.kind, error.reason], [kind, reason]);
  assert.match(error.message, says);
  return true;
};

/** A store of so many rows, one of whose pages is damaged; as it was before lies beside it. */
async function damagedPlace(count: number) {
  const place = await filePlace();
  const first = await place.open(schema);
  await first.migrate();
  const body = "MARKER ".repeat(100);
  const rows = Array.from({ length: count }, (_, at) => `n${at}`);
  const changes = rows.map((id) => insertRow(notes, { instanceId: "one", id, body, sequence: 1n }));
  await first.commit(unit({ changes }));
  assert.equal((await first.health(true)).sound, true);
  await first[Symbol.asyncDispose]();
  const bytes = readFileSync(place.path);
  writeFileSync(`${place.path}.before`, bytes);
  const at = bytes.lastIndexOf("MARKER MARKER");
  writeFileSync(place.path, bytes.fill(0xff, at - (at % 4096), at - (at % 4096) + 64));
  return place;
}

describe("the store on SQLite", () => storageContract(filePlace));

describe("the store on SQLite while it is served", () => storageContract(servedPlace));

describe("the store on SQLite while several processes serve it", () =>
  storageContract(sharedPlace));

describe("too many units at once", () => {
  it("are refused to the instance that has most of them", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    const put = (instanceId: string) => {
      const row = { instanceId, id: "a", body: "text", sequence: 1n };
      return db.commit(unit({ instanceId, changes: [putRow(notes, row)] }));
    };
    const many = Array.from({ length: 20_010 }, () => put("one"));
    const few = Array.from({ length: 10 }, () => put("two"));
    const ended = await Promise.allSettled(many);
    await Promise.all(few);
    const reasons = ended.filter((each) => each.status === "rejected").map(({ reason }) => reason);
    assert.equal(reasons.length, 20);
    for (const reason of reasons) {
      assert.ok(refused("unavailable", "STORE_BUSY", /too many changes wait/)(reason));
    }
  });
});

describe("opening an SQLite file", () => {
  it("flushes every commit, and overwrites what is deleted (F05, C7)", async () => {
    await using place = await filePlace();
    const connection = openFile(place.path, true);
    const pragma = (name: string) => connection.pragma(name, { simple: true });
    // 2 is FULL (sqlite.org/pragma.html): the write-ahead log is flushed at each commit.
    assert.deepEqual([pragma("synchronous"), pragma("secure_delete")], [2, 1]);
    connection.close();
  });
  it("asks for the flush of each commit, whoever made the connection another one (F05)", async () => {
    const levels: unknown[] = [];
    using _ = beforeCommits((connection) =>
      levels.push(connection.pragma("synchronous", { simple: true })),
    );
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    for (let at = 1; at <= 3; at++) await db.commit(unit({ events: [happened(`a${at}`, 1n)] }));
    assert.ok(levels.length >= 3);
    assert.deepEqual([...new Set(levels)], [2]);
  });
  it("writes nothing any more after a flush that failed, until it is opened anew (F05)", async () => {
    let fails = false;
    using _ = beforeCommits(() => {
      if (fails) throw flushFailed();
    });
    await using place = await filePlace();
    let broken = 0;
    const onBroken = () => void (broken += 1);
    {
      await using db = openSqlite({ path: place.path, schema, onBroken });
      await db.migrate();
      await db.commit(unit({ events: [happened("a", 1n)] }));
      fails = true;
      await assert.rejects(db.commit(unit({ events: [happened("b", 1n)] })), {
        reason: "STORE_OUTCOME_UNKNOWN",
      });
      fails = false;
      for (const id of ["c", "d"]) {
        await assert.rejects(db.commit(unit({ events: [happened(id, 1n)] })), {
          reason: "STORE_UNAVAILABLE",
        });
      }
      assert.equal(broken, 1);
    }
    await using again = await place.open(schema);
    const ids = (await logOf(again)).map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => id !== "b"),
      ["a"],
    );
  });
  it("goes on without the thread that it writes by while flushes are slow, where none can be started", async () => {
    await using place = await filePlace();
    let broken = 0;
    const onBroken = () => void (broken += 1);
    const options = { path: place.path, schema, onBroken, serves: true, quickFlushMs: 1e-6 };
    await using db = openSqlite(options);
    await db.migrate();
    const before = process.cwd();
    const gone = mkdtempSync(join(tmpdir(), "idsvc-gone-"));
    process.chdir(gone);
    rmSync(gone, { recursive: true });
    try {
      // No thread starts where the working directory is gone.
      for (let at = 1; at <= 12; at++) {
        await db.commit(unit({ events: [happened(`a${at}`, 1n)] }));
        await delay(50);
      }
    } finally {
      process.chdir(before);
    }
    assert.equal(broken, 0);
    assert.equal((await logOf(db)).length, 12);
  });
  it("refuses a file of a newer format before it writes anything (F07)", async () => {
    await using place = await filePlace();
    await using first = await place.open(schema);
    await first.migrate();
    await place.execute(`PRAGMA user_version = ${storeFormat + 1}`);
    const known = new RegExp(`format ${storeFormat + 1}.*up to ${storeFormat}.*newer build`);
    await assert.rejects(first.migrate(), refused("failedPrecondition", "STORE_NEWER", known));
  });
  it("refuses a file that is no database, names it, and leaves it as it is (F07)", async () => {
    await using place = await filePlace();
    const letter = "Dear reader, this is no database. ".repeat(300);
    writeFileSync(place.path, letter);
    const names = new RegExp(place.path);
    await assert.rejects(
      place.open(schema),
      refused("failedPrecondition", "STORE_UNREADABLE", names),
    );
    assert.equal(readFileSync(place.path, "utf8"), letter);
  });
  it("refuses a path whose folder does not exist (F04)", () => {
    const path = join(tmpdir(), "idsvc-no-such-folder", "idsvc.db");
    const names = /no-such-folder.*cannot be opened/;
    assert.throws(
      () => openSqlite({ path, schema }),
      refused("failedPrecondition", "STORE_UNREADABLE", names),
    );
  });
  it("refuses a file beside the log of another one, and leaves both as they are (F07)", async () => {
    await using place = await filePlace();
    const backup = `${place.path}.backup`;
    const first = await place.open(schema);
    await first.migrate();
    await first.commit(unit({ events: [happened("a", 1n)] }));
    await backupSqlite(place.path, backup, {});
    await first.commit(unit({ events: [happened("a", 2n)] }));
    const log = readFileSync(`${place.path}-wal`);
    assert.ok(log.length > 0);
    await first[Symbol.asyncDispose]();
    writeFileSync(place.path, readFileSync(backup));
    writeFileSync(`${place.path}-wal`, log);
    const names = new RegExp(`${place.path}-wal .*move it`);
    await assert.rejects(
      place.open(schema),
      refused("failedPrecondition", "STORE_STRAY_LOG", names),
    );
    assert.deepEqual(readFileSync(place.path), readFileSync(backup));
    rmSync(`${place.path}-wal`);
    await using restored = await place.open(schema);
    assert.equal((await logOf(restored)).length, 1);
  });
  it("refuses a file whose log was taken away with what was committed last (F07)", async () => {
    await using place = await filePlace();
    await using killed = await place.open(schema);
    await killed.migrate();
    await killed.commit(unit({ events: [happened("a", 1n)] }));
    const path = `${place.path}.copy`;
    const copy = (...ends: string[]) =>
      ends.forEach((end) => writeFileSync(path + end, readFileSync(place.path + end)));
    copy("", "-shm");
    const names = new RegExp(`${path}-wal is missing.*put it back`);
    assert.throws(
      () => openSqlite({ path, schema }),
      refused("failedPrecondition", "STORE_LOG_MISSING", names),
    );
    copy("-wal");
    await using whole = openSqlite({ path, schema });
    assert.equal((await logOf(whole)).length, 1);
  });
  it("finds a damaged page when it checks thoroughly (F07)", async () => {
    await using place = await damagedPlace(50);
    await using damaged = await place.open(schema);
    const { sound } = await damaged.health(true);
    assert.equal(sound, false);
  });
  it("refuses to be served when a page is damaged, and names the file and the way back (F07)", async () => {
    await using place = await damagedPlace(50);
    await using damaged = await place.open(schema);
    const names = new RegExp(`${place.path} is damaged: move it away .* put a backup in its place`);
    await assert.rejects(damaged.inspect(), refused("failedPrecondition", "STORE_DAMAGED", names));
  });
  it("looks through a large store beside the start, and after damage before it (F07)", async () => {
    await using place = await damagedPlace(30_000);
    const broken = Promise.withResolvers<unknown>();
    const first = openSqlite({ path: place.path, schema, onBroken: broken.resolve });
    await first.inspect();
    assert.ok(refused("failedPrecondition", "STORE_DAMAGED", /is damaged/)(await broken.promise));
    await assert.rejects(first.commit(unit({})), { reason: "STORE_UNAVAILABLE" });
    await first[Symbol.asyncDispose]();
    const next = openSqlite({ path: place.path, schema });
    await assert.rejects(next.inspect(), { reason: "STORE_DAMAGED" });
    await next[Symbol.asyncDispose]();
    // A backup in its place is looked at as well, and served.
    writeFileSync(place.path, readFileSync(`${place.path}.before`));
    await using restored = openSqlite({ path: place.path, schema });
    await restored.inspect();
    await restored.inspect();
    assert.equal(existsSync(`${place.path}-damaged`), false);
  });
  it("is served no longer once a read meets a damaged page (F07)", async () => {
    await using place = await damagedPlace(50);
    const broken = Promise.withResolvers<unknown>();
    await using met = openSqlite({ path: place.path, schema, onBroken: broken.resolve });
    const all = async () => met.read.select().from(met.table(notes));
    await assert.rejects(all(), (error: unknown) => {
      const { kind, reason, message } = refusalOf(error);
      assert.deepEqual([kind, reason], ["unavailable", "STORE_DAMAGED"]);
      assert.ok(!message.includes(place.path), "callers do not hear where it lies");
      return true;
    });
    assert.ok(refused("failedPrecondition", "STORE_DAMAGED", /is damaged/)(await broken.promise));
    await assert.rejects(met.commit(unit({})), { reason: "STORE_UNAVAILABLE" });
  });
  it("leaves one file behind when it is closed in order", async () => {
    await using place = await filePlace();
    const db = await place.open(schema);
    await db.migrate();
    await db.commit(unit({ events: [happened("a", 1n)] }));
    assert.equal(existsSync(`${place.path}-wal`), true);
    await db[Symbol.asyncDispose]();
    assert.equal(existsSync(`${place.path}-wal`), false);
  });
});

const many = { rounds: 50, pauseMs: 20 };

describe("sharing an SQLite file with another process", () => {
  it("waits for a lock without failing and without blocking the event loop (F06)", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    using other = connect(place.path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = [1n, 2n].map((version) =>
      db.commit(unit({ events: [happened("a", version)] })),
    );
    // On a busy machine the loop turns seldom in one span or another; where it is blocked it does so in all.
    const turnsOften = async () => {
      let turns = 0;
      for (const until = Date.now() + 150; Date.now() < until; turns++) await delay(1);
      return turns > 20;
    };
    await withinRounds("the event loop turns more than 20 times in 150 ms", many, turnsOften);
    assert.deepEqual(await logOf(db), []);
    other.exec("COMMIT");
    assert.deepEqual(await Promise.all(waiting), [{ firstSequence: 1n }, { firstSequence: 2n }]);
  });
  it("answers units that still wait for a lock when the store is closed", async () => {
    await using place = await filePlace();
    const db = await place.open(schema);
    await db.migrate();
    using other = connect(place.path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = db.commit(unit({ events: [happened("a", 1n)] }));
    const [outcome] = await Promise.all([
      Promise.allSettled([waiting]).then(([first]) => first),
      db[Symbol.asyncDispose](),
    ]);
    assert.ok(outcome?.status === "rejected");
    refused("unavailable", "STORE_CLOSED", /stopping/)(outcome.reason);
  });
  it("moves the cache versions of everything soon after the other has written (B7)", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    const before = db.cacheVersion("one", [notes]);
    await place.execute(`INSERT INTO notes VALUES ('one', 'a', 'x', 1)`);
    const hasMoved = () => db.cacheVersion("one", [notes]) !== before;
    await withinRounds("the version has moved", many, hasMoved, () => logOf(db));
  });
  it("knows at once that nothing was written to a stream, but for what others wrote", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    const before = db.streamVersion("a");
    await db.commit(unit({ events: [happened("b", 1n)] }));
    const failed = db.commit(unit({ events: [happened("a", 1n), happened("a", 1n)] }));
    await assert.rejects(failed);
    assert.equal(db.streamVersion("a"), before);
  });
  it("reads what the other has committed", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    await place.execute(`INSERT INTO notes VALUES ('one', 'a', 'x', 1)`);
    assert.equal((await db.read.select().from(db.table(notes))).length, 1);
  });
});

describe("what was deleted from an SQLite file", () => {
  it("stands in none of its pages once it is written anew, though they were split and merged (C7)", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    const count = 8_000;
    const idOf = (turn: number) => String((turn * 7_919) % count).padStart(8, "0");
    const markOf = (turn: number) => (turn % 10 === 0 ? "MARKER" : "plain-");
    const row = (turn: number, length: number) =>
      putRow(notes, {
        instanceId: "one",
        id: idOf(turn),
        sequence: 1n,
        body: markOf(turn) + idOf(turn) + "x".repeat(length),
      });
    const turns = Array.from({ length: count }, (_, turn) => turn);
    for (const each of turns) {
      const grown = each % 3 === 0 && each > 100 ? [row(each - 97, each % 500)] : [];
      void db.commit(unit({ changes: [row(each, each % 300), ...grown] }));
    }
    const marked = turns.filter((turn) => markOf(turn) === "MARKER");
    const deleted = marked.map((turn) => deleteRows(notes, { instanceId: "one", id: idOf(turn) }));
    await db.commit(unit({ changes: deleted }));
    await db.rewrite();
    const raw = [place.path, `${place.path}-wal`]
      .map((file) => readFileSync(file, "latin1"))
      .join();
    assert.equal(raw.split("plain-").length > count / 2, true);
    assert.equal(raw.split("MARKER").length - 1, 0);
    assert.equal((await db.health(true)).sound, true);
  });
});
