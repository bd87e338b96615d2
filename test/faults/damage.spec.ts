// Run: alone
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { idsvc } from "../cli/command.ts";
import { freePort } from "../support/free-port.ts";
import { startServer } from "./server.ts";

const pageBytes = 4_096;
// Beyond what a start looks through before it serves.
const paddingRows = 30_000;
const patienceMs = 60_000;

describe("a large store with a damaged page (F07)", () => {
  it("ends the service that has begun to serve it, is refused from then on, and served again as a backup", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-damage-"));
    after(() => rmSync(dataDir, { recursive: true, force: true }));
    const place = { dataDir, port: await freePort() };
    const path = join(dataDir, "idsvc.db");
    await (await startServer(place)).stop();
    pad(path);
    const backup = join(dataDir, "backup");
    copyFileSync(path, backup);
    damage(path);

    await using server = await startServer(place);
    for (const end = Date.now() + patienceMs; !server.hasEnded() && Date.now() < end; )
      await delay(10);
    assert.ok(server.hasEnded(), "a store that can be read in parts is not served");
    assert.ok(existsSync(`${path}-damaged`));

    const { code, err } = await idsvc(["serve"], { IDSVC_DATA_DIR: dataDir });
    assert.equal(code, 1);
    assert.match(err, /idsvc\.db is damaged: .* put a backup in its place \(STORE_DAMAGED\)/);

    for (const part of ["", "-wal", "-shm"]) rmSync(`${path}${part}`, { force: true });
    copyFileSync(backup, path);
    await using again = await startServer(place);
    assert.ok(!existsSync(`${path}-damaged`), "it was looked through before it was served");
    assert.equal(await again.stop(), 0);
  });
});

function pad(path: string): void {
  const store = new Sqlite(path);
  store.exec(`CREATE TABLE padding AS WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n
    WHERE at < ${paddingRows}) SELECT at, 'PADDING' || printf('%.900c', 'x') AS text FROM n`);
  store.close();
}

function damage(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.lastIndexOf("PADDINGx");
  assert.notEqual(at, -1);
  const page = at - (at % pageBytes);
  writeFileSync(path, bytes.fill(0xff, page, page + 64));
}
