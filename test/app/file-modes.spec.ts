import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { narrowModes } from "../../src/app/file-modes.ts";

it("finding 14: a data folder that was there before, and what lies in it, is narrowed to its owner", () => {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-modes-"));
  const files = ["idsvc.db", "idsvc.db-wal", "idsvc.db-shm"].map((name) => join(folder, name));
  for (const file of files) {
    writeFileSync(file, "");
    chmodSync(file, 0o644);
  }
  chmodSync(folder, 0o755);
  const silent = { warn: () => assert.fail("nothing is left open") };
  narrowModes(folder, files[0], silent as never);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });
});
