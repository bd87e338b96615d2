// Run: alone, early
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { storeFormat } from "../../src/storage/schema.ts";
import { freePort } from "../support/free-port.ts";
import { connect } from "../storage/sqlite-place.ts";
import { freshDatabase } from "../support/postgres.ts";
import { idsvc, idsvcAlone, newFolder, serve, spawnCommand } from "./command.ts";

const env = { IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: String(await freePort()) };
let readyWhileServing = { code: -1 as number | null, out: "" };
await serve(env, async () => {
  readyWhileServing = await idsvc(["ready", "--json"], env);
});
const run = (...args: string[]) => idsvc(args, env);

async function tampered<T>(statement: string, work: () => Promise<T>): Promise<T> {
  using connection = connect(join(env.IDSVC_DATA_DIR, "idsvc.db"));
  connection.exec(statement);
  return work();
}
const tamper = "UPDATE users SET username = 'somebody else' WHERE schema_id = 'human'";

describe("idsvc ready", () => {
  it("ends with 0 while the service is ready", () => {
    assert.equal(readyWhileServing.code, 0);
    const url = `http://127.0.0.1:${env.IDSVC_PORT}/readyz`;
    assert.deepEqual(JSON.parse(readyWhileServing.out), { ready: true, url, status: 200 });
  });
  it("ends with 3 when nothing answers, and says where it asked", async () => {
    const { code, out } = await run("ready");
    assert.equal(code, 3);
    assert.match(out, new RegExp(`not ready: http://127.0.0.1:${env.IDSVC_PORT}/readyz nothing`));
  });
});

describe("idsvc version", () => {
  it("prints the version alone", async () => {
    const { code, out, err } = await run("version");
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^\d+\.\d+\.\d+\n$/);
  });
});

describe("idsvc config", () => {
  const given = {
    ...env,
    IDSVC_MASTER_KEY: Buffer.alloc(32, 9).toString("base64"),
    IDSVC_BOOTSTRAP_TOKEN: "MARKER-token",
    IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "MARKER-password",
  };
  it("prints every value with where it comes from, and no secret", async () => {
    const { code, out } = await idsvc(["config", "--log-level", "warn"], given);
    assert.equal(code, 0);
    assert.match(
      out,
      new RegExp(`^IDSVC_PORT +${env.IDSVC_PORT} +\\(variable IDSVC_PORT\\)$`, "m"),
    );
    assert.match(out, /^IDSVC_LOG_LEVEL +warn +\(flag --log-level\)$/m);
    assert.match(out, /^IDSVC_HOST +127\.0\.0\.1 +\(default\)$/m);
    assert.doesNotMatch(out, /MARKER/);
    assert.ok(!out.includes(given.IDSVC_MASTER_KEY));
  });
  it("prints the same as JSON, and no secret", async () => {
    const { code, out } = await idsvc(["config", "--json"], given);
    assert.equal(code, 0);
    const options: { env: string; secret: boolean; source: string }[] = JSON.parse(out);
    const token = options.find((option) => option.env === "IDSVC_BOOTSTRAP_TOKEN");
    assert.deepEqual([token?.secret, token?.source], [true, "variable IDSVC_BOOTSTRAP_TOKEN"]);
    assert.doesNotMatch(out, /MARKER/);
    assert.ok(!out.includes(given.IDSVC_MASTER_KEY));
  });
});

describe("a command line that is wrong", () => {
  for (const [what, args, names] of [
    ["an unknown command", ["surf"], /unknown command 'surf'/],
    ["an unknown option", ["serve", "--porto", "1"], /unknown option '--porto'/],
    [
      "a wrong value",
      ["serve", "--port", "70000"],
      /IDSVC_PORT, set by flag --port, .*65535.*70000/,
    ],
    ["a group without its command", ["projections"], /Usage: idsvc projections/],
    ["a recovery of nobody", ["recover"], /required option '--user <login name>'/],
  ] as const)
    it(`ends with 2 and names it: ${what}`, async () => {
      // The first as a process, whose exit code it is.
      const command = what === "an unknown command" ? idsvcAlone : idsvc;
      const { code, err, out } = await command([...args], env);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, names);
    });
  it("ends with 2 for an unknown option in a file, and names both", async () => {
    const file = join(newFolder(), "idsvc.yaml");
    writeFileSync(file, "prot: 8080\n");
    const { code, err } = await run("serve", "--config", file);
    assert.equal(code, 2);
    assert.match(err, /prot/);
    assert.ok(err.includes(file));
  });
  it("shows how it is used when it is asked, and ends with 0", async () => {
    const { code, out } = await run("--help");
    assert.equal(code, 0);
    assert.match(out, /Exit codes:/);
  });
});

describe("idsvc serve, for the first time", () => {
  it("ends with 2 where the given password of the administrator is none the rules take", async () => {
    const weak = { IDSVC_DATA_DIR: newFolder(), IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "password1" };
    const { code, err } = await idsvc(["serve"], { ...weak, IDSVC_PORT: "0" });
    assert.equal(code, 2);
    assert.match(
      err,
      /^idsvc: IDSVC_BOOTSTRAP_ADMIN_PASSWORD: is a common password.*PASSWORD_POLICY/m,
    );
    assert.ok(!err.includes("password1"));
  });
});

describe("idsvc projections and doctor", () => {
  it("find projections equal to the log where nothing befell them", async () => {
    const verified = await run("projections", "verify", "--json");
    assert.equal(verified.code, 0);
    const rows = Object.entries(JSON.parse(verified.out));
    assert.ok(rows.length > 5);
    for (const [table, differing] of rows) assert.equal(differing, 0, table);
    const doctor = await run("doctor", "--json");
    assert.equal(doctor.code, 0);
    const { healthy, store, differing_projections } = JSON.parse(doctor.out);
    assert.deepEqual([healthy, store.engine, store.sound], [true, "sqlite", true]);
    assert.deepEqual(differing_projections, []);
  });
  it("find a changed row with 3, and a rebuild repairs it", async () => {
    const verified = await tampered(tamper, () => run("projections", "verify"));
    assert.equal(verified.code, 3);
    assert.match(verified.out, /^users: 2 rows differ$/m);
    assert.match(verified.out, /^targets: equal$/m);
    const doctor = await run("doctor");
    assert.equal(doctor.code, 3);
    const { projections } = JSON.parse((await run("doctor", "--json")).out);
    assert.deepEqual([projections.users.differing, projections.targets.differing], [2, 0]);
    assert.match(doctor.out, /users differ; run idsvc projections rebuild/);
    const rebuilt = await run("projections", "rebuild", "--json");
    assert.equal(rebuilt.code, 0);
    assert.ok(JSON.parse(rebuilt.out).replayed_events > 10);
    assert.equal((await run("projections", "verify")).code, 0);
  });
});

const job = (id: string, dueAt: number, deadAt: number | "NULL") =>
  `INSERT INTO jobs (instance_id, id, kind, "key", "position", payload, due_at, attempts, lease_holder, lease_until, token,
    dead_at, created_at) VALUES ('1', '${id}', 'bell.carry', '${id}', 1, '{}', ${dueAt}, 0, '', 0, 0, ${deadAt}, 0)`;
const waiting = [
  job("due", 1, "NULL"),
  job("later", Date.UTC(2100, 0), "NULL"),
  job("dead", 1, 2),
  "INSERT INTO sequences (instance_id, last, changed_at) VALUES ('1', 100, 0), ('2', 50, 0)",
  `INSERT INTO cursors (name, instance_id, "position") VALUES ('mail', '1', 70), ('hooks', '1', 100), ('hooks', '2', 49)`,
];

describe("idsvc doctor", () => {
  const told = {
    jobs: { open: 2, due: 1, dead: 1, held_since: null },
    subscriptions: {
      mail: { events_behind: "80", most_of_an_instance: "50" },
      hooks: { events_behind: "1", most_of_an_instance: "1" },
    },
    store_format: { store: storeFormat, build: storeFormat },
  };
  type Told = typeof told & { store: { engine: string; version: string; format: number } };
  const parse = (out: string): Told & { projections: Record<string, object> } => JSON.parse(out);
  const empty = { rows: 0, sha256: createHash("sha256").digest("hex"), differing: 0 };

  it("tells formats, what waits, how far consumers are behind, and checksums, of SQLite", async () => {
    const fresh = { IDSVC_DATA_DIR: newFolder() };
    await idsvc(["db", "migrate"], fresh);
    {
      using connection = connect(join(fresh.IDSVC_DATA_DIR, "idsvc.db"));
      for (const statement of waiting) connection.exec(statement);
    }
    const { code, out, err } = await idsvc(["doctor", "--json"], fresh);
    assert.equal(code, 0, err);
    const { store, projections, ...rest } = parse(out);
    assert.deepEqual([store.engine, store.format], ["sqlite", storeFormat]);
    assert.deepEqual(projections["targets"], empty);
    for (const [name, wanted] of Object.entries(told))
      assert.deepEqual(Reflect.get(rest, name), wanted, name);
    const { out: shown } = await idsvc(["doctor"], fresh);
    assert.match(shown, /^subscription mail: 80 events behind$/m);
    assert.match(shown, /^jobs: 2 open, 1 of them due, 1 dead$/m);
    await idsvc(["jobs", "hold"], fresh);
    const { out: held } = await idsvc(["doctor"], fresh);
    assert.match(held, /1 dead; held since 20.*Z, run idsvc jobs release$/m);
  });

  it("tells the same of PostgreSQL", async () => {
    await using database = await freshDatabase();
    const there = { IDSVC_DATA_DIR: newFolder(), IDSVC_DATABASE_URL: database.url };
    await idsvc(["db", "migrate"], there);
    for (const statement of waiting) await database.execute(statement);
    const { code, out, err } = await idsvc(["doctor", "--json"], there);
    assert.equal(code, 0, err);
    const { store, projections, ...rest } = parse(out);
    assert.deepEqual([store.engine, store.format], ["postgres", storeFormat]);
    assert.match(store.version, /^\d+/);
    assert.deepEqual(projections["targets"], empty);
    for (const [name, wanted] of Object.entries(told))
      assert.deepEqual(Reflect.get(rest, name), wanted, name);
  });
});

describe("a command under a Node that is too old", () => {
  it("names the one it needs and the one it got", async () => {
    const older = "Object.defineProperty(process.versions,'node',{value:'20.20.2'})";
    const preload = `--import=data:text/javascript,${encodeURIComponent(older)}`;
    const { code, err } = await idsvc(["version"], { ...env, NODE_OPTIONS: preload });
    assert.equal(code, 1);
    assert.match(err, /^idsvc needs Node 24 or later; this is v[^\n]+\n$/);
    assert.ok(err.includes(process.execPath));
  });
});

describe("a command whose output nobody reads to its end", () => {
  const unread = async (...args: string[]) => {
    const child = spawnCommand(args, env);
    child.stdout?.destroy();
    const [err, [code]] = await Promise.all([
      child.stderr === null ? "" : text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, err };
  };
  it("ends as ever", async () => {
    for (const args of [["--help"], ["config"], ["projections", "verify"]]) {
      assert.deepEqual(await unread(...args), { code: 0, err: "" }, args.join(" "));
    }
  });
  it("still tells by its exit code what it found", async () => {
    const { code } = await tampered(tamper, () => unread("projections", "verify"));
    assert.equal(code, 3);
  });
});

describe("idsvc db migrate", () => {
  it("makes a new store with this build's schema, and changes nothing the second time", async () => {
    const fresh = { IDSVC_DATA_DIR: newFolder() };
    for (const time of ["first", "second"]) {
      const { code, out } = await idsvc(["db", "migrate", "--json"], fresh);
      assert.equal(code, 0, time);
      const { migrated, engine, sound } = JSON.parse(out);
      assert.deepEqual([migrated, engine, sound], [true, "sqlite", true]);
    }
  });
  it("refuses a store of a newer build, and names it", async () => {
    const path = join(newFolder(), "newer.db");
    {
      using connection = connect(path);
      connection.exec("PRAGMA user_version = 99");
    }
    const { code, err } = await run("db", "migrate", "--database-url", path);
    assert.equal(code, 1);
    assert.match(err, /\(STORE_NEWER\)/);
    assert.ok(err.includes(path));
  });
});
