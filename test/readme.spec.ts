import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startTestApp, type TestApp } from "./support/app.ts";

const root = resolve(import.meta.dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);

let service: TestApp;
before(async () => {
  service = await startTestApp();
});
after(() => service[Symbol.asyncDispose]());

// Run one after another in one shell, as a reader would type them; only port and folder are those of this test.
async function typed(): Promise<string[]> {
  const script = blocks
    .map((block) => `${block}\necho; echo ----`)
    .join("\n")
    .replaceAll("localhost:8080", `localhost:${service.port}`)
    .replaceAll("data/bootstrap.json", join(service.kernel.config.dataDir, "bootstrap.json"));
  const { stdout } = await promisify(execFile)("bash", ["-euc", script], { cwd: root });
  return stdout.split("----\n").map((part) => part.trim());
}

describe("the examples of the README", () => {
  it("work as printed, one after another", async () => {
    const [, targets = "", execution = "", refusal = "", grpc = ""] = await typed();
    const [created = "", found = ""] = targets.replace(/\}\{/, "}\n{").split("\n");
    assert.match(JSON.parse(created).details.id, /^\d+$/);
    assert.match(JSON.parse(created).signing_key, /^idsvc_sk_/);
    assert.equal(JSON.parse(found).result[0].target.name, "audit");
    assert.match(JSON.parse(execution).details.id, /^request\.idsvc\.settings\.feature/);
    assert.equal(JSON.parse(refusal).code, 3);
    assert.equal(JSON.parse(grpc).result[0].target.name, "audit");
  });
});
