// Run: shared
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { serve } from "../cli/command.ts";
import { storeEnv } from "../support/app.ts";
import { freePort } from "../support/free-port.ts";

it("what the service makes is for its owner alone, in a folder that others could read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-modes-"));
  chmodSync(folder, 0o755);
  const before = process.umask(0o022);
  const port = await freePort();
  const env = {
    ...(await storeEnv(folder)),
    IDSVC_DATA_DIR: folder,
    IDSVC_PORT: String(port),
    IDSVC_EXTERNAL_URL: `http://localhost:${port}`,
  };
  const modes = new Map<string, number>();
  try {
    await serve(env, async () => {
      for (const name of readdirSync(folder)) modes.set(name, statSync(join(folder, name)).mode);
    });
  } finally {
    process.umask(before);
  }
  assert.ok(modes.size > 0);
  for (const [name, mode] of modes) assert.equal(mode & 0o077, 0, name);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

it("a data folder that was there before, and what lies in it, is narrowed to its owner", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-modes-"));
  const files = ["idsvc.db", "idsvc.db-wal", "idsvc.db-shm"].map((name) => join(folder, name));
  for (const file of files) {
    writeFileSync(file, "");
    chmodSync(file, 0o644);
  }
  chmodSync(folder, 0o755);
  const silent = { warn: () => assert.fail("nothing is left open") };
  const { narrowModes } = await import("../../src/app/file-modes.ts");
  narrowModes(folder, files[0], silent as never);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });
});
