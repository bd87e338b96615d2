// Run: alone, turns
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { turns } from "../support/turns.ts";
import { newFolder } from "./command.ts";

const root = resolve(import.meta.dirname, "../..");

/** The process that listens on the port writes its id here, whoever its parent is. */
const tellPid = (file: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`import{writeFileSync}from"node:fs";if(process.argv[1]?.endsWith("main.js"))writeFileSync(${JSON.stringify(file)},String(process.pid))`)}`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let left = 600; left > 0; left--) {
    if (await holds()) return;
    await delay(25);
  }
  assert.fail(`not within 15 s: ${what}`);
}

describe("the service under npm", () => {
  const inTurn = turns();
  for (const script of [["start"], ["run", "idsvc", "--", "serve"]]) {
    const signal = inTurn(["SIGTERM", "SIGINT"] as const);
    it(`npm ${script.join(" ")} ends the service in order when npm alone gets ${signal}`, async () => {
      const folder = newFolder();
      const port = await freePort();
      const pidFile = join(folder, "pid");
      const npm = spawn("npm", script, {
        cwd: root,
        stdio: ["ignore", "pipe", "ignore"],
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: folder,
          NODE_OPTIONS: tellPid(pidFile),
          NPM_CONFIG_UPDATE_NOTIFIER: "false",
          IDSVC_DATA_DIR: join(folder, "data"),
          IDSVC_PORT: String(port),
        },
      });
      let printed = "";
      npm.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      let isNpmGone = false;
      npm.once("exit", () => (isNpmGone = true));
      await until("the service is ready", () =>
        fetch(`http://localhost:${port}/readyz`).then(
          ({ status }) => status === 200,
          () => isNpmGone,
        ),
      );
      assert.ok(existsSync(pidFile), printed);
      const pid = Number(readFileSync(pidFile, "utf8"));
      try {
        npm.kill(signal);
        await until("npm has ended", () => isNpmGone);
        await until("the service has ended", () => !isAlive(pid));
        assert.match(printed, /"msg":"stopped"/);
      } finally {
        if (isAlive(pid)) process.kill(pid, "SIGKILL");
        npm.kill("SIGKILL");
      }
    });
  }
});
