// Run: alone, long
import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Env, idsvc } from "../cli/command.ts";
import { backedUp, eventsOf } from "./f27-backup.ts";
import { freePort } from "../support/free-port.ts";
import { type Place, startServer } from "./server.ts";
import { openArena } from "./store.ts";

const rounds = Number(process.env["IDSVC_TEST_BACKUPS"] ?? 3);
const token = "token-of-the-fault-tests";
const env = { IDSVC_BOOTSTRAP_TOKEN: token };

async function newPlace(): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-backup-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  return { dataDir, port: await freePort(), env };
}

const envOf = ({ dataDir }: Place): Env => ({ IDSVC_DATA_DIR: dataDir });
const storeIn = ({ dataDir }: Place) => join(dataDir, "idsvc.db");

/** As the README says: the backup under the name of the store, beside the master key. */
async function restored(from: Place, backup: string): Promise<Place> {
  const place = await newPlace();
  copyFileSync(backup, storeIn(place));
  copyFileSync(join(from.dataDir, "master.key"), join(place.dataDir, "master.key"));
  return place;
}

describe("a backup that is made while writers write (F27)", () => {
  it(`is a prefix of history, and goes on above it when it is restored, in ${rounds} rounds`, async () => {
    await using arena = await openArena("sqlite");
    const { rounds: done, lost, unexplained } = await backedUp.run(arena, rounds);
    assert.deepEqual({ done, lost, unexplained }, { done: rounds, lost: [], unexplained: [] });
  });

  it("does not begin its jobs by itself once it is restored", async () => {
    const place = await newPlace();
    await (await startServer(place)).stop();
    const backup = join(place.dataDir, "backup");
    assert.equal((await idsvc(["db", "backup", backup], envOf(place))).code, 0);
    const copy = await restored(place, backup);
    await using server = await startServer(copy);
    const organizations = `${server.url}/resources/v3alpha/organizations`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const made = await fetch(organizations, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "Gone soon" }),
    });
    const { details } = Object(await made.json());
    const gone = await fetch(`${organizations}/${details.id}`, { method: "DELETE", headers });
    assert.equal(gone.status, 200);
    const isCleared = () =>
      eventsOf(copy).some((event) => event.includes('"org.contents.removed"'));
    await delay(2_500);
    assert.equal(isCleared(), false, "the job is held");

    const released = await idsvc(["jobs", "release", "--json"], envOf(copy));
    assert.equal(JSON.parse(released.out).held, false);
    for (const end = Date.now() + 60_000; !isCleared() && Date.now() < end; ) await delay(50);
    assert.equal(isCleared(), true, "the job is done once it is released");
    assert.equal(await server.stop(), 0);
    const second = await idsvc(["jobs", "release"], envOf(copy));
    assert.equal(second.out, "no jobs were held\n");
  });
});

describe("idsvc db backup", () => {
  it("refuses a file that is there, and leaves it as it is", async () => {
    const place = await newPlace();
    await idsvc(["db", "migrate"], envOf(place));
    const file = storeIn(place);
    const before = readFileSync(file);
    const { code, err } = await idsvc(["db", "backup", file], envOf(place));
    assert.equal(code, 1);
    assert.match(err, /is there already: name a new file \(BACKUP_FILE_EXISTS\)/);
    assert.deepEqual(readFileSync(file), before);
  });

  it("refuses a folder without a store, and makes none", async () => {
    const place = await newPlace();
    const { code, err } = await idsvc(["db", "backup", join(place.dataDir, "b")], envOf(place));
    assert.equal(code, 1);
    assert.match(err, /idsvc\.db is no store of idsvc.*\(STORE_MISSING\)/);
    assert.deepEqual(readdirSync(place.dataDir), []);
  });

  it("refuses a store that is damaged, and leaves nothing behind (F07)", async () => {
    const place = await newPlace();
    await (await startServer(place)).stop();
    const bytes = readFileSync(storeIn(place));
    const at = bytes.lastIndexOf("instance.domain.added");
    writeFileSync(storeIn(place), bytes.fill(0xff, at - (at % 4096), at - (at % 4096) + 64));
    const { code, err } = await idsvc(["db", "backup", join(place.dataDir, "b")], envOf(place));
    assert.equal(code, 1);
    assert.match(err, /\((STORE_DAMAGED|BACKUP_FAILED)\)/);
    assert.deepEqual(
      readdirSync(place.dataDir).filter((name) => name.startsWith("b.")),
      [],
    );
  });

  it("says of PostgreSQL that pg_dump does it, without asking the server", async () => {
    const url = "postgres://nobody@127.0.0.1:1/none";
    const { code, err } = await idsvc(["db", "backup", "b"], { IDSVC_DATABASE_URL: url });
    assert.equal(code, 1);
    assert.match(err, /pg_dump.*\(BACKUP_BY_PG_DUMP\)/);
  });

  it("ends with 2 when no file is named", async () => {
    const { code, err } = await idsvc(["db", "backup"]);
    assert.equal(code, 2);
    assert.match(err, /missing required argument 'file'/);
  });
});
