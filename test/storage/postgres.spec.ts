// Run: alone, early
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DomainError } from "../../src/errors.ts";
import { judgeServer, type ServerFacts } from "../../src/storage/postgres/connect.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { storeFormat } from "../../src/storage/schema.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { storageContract } from "./contract.ts";
import { happened, schema, unit } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";

const refused = (reason: string, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual([error.kind, error.reason], ["failedPrecondition", reason]);
  assert.match(error.message, says);
  return true;
};

describe("the store on PostgreSQL", () =>
  storageContract(databasePlace, () => databasePlace(schema)));

describe("opening a PostgreSQL database", () => {
  const sound: ServerFacts = {
    version: 140_000,
    encoding: "UTF8",
    flushes: "on",
    fsync: "on",
    recovering: false,
    readOnly: "off",
  };
  it("takes a server of version 14 that keeps what it acknowledges", () => {
    for (const flushes of ["on", "remote_apply", "remote_write", "local"]) {
      judgeServer({ ...sound, flushes });
    }
  });
  for (const [what, fact, reason, says] of [
    ["an older server", { version: 130_022 }, "POSTGRES_TOO_OLD", /13 is older than 14/],
    ["a server that does not flush", { flushes: "off" }, "STORE_NOT_DURABLE", /synchronous_commit/],
    ["a server that flushes nothing", { fsync: "off" }, "STORE_NOT_DURABLE", /fsync is off/],
    ["another encoding", { encoding: "SQL_ASCII" }, "STORE_ENCODING", /SQL_ASCII.*UTF8/],
    ["a standby", { recovering: true }, "STORE_READ_ONLY", /primary/],
  ] as const)
    it(`refuses ${what}, and says what would be right`, () =>
      assert.throws(() => judgeServer({ ...sound, ...fact }), refused(reason, says)));

  for (const [what, setting, reason, says] of [
    ["does not flush", "synchronous_commit = off", "STORE_NOT_DURABLE", /synchronous_commit/],
    ["takes no writes", "default_transaction_read_only = on", "STORE_READ_ONLY", /takes no writes/],
  ] as const)
    it(`asks the server itself, and refuses one that ${what}`, async () => {
      await using place = await databasePlace();
      const name = new URL(place.url).pathname.slice(1);
      await place.execute(`ALTER DATABASE ${name} SET ${setting}`);
      await assert.rejects(openPostgres({ url: place.url, schema }), refused(reason, says));
    });
  it("refuses a server that runs without fsync, and warns of one that may tear pages", async () => {
    await using unflushed = await startCluster({ settings: { fsync: "off" } });
    const opening = openPostgres({ url: unflushed.url("postgres"), schema });
    await assert.rejects(opening, refused("STORE_NOT_DURABLE", /fsync is off/));
    await using torn = await startCluster({ settings: { full_page_writes: "off" } });
    await using db = await openPostgres({ url: torn.url("postgres"), schema });
    await db.migrate();
    const { risks } = await db.health();
    assert.equal(risks.length, 1);
    assert.match(String(risks[0]), /full_page_writes is off/);
    await using place = await databasePlace();
    await using usual = await place.open(schema);
    await usual.migrate();
    assert.deepEqual((await usual.health()).risks, []);
  });
  for (const [what, change] of [
    ["no server", (url: URL) => void (url.host = "127.0.0.1:1")],
    ["no such database", (url: URL) => void (url.pathname = "/secretname")],
    ["no such user", (url: URL) => void (url.username = "secretname")],
  ] as const)
    it(`refuses where there is ${what}, and names neither host nor user`, async () => {
      await using place = await databasePlace();
      const url = new URL(place.url);
      change(url);
      const opening = openPostgres({ url: url.href, schema });
      await assert.rejects(opening, (error: unknown) => {
        refused("STORE_UNREACHABLE", /IDSVC_DATABASE_URL.*\(\w+\)/)(error);
        assert.doesNotMatch(String(error), /secretname|127\.0\.0\.1|tmp/);
        return true;
      });
    });
  it("refuses a store of a newer format before it writes anything (F07)", async () => {
    await using place = await databasePlace();
    await using first = await place.open(schema);
    await first.migrate();
    await place.execute(
      `UPDATE store_facts SET value = '${storeFormat + 1}' WHERE name = 'format'`,
    );
    const known = new RegExp(`format ${storeFormat + 1}.*up to ${storeFormat}.*newer build`);
    await assert.rejects(first.migrate(), refused("STORE_NEWER", known));
  });
  it("refuses a user who may not make tables, and says what they need", async () => {
    await using place = await databasePlace();
    const role = `poor${process.pid}`;
    await place.execute(`CREATE ROLE ${role} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    try {
      const url = new URL(place.url);
      url.username = role;
      await using db = await openPostgres({ url: url.href, schema });
      await assert.rejects(db.migrate(), refused("STORE_RIGHTS_MISSING", /GRANT CREATE/));
    } finally {
      await place.execute(`DROP ROLE ${role}`);
    }
  });
  it("serves a user who may only read and write what is there, events append-only by grant", async () => {
    await using place = await databasePlace();
    await using owner = await place.open(schema);
    await owner.migrate();
    const role = `plain${process.pid}`;
    await place.execute(`CREATE ROLE ${role} LOGIN`);
    try {
      await place.execute(
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
         REVOKE UPDATE, DELETE ON events FROM ${role}`,
      );
      const url = new URL(place.url);
      url.username = role;
      await using db = await openPostgres({ url: url.href, schema });
      assert.deepEqual(await db.migrate(), []);
      const committed = await db.commit(unit({ events: [happened("a", 1n)] }));
      assert.deepEqual(committed, { firstSequence: 1n });
    } finally {
      await place.execute(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});
