// Run: alone, long, early
import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { check } from "../faults/checker.ts";
import { acknowledgedInLog } from "../faults/client-log.ts";
import { freePort } from "../support/free-port.ts";
import { type Place, startServer } from "../faults/server.ts";
import { createWriters, type Writers } from "../faults/writers.ts";
import { freshDatabase, type TestDatabase } from "../support/postgres.ts";
import { startProxy } from "../support/postgres-proxy.ts";
import { type Env, idsvc, newFolder, spawnCommand } from "./command.ts";

const token = "token-of-the-fault-tests";
const password = "Correct horse 1";

const envOf = ({ dataDir }: Pick<Place, "dataDir">): Env => ({ IDSVC_DATA_DIR: dataDir });

async function call(url: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}/resources/v3alpha${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = Object(await answer.json());
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
}

const tablesOf = async (database: TestDatabase): Promise<string[]> => {
  const found = await database.execute(
    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
  );
  return found.rows.map((row) => String(Object(row).tablename));
};

/** A store with some of everything: written by writers, with users, personal data and secrets. */
async function madeStore(): Promise<{ place: Place; writers: Writers; userId: string }> {
  const place: Place = {
    dataDir: newFolder(),
    port: await freePort(),
    env: { IDSVC_BOOTSTRAP_TOKEN: token },
  };
  await using server = await startServer(place);
  try {
    const writers = createWriters(6, token);
    const running = writers.run(server.url);
    await writers.answered();
    await delay(600);
    await running.stop();
    const { details } = await call(server.url, "/users", {
      username: "ada",
      data: { given_name: "Ada", family_name: "Lövelace 😀" },
      contact: { email: { address: "ada@example.com", is_verified: true } },
      authenticators: { password: { password } },
    });
    const nowhere = "postgres://nobody@127.0.0.1:1/none";
    const refused = await idsvc(["db", "promote", "--to", nowhere], envOf(place));
    assert.equal(refused.code, 1);
    assert.match(refused.err, /idsvc\.db is in use by another process.*\(STORE_IN_USE\)/);
    await call(server.url, "/targets/_search", []);
    assert.equal(await server.stop(), 0);
    return { place, writers, userId: String(Object(details).id) };
  } finally {
    await server.kill();
  }
}

const made = await madeStore();

/** The same store in a folder of its own. */
function copied(): Pick<Place, "dataDir"> {
  const dataDir = newFolder();
  cpSync(made.place.dataDir, dataDir, { recursive: true });
  return { dataDir };
}

describe("idsvc db promote", () => {
  it("brings all of a store to PostgreSQL, where it serves with the same key and tokens", async () => {
    await using database = await freshDatabase();
    const { dataDir } = copied();
    const { code, out, err } = await idsvc(["db", "promote", "--to", database.url, "--json"], {
      IDSVC_DATA_DIR: dataDir,
    });
    assert.equal(code, 0, err);
    assert.equal(err, "", "no progress where nobody watches");
    const { tables } = JSON.parse(out);
    for (const name of ["events", "claims", "secrets", "targets", "users", "row_counts"]) {
      assert.ok(tables[name].rows > 0, name);
      assert.match(tables[name].sha256, /^[0-9a-f]{64}$/);
    }
    const stored = await database.execute("SELECT count(*)::int AS rows FROM events");
    assert.equal(Object(stored.rows[0]).rows, tables.events.rows);
    assert.deepEqual(
      await check({ dataDir, env: { IDSVC_DATABASE_URL: database.url } }, made.writers.log),
      [],
    );

    const store = { IDSVC_DATABASE_URL: database.url };
    await using server = await startServer({ dataDir, port: await freePort(), env: store });
    const writers = createWriters(4, token);
    try {
      const user = await call(server.url, `/users/${made.userId}`);
      assert.match(JSON.stringify(user), /Lövelace 😀/);
      const running = writers.run(server.url);
      await writers.answered();
      await delay(300);
      await running.stop();
      assert.equal(await server.stop(), 0);
    } finally {
      await server.kill();
    }
    const written = acknowledgedInLog(writers.log);
    assert.ok(written.length > 0);
    // There is one instance, so its head was the number of events.
    for (const { sequence } of written) assert.ok(sequence > BigInt(tables.events.rows));
    const verified = await idsvc(["projections", "verify"], { IDSVC_DATA_DIR: dataDir, ...store });
    assert.equal(verified.code, 0, verified.out);
  });

  it("holds the jobs of the store that it has copied (F27)", async () => {
    await using database = await freshDatabase();
    const place = copied();
    assert.equal((await idsvc(["db", "promote", "--to", database.url], envOf(place))).code, 0);
    const { out } = await idsvc(["jobs", "release", "--json"], envOf(place));
    assert.match(JSON.parse(out).since, /^20/);
    const there = await idsvc(["jobs", "release", "--json"], {
      ...envOf(place),
      IDSVC_DATABASE_URL: database.url,
    });
    assert.equal(JSON.parse(there.out).since, null);
  });

  it("leaves nothing behind when its connection breaks, and can be begun again (F10)", async () => {
    await using database = await freshDatabase();
    await using proxy = await startProxy(database.url);
    const place = copied();
    for (const text of ["CREATE TABLE", "idsvc_replay_", "ANALYZE", "COMMIT"]) {
      proxy.cut("before", text);
      const { code, err } = await idsvc(["db", "promote", "--to", proxy.url], envOf(place));
      assert.equal(code, 1, text);
      assert.match(err, /\(STORE_UNAVAILABLE\)/, text);
      assert.deepEqual(await tablesOf(database), [], text);
    }
    assert.equal(proxy.cuts, 4);
    const { code, err } = await idsvc(["db", "promote", "--to", proxy.url], envOf(place));
    assert.equal(code, 0, err);
    assert.deepEqual(
      await check({ ...place, env: { IDSVC_DATABASE_URL: database.url } }, made.writers.log),
      [],
    );
  });

  it("leaves nothing behind when it is killed, and can be begun again at once (F01)", async () => {
    await using database = await freshDatabase();
    const place = copied();
    const busy = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%idsvc_replay%' AND pid <> pg_backend_pid()`;
    const child = spawnCommand(["db", "promote", "--to", database.url], envOf(place));
    const gone = once(child, "exit");
    let seen = false;
    while (!seen && child.exitCode === null) {
      seen = Object((await database.execute(busy)).rows[0]).n > 0;
    }
    child.kill("SIGKILL");
    await gone;
    assert.ok(seen, "it was at work");
    const { code, err } = await idsvc(["db", "promote", "--to", database.url], envOf(place));
    assert.equal(code, 0, err);
    assert.deepEqual(
      await check({ ...place, env: { IDSVC_DATABASE_URL: database.url } }, made.writers.log),
      [],
    );
  });

  it("refuses a database that holds anything, and changes nothing of it", async () => {
    const place = copied();
    await using foreign = await freshDatabase();
    await foreign.execute("CREATE TABLE invoices (id int)");
    const refused = await idsvc(["db", "promote", "--to", foreign.url], envOf(place));
    assert.equal(refused.code, 1);
    assert.match(refused.err, /tables of something else.*\(TARGET_NOT_EMPTY\)/);
    assert.deepEqual(await tablesOf(foreign), ["invoices"]);

    await using own = await freshDatabase();
    assert.equal((await idsvc(["db", "promote", "--to", own.url], envOf(place))).code, 0);
    const events = () => own.execute("SELECT count(*)::int AS n FROM events");
    const before = (await events()).rows;
    const again = await idsvc(["db", "promote", "--to", own.url], envOf(place));
    assert.equal(again.code, 1);
    assert.match(again.err, /holds a store of idsvc already.*\(TARGET_NOT_EMPTY\)/);
    assert.deepEqual((await events()).rows, before);
  });

  it("keeps nothing when the rows in the database are not those of the store", async () => {
    await using database = await freshDatabase();
    // Whatever the reason may be: here the database drops rows of one table without a word.
    await database.execute(`CREATE FUNCTION lose() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'public.targets') THEN
        CREATE RULE lossy AS ON INSERT TO targets DO INSTEAD NOTHING;
      END IF; END $$`);
    await database.execute(
      "CREATE EVENT TRIGGER lose ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION lose()",
    );
    const { code, err } = await idsvc(["db", "promote", "--to", database.url], envOf(copied()));
    assert.equal(code, 1);
    assert.match(err, /rows of targets are not the same.*\(IMPORT_DIFFERS\)/);
    assert.deepEqual(await tablesOf(database), []);
  });

  it("refuses a store that is not there, one on PostgreSQL, and a URL of something else", async () => {
    const url = "postgres://nobody@127.0.0.1:1/none";
    const cases: [to: string, env: Env, code: number, says: RegExp][] = [
      [url, { IDSVC_DATA_DIR: newFolder() }, 1, /idsvc\.db is no store.*\(STORE_MISSING\)/],
      [url, { IDSVC_DATABASE_URL: url }, 1, /name the SQLite file.*\(SOURCE_NOT_SQLITE\)/],
      ["mysql://x", envOf(made.place), 2, /--to must be postgres:.*\(TARGET_URL_WRONG\)/],
      [url, envOf(copied()), 1, /\(STORE_UNREACHABLE\)/],
    ];
    for (const [to, env, code, says] of cases) {
      const told = await idsvc(["db", "promote", "--to", to], env);
      assert.match(told.err, says);
      assert.equal(told.code, code);
    }
    const unnamed = await idsvc(["db", "promote"]);
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.err, /required option '--to <url>'/);
  });

  it("leaves the store as it was for whoever goes on with it", async () => {
    const key = readFileSync(join(made.place.dataDir, "master.key"));
    const place = copied();
    await using database = await freshDatabase();
    assert.equal((await idsvc(["db", "promote", "--to", database.url], envOf(place))).code, 0);
    assert.deepEqual(readFileSync(join(place.dataDir, "master.key")), key);
    assert.deepEqual(await check(place, made.writers.log), []);
  });
});
