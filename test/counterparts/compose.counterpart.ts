import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { composeCommand } from "./compose.ts";

const root = resolve(import.meta.dirname, "../..");

describe("compose.yaml", () => {
  it("is accepted by the library that docker compose reads its files with", () => {
    const folder = mkdtempSync(join(tmpdir(), "idsvc-compose-"));
    after(() => rmSync(folder, { recursive: true }));
    cpSync(join(root, "deploy/compose"), folder, { recursive: true });
    // This command reads no variables.
    const file = join(folder, "compose.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replaceAll(/\$\{IDSVC_DOMAIN:.*?\}/g, "id.example.com"));
    const told = execFileSync(composeCommand(), ["compose.yaml"], {
      cwd: folder,
      encoding: "utf8",
    });
    assert.match(told, /IDSVC_EXTERNAL_URL: https:\/\/id\.example\.com/);
  });
});
