// Run: shared
import assert from "node:assert/strict";
import { createConnection, createServer, type Server } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { newProcessName } from "../../src/storage/process-name.ts";
import { putRow } from "../../src/storage/row-change.ts";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import { serveWriter } from "../../src/storage/sqlite/shared-writer.ts";
import { happened, logOf, notes, schema, unit } from "./place.ts";
import { beforeCommits, flushFailed } from "./sqlite-commits.ts";
import { connect, type FilePlace, filePlace } from "./sqlite-place.ts";

const addressOf = (place: FilePlace) => `${place.path}-writer`;
const startWriter = (place: FilePlace, broken: (error: unknown) => void = () => {}) =>
  serveWriter({ path: place.path, socket: addressOf(place) }, broken);

/** The store as one of several processes opens it. */
async function join(place: FilePlace, more: { socket?: string; onBroken?: () => void } = {}) {
  const { socket = addressOf(place), ...rest } = more;
  const shared = { socket, processName: newProcessName(), endedOf: async () => [] };
  const db = openSqlite({ path: place.path, schema, serves: true, shared, ...rest });
  await db.migrate();
  return db;
}

/** A store, the process that writes it, and two that it writes for. */
async function storeOfTwo() {
  const stack = new AsyncDisposableStack();
  const place = stack.use(await filePlace());
  stack.use(await startWriter(place));
  const [one, two] = [stack.use(await join(place)), stack.use(await join(place))];
  return { place, one, two, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Counts the commits of connections that are opened from now on. */
function countCommits() {
  const counted = {
    count: 0,
    [Symbol.dispose]: () => hook[Symbol.dispose](),
  };
  const hook = beforeCommits(() => void (counted.count += 1));
  return counted;
}

const rounds = 20;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((next) => setImmediate(next));
}

/** Names of aggregates, each another one. */
const nameIn = () => {
  let last = 0;
  return () => `a${(last += 1)}`;
};

const noteOf = (body: string) =>
  putRow(notes, { instanceId: "one", id: "n", body, sequence: 1n }, ["sequence"]);

/**
 * Leads to the writer; while `isCut`, what was asked arrives there and its answer nowhere. While `isHeld` nobody who connects gets through.
 */
async function lossyWay(place: FilePlace) {
  const socket = `${place.path}-way`;
  const state = { isCut: false, isHeld: false, lost: 0, server: undefined as unknown as Server };
  state.server = createServer((near) => {
    if (state.isHeld && state.lost > 0) return void near.destroy();
    const far = createConnection(addressOf(place));
    near.pipe(far);
    far.on("data", (data) => {
      if (!state.isCut) return near.write(data);
      state.lost += 1;
      state.isCut = false;
      near.destroy();
      return far.destroy();
    });
    for (const each of [near, far]) each.on("error", () => undefined);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((listening) => state.server.listen(socket, listening));
  return { socket, state, [Symbol.dispose]: () => void state.server.close() };
}

describe("the process that writes for several (IDSVC_PROCESSES)", () => {
  it("commits a batch once though its answer was lost, and gives it again", async () => {
    await using place = await filePlace();
    await using _ = await startWriter(place);
    using way = await lossyWay(place);
    await using db = await join(place, { socket: way.socket });
    assert.equal((await db.commit(unit({ events: [happened("a", 1n)] }))).firstSequence, 1n);
    for (let nth = 1; nth <= 3; nth += 1) {
      way.state.isCut = true;
      // Nothing but its number tells this unit from another: it would be written twice without a conflict.
      const { firstSequence } = await db.commit(
        unit({ events: [happened(`b${nth}`, 1n)], changes: [noteOf(`${nth}`)] }),
      );
      assert.deepEqual([firstSequence, way.state.lost], [BigInt(nth + 1), nth]);
    }
    way.state.isCut = true;
    await assert.rejects(db.commit(unit({ events: [happened("a", 1n)] })), { name: "Conflict" });
    const log = (await logOf(db)).map(({ id, sequence }) => `${sequence} ${id}`);
    assert.deepEqual(log, ["1 a", "2 b1", "3 b2", "4 b3"]);
  });

  it("is waited for: what is committed meanwhile is written by the next one", async () => {
    await using place = await filePlace();
    const first = await startWriter(place);
    await using db = await join(place);
    await db.commit(unit({ events: [happened("a", 1n)] }));
    await first[Symbol.asyncDispose]();
    const late = db.commit(unit({ events: [happened("b", 1n)] }));
    await using _ = await startWriter(place);
    assert.equal((await late).firstSequence, 2n);
  });

  it("is waited for while a command beside the service has the lock as it opens the store", async () => {
    await using place = await filePlace();
    await using _ = await startWriter(place);
    await using db = await join(place);
    using command = connect(place.path);
    command.exec("BEGIN IMMEDIATE");
    const late = db.commit(unit({ events: [happened("a", 1n)] }));
    await delay(50);
    command.exec("COMMIT");
    assert.equal((await late).firstSequence, 1n);
  });

  it("tells all when a flush fails: nobody trusts the store any more (F05)", async () => {
    let fails = false;
    using _ = beforeCommits(() => {
      if (fails) throw flushFailed();
    });
    await using place = await filePlace();
    const broken: string[] = [];
    const told = Promise.withResolvers<void>();
    await using writer = await startWriter(place, () => broken.push("writer"));
    await using db = await join(place, { onBroken: () => broken.push("one") });
    await using other = await join(place, {
      onBroken() {
        broken.push("other");
        told.resolve();
      },
    });
    await other.commit(unit({ events: [happened("a", 1n)] }));
    fails = true;
    await assert.rejects(db.commit(unit({ events: [happened("b", 1n)] })), {
      reason: "STORE_OUTCOME_UNKNOWN",
    });
    fails = false;
    await told.promise;
    assert.deepEqual(broken.toSorted(), ["one", "other", "writer"]);
    for (const each of [db, other]) {
      await assert.rejects(each.commit(unit({ events: [happened("c", 1n)] })), {
        reason: "STORE_UNAVAILABLE",
      });
    }
    assert.ok(writer.isUsed());
  });

  it("lets each see at once what another has changed, and no more than that", async () => {
    await using store = await storeOfTwo();
    const { one, two } = store;
    // It may notice by itself, before it asks.
    const heard: string[] = [];
    two.onCommit((instanceId) => heard.push(instanceId));
    await one.commit(unit({ events: [happened("a", 1n)], changes: [noteOf("first")] }));
    const versions = async () => {
      // Asked once a turn of the event loop.
      await new Promise((turn) => setImmediate(turn));
      await two.catchUp();
      return {
        notes: two.cacheVersion("one", [notes]),
        elsewhere: two.cacheVersion("two", [notes]),
        stream: two.streamVersion("a"),
        otherStream: two.streamVersion("another"),
      };
    };
    const before = await versions();
    assert.deepEqual(heard.splice(0), ["one"]);
    await one.commit(unit({ changes: [noteOf("second")] }));
    const changed = await versions();
    assert.notEqual(changed.notes, before.notes);
    assert.deepEqual({ ...changed, notes: 0 }, { ...before, notes: 0 });
    assert.deepEqual(heard.splice(0), []);
    await one.commit(unit({ events: [happened("a", 2n)] }));
    const written = await versions();
    assert.notEqual(written.stream, changed.stream);
    assert.deepEqual({ ...written, stream: 0 }, { ...changed, stream: 0 });
    assert.deepEqual(heard, ["one"]);
  });

  it("commits together what those send that it answered last, and waits for nobody who is silent", async () => {
    using commits = countCommits();
    await using store = await storeOfTwo();
    const { one, two } = store;
    const name = nameIn();
    const commit = (by: typeof one) => by.commit(unit({ events: [happened(name(), 1n)] }));
    commits.count = 0;
    for (let nth = 0; nth < rounds; nth += 1) {
      const first = commit(one);
      await turns(5);
      await Promise.all([first, commit(two)]);
    }
    // On a busy machine a turn can take longer than they are waited for.
    assert.ok(commits.count < rounds * 1.5, `${commits.count} commits`);
    commits.count = 0;
    await commit(one);
    await commit(one);
    assert.equal(commits.count, 2);
  });

  it("writes what several send in the order of its time, and what one sends in its order", async () => {
    using commits = countCommits();
    await using store = await storeOfTwo();
    const { one, two } = store;
    const name = nameIn();
    const unitOf = (ms: number) =>
      unit({ events: [happened(name(), 1n, { createdAt: new Date(ms) })] });
    const commit = (by: typeof one, ...times: number[]) =>
      Promise.all(times.map(async (ms) => (await by.commit(unitOf(ms))).firstSequence));
    const together: bigint[][] = [];
    for (let nth = 0; nth < rounds; nth += 1) {
      commits.count = 0;
      const first = commit(one, 1, 5, 3);
      await turns(5);
      const [ofOne, ofTwo] = await Promise.all([first, commit(two, 2, 4, 6)]);
      const least = ofOne[0] ?? 0n;
      if (commits.count === 1) together.push([...ofOne, ...ofTwo].map((each) => each - least));
    }
    // On a busy machine not every round is one commit.
    assert.ok(together.length > 0);
    for (const each of together) assert.deepEqual(each, [0n, 3n, 4n, 1n, 2n, 5n]);
  });

  it("has units wait for more where the last batch had many, but not for long", async () => {
    using commits = countCommits();
    await using place = await filePlace();
    await using _ = await startWriter(place);
    await using db = await join(place);
    const name = nameIn();
    const commit = () => db.commit(unit({ events: [happened(name(), 1n)] }));
    const many = (count: number) => Array.from({ length: count }, commit);
    await Promise.all(many(8));
    commits.count = 0;
    for (let nth = 0; nth < rounds; nth += 1) {
      const first = commit();
      await turns(5);
      await Promise.all([first, ...many(7)]);
    }
    assert.ok(commits.count < rounds * 1.5, `${commits.count} commits`);
    commits.count = 0;
    await commit();
    await commit();
    assert.equal(commits.count, 2);
  });

  it("knows what became of the last batch of a process after thousands of others", async () => {
    await using place = await filePlace();
    let writer = await startWriter(place);
    using way = await lossyWay(place);
    await using silent = await join(place, { socket: way.socket });
    await using busy = await join(place);
    const name = nameIn();
    const commit = (by: typeof busy) => by.commit(unit({ events: [happened(name(), 1n)] }));
    await commit(busy);
    // The way to the writer stays cut after the answer is lost: nothing is sent again before it is open.
    way.state.isCut = true;
    way.state.isHeld = true;
    const late = commit(silent);
    while (way.state.lost === 0) await delay(1);
    // It stands among the last commits as one begins to write, and no more as the next one does.
    for (const count of [100, 4_200, 1]) {
      for (let nth = 0; nth < count; nth += 1) await commit(busy);
      await writer[Symbol.asyncDispose]();
      writer = await startWriter(place);
    }
    await using _ = writer;
    way.state.isHeld = false;
    assert.equal((await late).firstSequence, 2n);
  });

  it("takes everything for changed where more was committed than is kept", async () => {
    await using store = await storeOfTwo();
    const { one, two } = store;
    await one.commit(unit({ events: [happened("a", 1n)] }));
    await new Promise((turn) => setImmediate(turn));
    await two.catchUp();
    const before = two.cacheVersion("two", [notes]);
    // 4,096 are kept: the place of the second is that of batch 4,098.
    await store.place.execute("INSERT INTO commit_ring VALUES (2, '4098 somebody\n[]')");
    await new Promise((turn) => setImmediate(turn));
    await two.catchUp();
    assert.notEqual(two.cacheVersion("two", [notes]), before);
  });
});
