// Run: alone, early
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { before, describe, it } from "node:test";
import { noMachine } from "../deploy/machine.ts";
import { noStrace } from "../faults/strace.ts";
import { freshDatabase } from "../support/postgres.ts";
import { type Env, idsvc, newFolder } from "./command.ts";

const root = resolve(import.meta.dirname, "../..");
const pageBytes = 4_096;

/** A refusal of one line: what is wrong, in words, and its reason. No stack, which is for defects. */
function assertWords(err: string, reason: string, ...words: (string | RegExp)[]): void {
  const lines = err.trimEnd().split("\n");
  assert.equal(lines.length, 1, err);
  const [line = ""] = lines;
  assert.ok(line.startsWith("idsvc: ") && line.endsWith(`(${reason})`), line);
  for (const word of words)
    assert.ok(typeof word === "string" ? line.includes(word) : word.test(line), line);
}

describe("idsvc doctor on a damaged store", () => {
  const made = newFolder();
  before(async () => {
    const { code, err } = await idsvc(["db", "migrate"], { IDSVC_DATA_DIR: made });
    assert.equal(code, 0, err);
  });
  const damagedBy = (damage: (bytes: Buffer) => void): Env => {
    const folder = newFolder();
    for (const name of readdirSync(made))
      writeFileSync(join(folder, name), readFileSync(join(made, name)));
    const path = join(folder, "idsvc.db");
    const bytes = readFileSync(path);
    damage(bytes);
    writeFileSync(path, bytes);
    return { IDSVC_DATA_DIR: folder };
  };
  const damages: [what: string, damage: (bytes: Buffer) => void][] = [
    ["its schema", (bytes) => void bytes.fill(0xff, 100, pageBytes)],
    ["every page but the first", (bytes) => void bytes.fill(0x5a, pageBytes)],
    ["the last pages", (bytes) => void bytes.fill(0xff, bytes.length - 40 * pageBytes)],
    ["its head", (bytes) => void bytes.fill(0x11, 0, 100)],
  ];
  for (const [what, damage] of damages)
    it(`says so and ends with 3, where it is ${what}`, async () => {
      const { code, out, err } = await idsvc(["doctor", "--json"], damagedBy(damage));
      const { healthy, store } = JSON.parse(out);
      assert.deepEqual([code, healthy, store.sound], [3, false, false]);
      assert.match(store.reason, /^STORE_/);
      assert.match(store.message, /idsvc\.db.*(backup|database of idsvc)/);
      assert.doesNotMatch(`${store.message}${err}`, /^ {4}at /m, "no stack");
    });
  it("says it to people in the same words", async () => {
    const env = damagedBy((bytes) => void bytes.fill(0x5a, pageBytes));
    const { code, out, err } = await idsvc(["doctor"], env);
    assert.equal(code, 3, err);
    assert.match(out, /^store: .*idsvc\.db.*(backup|database of idsvc)/m);
    assert.doesNotMatch(`${out}${err}`, /^ {4}at /m, "no stack");
  });
});

/** Stops at these system calls alone: at all of them a start takes several times as long. */
const injected = (call: string, how: string, args: string[], env: Env) => {
  const what = ["-e", `trace=${call}`, "-e", `inject=${call}:${how}`];
  const { status, stderr } = spawnSync(
    "strace",
    ["-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", ...what, process.execPath].concat(
      join(root, "src/main.js"),
      args,
    ),
    { env, encoding: "utf8" },
  );
  return { code: status, err: stderr };
};

describe("a start on a full disk", { skip: noStrace() }, () => {
  for (const at of [1, 2, 20, 200])
    it(`says that it is full, from the ${at}. write on`, () => {
      const how = `error=ENOSPC:when=${at}+`;
      const { code, err } = injected("pwrite64", how, ["serve"], {
        IDSVC_DATA_DIR: newFolder(),
        IDSVC_PORT: "0",
      });
      assert.equal(code, 1);
      assertWords(err, "STORE_DISK_FULL", "idsvc.db", "no space");
    });
  it("says so of the data folder", () => {
    const env = { IDSVC_DATA_DIR: join(newFolder(), "data"), IDSVC_PORT: "0" };
    const { code, err } = injected("mkdir", "error=ENOSPC", ["serve"], env);
    assert.equal(code, 1);
    assertWords(err, "DATA_DIR_UNUSABLE", env.IDSVC_DATA_DIR, "no space");
  });
  it("says that the disk fails where it does", () => {
    const env = { IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: "0" };
    const { code, err } = injected("pwrite64", "error=EIO:when=20+", ["serve"], env);
    assert.equal(code, 1);
    assertWords(err, "STORE_DISK_FAILED", "idsvc.db");
  });
});

describe("a data folder that cannot be made", () => {
  for (const path of ["/proc/nothing/data", "/proc/data", "/dev/null/data"])
    it(`is refused at once: ${path}`, async () => {
      const { code, err } = await idsvc(["serve"], { IDSVC_DATA_DIR: path, IDSVC_PORT: "0" });
      assert.equal(code, 1);
      assertWords(err, "DATA_DIR_UNUSABLE", path);
    });
  it("is refused where a link leads nowhere", async () => {
    const path = join(newFolder(), "link");
    symlinkSync("/nowhere/at/all", path);
    const { code, err } = await idsvc(["serve"], { IDSVC_DATA_DIR: path, IDSVC_PORT: "0" });
    assert.equal(code, 1);
    assertWords(err, "DATA_DIR_UNUSABLE", path);
  });
});

describe("a data folder of somebody else", () => {
  const skip = noMachine();
  const stranger = 64_242;
  const serveAs = (user: number, folder: string, mount = "") => {
    const command = `${mount} exec setpriv --reuid ${user} --clear-groups ${process.execPath} ${join(root, "src/main.js")} serve`;
    const env = { PATH: process.env["PATH"] ?? "", IDSVC_DATA_DIR: folder, IDSVC_PORT: "0" };
    const { status, stderr } = spawnSync("unshare", ["--mount", "sh", "-euc", command], {
      env,
      encoding: "utf8",
    });
    return { code: status, err: stderr };
  };
  it("is refused with who it belongs to, and how to give it away", { skip }, () => {
    const folder = newFolder();
    const { code, err } = serveAs(stranger, folder);
    assert.equal(code, 1);
    assertWords(err, "DATA_DIR_UNUSABLE", "belongs to user 0", `chown -R ${stranger} ${folder}`);
  });
  it("is refused on a read-only file system, with what to mount", { skip }, () => {
    const folder = newFolder();
    const readOnly = `mount -t tmpfs -o ro,uid=${stranger} none ${folder};`;
    const { code, err } = serveAs(stranger, folder, readOnly);
    assert.equal(code, 1);
    assertWords(err, "DATA_DIR_UNUSABLE", folder, "read-only", "mount a volume");
  });
});

describe("idsvc db backup", () => {
  it("says which folder is missing, or is none", async () => {
    const env = { IDSVC_DATA_DIR: newFolder() };
    assert.equal((await idsvc(["db", "migrate"], env)).code, 0);
    const folder = newFolder();
    writeFileSync(join(folder, "file"), "");
    for (const parent of ["missing", "file"]) {
      const { code, err } = await idsvc(["db", "backup", join(folder, parent, "copy.db")], env);
      assert.equal(code, 1);
      assertWords(err, "BACKUP_FOLDER_MISSING", `${join(folder, parent)} `);
    }
  });
});

describe("idsvc migrate that fails", () => {
  const realm = (folder: string, content: string): string => {
    writeFileSync(join(folder, "realm.json"), content);
    return join(folder, "realm.json");
  };
  const migrate = (folder: string, content: string, output = join(folder, "body.json")) =>
    idsvc([
      "migrate",
      "keycloak",
      "--org",
      "1",
      "--realm",
      realm(folder, content),
      "--output",
      output,
    ]);

  it("leaves no file behind, whether it fails at first or in the middle", async () => {
    const folder = newFolder();
    assert.notEqual((await migrate(folder, "{")).code, 0);
    assert.deepEqual(readdirSync(folder), ["realm.json"]);
    const [users, passwords] = [join(folder, "users.jsonl"), join(folder, "passwords.jsonl")];
    const user = { user_id: "auth0|1", email: "a@example.com", email_verified: true };
    writeFileSync(users, `${JSON.stringify(user)}\n{\n`);
    writeFileSync(passwords, "");
    const files = ["--users", users, "--passwords", passwords];
    const output = join(folder, "body.json");
    const { code, err } = await idsvc([
      "migrate",
      "auth0",
      "--org",
      "1",
      "--output",
      output,
      ...files,
    ]);
    assert.equal(code, 2);
    assertWords(err, "FILE_MALFORMED", `${users}, line 2`);
    assert.deepEqual(readdirSync(folder).toSorted(), [
      "passwords.jsonl",
      "realm.json",
      "users.jsonl",
    ]);
  });
  it("leaves a file of before as it was", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "body.json"), "of before");
    assert.notEqual((await migrate(folder, "{")).code, 0);
    assert.equal(readFileSync(join(folder, "body.json"), "utf8"), "of before");
    const { code, err } = await migrate(folder, '{"users":[]}');
    assert.equal(code, 0, err);
    assert.match(readFileSync(join(folder, "body.json"), "utf8"), /"humanUsers":\[\]/);
    assert.equal(statSync(join(folder, "body.json")).mode & 0o777, 0o600);
  });
  it("says that the folder of the output is missing", async () => {
    const folder = newFolder();
    const output = join(folder, "missing/body.json");
    const { code, err } = await migrate(folder, '{"users":[]}', output);
    assert.equal(code, 2);
    assertWords(err, "FILE_UNWRITABLE", output);
    assert.ok(!existsSync(join(folder, "missing")));
  });
  it("writes into what is no file, such as a pipe", async () => {
    const folder = newFolder();
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "ignore"] });
    const [{ code }, heard] = await Promise.all([
      migrate(folder, '{"users":[]}', pipe),
      text(reader.stdout),
    ]);
    assert.equal(code, 0);
    assert.match(heard, /"humanUsers":\[\]/);
    assert.ok(statSync(pipe).isFIFO());
  });
});

describe("a database that does not let us in", () => {
  const refusedBy = async (change: (url: URL) => void) => {
    await using database = await freshDatabase();
    const url = new URL(database.url);
    change(url);
    const env = { IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: "0", IDSVC_DATABASE_URL: String(url) };
    const { code, err } = await idsvc(["serve"], env);
    assert.equal(code, 1, err);
    return err;
  };

  it("says that there is no such database", async () => {
    const err = await refusedBy((url) => (url.pathname = "/nowhere"));
    assertWords(err, "STORE_UNREACHABLE", "there is no database of this name", "3D000");
  });
  it("says that there is no such user", async () => {
    const err = await refusedBy((url) => (url.username = "nobody_at_all"));
    assertWords(err, "STORE_UNREACHABLE", "does not admit the user", "28000");
  });
  it("says that nothing listens there", async () => {
    const err = await refusedBy((url) => (url.href = "postgres://a@127.0.0.1:9/x"));
    assertWords(err, "STORE_UNREACHABLE", "nothing listens there", "ECONNREFUSED");
  });
  it("says that nobody knows the host", async () => {
    const err = await refusedBy((url) => (url.href = "postgres://a@nobody.invalid/x"));
    assertWords(err, "STORE_UNREACHABLE", /nobody knows this host|the name of the host/);
  });
  it("says that its user may make no tables there", async () => {
    await using database = await freshDatabase();
    const role = `idsvc_trouble_${process.pid}`;
    await database.execute(`CREATE ROLE ${role} LOGIN`);
    try {
      await database.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
      const url = new URL(database.url);
      url.username = role;
      const env = { IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: "0", IDSVC_DATABASE_URL: String(url) };
      const { code, err } = await idsvc(["serve"], env);
      assert.equal(code, 1);
      assertWords(err, "STORE_RIGHTS_MISSING", "GRANT CREATE ON SCHEMA");
    } finally {
      await database.execute(`DROP ROLE ${role}`);
    }
  });
});
