import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readCompose } from "./compose.ts";

describe("compose.yaml", () => {
  it("is accepted by the library that docker compose reads its files with", () => {
    const folder = mkdtempSync(join(tmpdir(), "idsvc-compose-"));
    after(() => rmSync(folder, { recursive: true }));
    const read = readCompose(folder, "id.example.com");
    assert.match(read, /IDSVC_EXTERNAL_URL: https:\/\/id\.example\.com/);
  });
});
