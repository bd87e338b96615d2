// Run: alone, store
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { storeEnv } from "../support/app.ts";
import { freePort } from "../support/free-port.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "idsvc-tenant-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describe("the commands of docs/use.md that make another tenant", () => {
  it("work as printed: the service starts with a system caller, who makes an instance", async () => {
    const page = readFileSync(join(root, "docs/use.md"), "utf8");
    const blocks = [...page.matchAll(/```shell\n(.*?)```/gs)].map(([, text = ""]) => text);
    const port = await freePort();
    const [start = "", make = "", ...others] = blocks.map((text) =>
      text
        .replaceAll("localhost:8080", `localhost:${port}`)
        .replaceAll("test/examples", join(root, "test/examples"))
        .replace("npm start", `exec npm --prefix "${root}" start`),
    );
    assert.deepEqual(others, []);
    const dataDir = join(folder, "data");
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      NPM_CONFIG_UPDATE_NOTIFIER: "false",
      IDSVC_DATA_DIR: dataDir,
      IDSVC_PORT: String(port),
      IDSVC_LOG_LEVEL: "error",
      ...(await storeEnv(dataDir)),
    };
    const service = spawn("bash", ["-euo", "pipefail", "-c", start], {
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    try {
      const ready = () => fetch(`http://localhost:${port}/readyz`).then(({ ok }) => ok);
      for (const end = Date.now() + 60_000; !(await ready().catch(() => false)); await delay(50)) {
        assert.ok(Date.now() < end && service.exitCode === null, "the service does not start");
      }
      const script = ["-euo", "pipefail", "-c", make];
      const { stdout } = await promisify(execFile)("bash", script, { cwd: folder, env });
      const { result } = JSON.parse(stdout);
      const names = result.map((each: { user: { username: string } }) => each.user.username);
      assert.deepEqual(names.toSorted(), ["login-client", "ops"]);
      const made = JSON.parse(readFileSync(join(folder, "beta.json"), "utf8"));
      assert.equal(made.domain, "beta.localhost");
    } finally {
      const gone = once(service, "exit");
      if (service.exitCode === null && service.kill("SIGTERM")) await gone;
    }
  });
});
