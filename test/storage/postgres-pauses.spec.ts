// Run: alone
import { describe, it } from "node:test";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { putRow } from "../../src/storage/row-change.ts";
import { notes, schema, unit } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";

async function openStore() {
  const place = await databasePlace();
  const db = await openPostgres({ url: place.url, schema });
  await db.migrate();
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** What is sent within this turn of the event loop is answered while it stands still for longer than the limit of 1 s. */
async function standStill(): Promise<void> {
  for (let round = 0; round < 10; round++)
    await new Promise<void>((resolve) => process.nextTick(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
}

describe("a pause of the event loop is not taken for one of the database (F22)", () => {
  it("while commits of others are looked for", async () => {
    await using store = await openStore();
    await store.db.catchUp();
    const caughtUp = store.db.catchUp();
    await standStill();
    await caughtUp;
  });

  it("while calls wait for a connection", async () => {
    await using store = await openStore();
    const { db } = store;
    const read = async () => db.read.select().from(db.table(notes));
    const write = (id: string) =>
      db.commit(
        unit({ changes: [putRow(notes, { instanceId: "one", id, body: "x", sequence: 1n })] }),
      );
    // How long a busy server takes for its first connections is another question.
    await write("first");
    await read();
    const reads = Array.from({ length: 24 }, read);
    const writes = Array.from({ length: 10 }, (_, at) => write(`${at}`));
    await standStill();
    await Promise.all([...reads, ...writes]);
  });
});
