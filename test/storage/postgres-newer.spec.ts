// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { DomainError } from "../../src/errors.ts";
import { Conflict } from "../../src/storage/database.ts";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { quote } from "../../src/storage/postgres/ddl.ts";
import { type Schema, storeFormat } from "../../src/storage/schema.ts";
import {
  type AnyTable,
  bool,
  columnName,
  optionalText,
  table,
  text,
} from "../../src/storage/table.ts";
import { withinRounds } from "../support/paced.ts";
import { type ResourcePeer, startPeer, uniqueName } from "../support/peer.ts";
import { protocols } from "../support/protocols.ts";
import { happened, notes, schema, unit } from "./place.ts";
import { type DatabasePlace, databasePlace } from "./postgres-place.ts";

type Columns = Parameters<typeof table>[1];
/** What a newer build has made of a table, and what its rows have in new columns. */
type Change = { of: string; columns: (former: Columns) => Columns; fill: Record<string, string> };

const without = (former: Columns, key: string): Columns =>
  Object.fromEntries(Object.entries(former).filter(([each]) => each !== key));

function newerTable(former: AnyTable, { columns }: Change): AnyTable {
  const { name, key, indexes, countedBy } = former;
  const changed = columns(former.columns as Columns);
  const left = indexes.filter((index) => index.columns.every((each) => each in changed));
  const counted = countedBy === undefined ? {} : { countedBy };
  return table(name, changed, { key, indexes: left, ...counted });
}

/** Does what a start of a newer build does: it puts tables of its own in the place of those that are there. */
async function upgrade(place: DatabasePlace, former: Schema, change: Change): Promise<void> {
  const changed = (each: AnyTable) => (each.name === change.of ? newerTable(each, change) : each);
  const projections = former.projections.map(changed);
  await using db = await openPostgres({ url: place.url, schema: { ...former, projections } });
  const stale = await db.migrate();
  assert.deepEqual(
    stale.map(({ name }) => name),
    [change.of],
  );
  const shadow = await db.shadow(stale);
  const names = Object.keys(stale[0]?.columns ?? {});
  const filled = names.map((name) => change.fill[name] ?? quote(columnName(name))).join(", ");
  const into = names.map((name) => quote(columnName(name))).join(", ");
  await place.execute(
    `INSERT INTO ${quote(`${change.of}__rebuild`)} (${into}) SELECT ${filled} FROM ${quote(change.of)}`,
  );
  await shadow.swap(async () => {});
  await shadow.drop();
}

const more = (of: string): Change => ({
  of,
  columns: (former) => ({ ...former, fresh: text() }),
  fill: { fresh: "'x'" },
});
const changes: [string, Change][] = [
  ["a table of users with a column more, which asks for a value", more("users")],
  ["a table of targets with a column more, which asks for a value", more("targets")],
  [
    "a table of projects with a column more, which may be empty",
    {
      of: "projects",
      columns: (former) => ({ ...former, fresh: optionalText() }),
      fill: { fresh: "NULL" },
    },
  ],
  [
    "a table of users without a column",
    { of: "users", columns: (former) => without(former, "usernameFolded"), fill: {} },
  ],
  [
    "a column of projects of another type",
    {
      of: "projects",
      columns: (former) => ({ ...former, nameFolded: bool() }),
      fill: { nameFolded: "true" },
    },
  ],
];

async function someCalls({ post, peer, app }: ResourcePeer): Promise<string[]> {
  const name = () => uniqueName("name").replaceAll(" ", "-");
  const user = { username: name(), data: { given_name: "A", family_name: "B" } };
  const all = await Promise.all([
    post("/users/_search", []),
    post("/targets/_search", []),
    post("/projects/_search", []),
    post("/projects", { name: name() }),
    post("/organizations", { name: name() }),
    post("/users", user),
    peer.rest("GET", "/settings/v3alpha/login", undefined, { token: app.token }),
  ]);
  return all.map(({ status, refusal }) => `${status} ${refusal?.reason ?? ""}`);
}

// Within a second.
const soon = { rounds: 10, pauseMs: 100 };

describe("a replica that meets the store of a newer build (F24)", () => {
  for (const [what, change] of changes)
    it(`answers STORE_NEWER at every call, and nothing else before but what is right: ${what}`, async () => {
      const log: string[] = [];
      await using place = await databasePlace();
      await using peer = await startPeer({
        env: { IDSVC_DATABASE_URL: place.url },
        log: (line) => void log.push(line),
      });
      for (let round = 0; round < 10; round++) {
        assert.ok((await someCalls(peer)).every((said) => /^20[01] $/.test(said)));
      }
      const heads = async () => [...(await peer.app.kernel.db.heads()).values()];
      await upgrade(place, peer.app.kernel.schema, change);
      const before = await heads();
      const isRefused = async () => {
        const said = await someCalls(peer);
        for (const each of said) assert.match(each, /^(?:503 STORE_NEWER|200 )$/);
        return said.every((each) => each.startsWith("503"));
      };
      await withinRounds("every call is refused", soon, isRefused);
      assert.deepEqual(await heads(), before, "nothing was written any more");
      for (const protocol of protocols) {
        const { searchUsers } = UserService.method;
        const { token } = peer.app;
        const said = await peer.peer.call(protocol, searchUsers, {}, { token });
        assert.ok(!said.ok);
        assert.deepEqual([said.code, said.reason], [14, "STORE_NEWER"], protocol);
      }
      const ready = await fetch(`${peer.app.url}/readyz`);
      assert.equal(ready.status, 503);
      assert.match(await ready.text(), /newer build/);
      assert.equal(log.filter((line) => line.includes("until this one is replaced")).length, 1);
    });

  it("stays as it is beside one of its own build that makes tables anew", async () => {
    await using place = await databasePlace();
    await using peer = await startPeer({ env: { IDSVC_DATABASE_URL: place.url } });
    const { kernel } = peer.app;
    await using other = await openPostgres({ url: place.url, schema: kernel.schema });
    assert.deepEqual(await other.migrate(), []);
    const users = kernel.schema.projections.filter(({ name }) => name === "users");
    const shadow = await other.shadow(users);
    await place.execute(`INSERT INTO users__rebuild SELECT * FROM users`);
    await shadow.swap(async () => {});
    await shadow.drop();
    await delay(600);
    assert.ok((await someCalls(peer)).every((said) => /^20[01] $/.test(said)));
  });
});

describe("a store of PostgreSQL that another build has changed (F24)", () => {
  const newer = (error: unknown) => {
    assert.ok(error instanceof DomainError, String(error));
    assert.deepEqual([error.kind, error.reason], ["unavailable", "STORE_NEWER"]);
    return true;
  };
  const places: AsyncDisposable[] = [];
  after(async () => {
    for (const each of places.toReversed()) await each[Symbol.asyncDispose]();
  });
  async function opened() {
    const place = await databasePlace();
    const db = await openPostgres({ url: place.url, schema });
    places.push(place, db);
    await db.migrate();
    await db.commit(unit({ events: [happened("a", 1n)] }));
    return { place, db };
  }

  it("takes no unit from the moment of the change, noticed or not", async () => {
    const { place, db } = await opened();
    const nullable: Change = {
      of: "notes",
      columns: (former) => ({ ...former, fresh: optionalText() }),
      fill: { fresh: "NULL" },
    };
    await upgrade(place, schema, nullable);
    const tried = Array.from({ length: 20 }, (_, at) =>
      db.commit(unit({ events: [happened(`b${at}`, 1n)] })),
    );
    for (const each of tried) await assert.rejects(each, newer);
    const { rows } = await place.query("SELECT count(*)::int AS n FROM events");
    assert.deepEqual(rows, [{ n: 1 }]);
    await assert.rejects(Promise.resolve(db.read.select().from(db.table(notes))), newer);
    await assert.rejects(
      db.snapshot((read) => [read.select().from(db.table(notes))]),
      newer,
    );
    await assert.rejects(async () => db.catchUp(), newer);
    assert.ok(Number.isNaN(db.cacheVersion("one", [notes])));
  });

  it("is noticed within a second where the format is newer", async () => {
    const { place, db } = await opened();
    await place.execute(
      `UPDATE store_facts SET value = '${storeFormat + 1}' WHERE name = 'format'`,
    );
    const isNoticed = async () => {
      try {
        await db.catchUp();
        return false;
      } catch (error) {
        return newer(error);
      }
    };
    await withinRounds("the format is noticed", soon, isNoticed, () => place.query("SELECT 1"));
  });

  it("is served again once the tables are as they were", async () => {
    const { place, db } = await opened();
    const shapes = `SELECT name, shape FROM store_tables WHERE name = 'notes'`;
    const { rows } = await place.query(shapes);
    const [{ shape } = { shape: "" }]: { shape: string }[] = rows;
    await place.execute("UPDATE store_tables SET shape = 'other' WHERE name = 'notes'");
    const work = () => place.query("SELECT 1");
    const isNoticed = () => Number.isNaN(db.cacheVersion("one", [notes]));
    await withinRounds("the other shape is noticed", soon, isNoticed, work);
    await assert.rejects(db.commit(unit({ events: [happened("c", 1n)] })), newer);
    await place.execute(`UPDATE store_tables SET shape = '${shape}' WHERE name = 'notes'`);
    const isServed = async () => {
      try {
        await db.commit(unit({ events: [happened("c", 1n)] }));
        return true;
      } catch (error) {
        if (error instanceof Conflict) throw error;
        newer(error);
        return false;
      }
    };
    await withinRounds("the store is served again", soon, isServed, work);
    const { rows: events } = await place.query("SELECT count(*)::int AS n FROM events");
    assert.deepEqual(events, [{ n: 2 }]);
  });
});
