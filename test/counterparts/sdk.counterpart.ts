import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startTestApp, type TestApp } from "../support/app.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "sdk/README.md"), "utf8");

describe("a client of another language", () => {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-sdk-"));
  let service: TestApp;
  before(async () => {
    for (const name of ["proto", "third_party", "sdk", "buf.yaml", "package.json"])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    service = await startTestApp();
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [, language = "", section = ""] of page.matchAll(
    /^## (\w+)\n(.*?)(?=^## |$(?![^]))/gms,
  ))
    it(`is made by the printed commands, and calls the service over gRPC: ${language}`, async () => {
      const commands = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);
      const { stdout } = await promisify(execFile)("bash", ["-euc", commands.join("\n")], {
        cwd: folder,
        env: {
          ...process.env,
          GOFLAGS: "-modcacherw",
          IDSVC_ADDRESS: new URL(service.url).host,
          IDSVC_TOKEN: service.token,
        },
      });
      assert.match(stdout, /admin@idsvc\.localhost/);
      assert.match(stdout, /^PROJECT_NOT_FOUND$/m);
    });
});
