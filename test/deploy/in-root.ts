import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { settings, user } from "../../.ci/image.ts";
import { freePort } from "../support/free-port.ts";

/** Starts a program in a root with an empty volume, makes a session of the first administrator, and stops it. */
export async function servesIn(
  root: string,
  program: readonly string[],
  more: Record<string, string>,
): Promise<void> {
  const port = await freePort();
  const env = {
    ...Object.fromEntries(settings.Env.map((each) => each.split("=", 2))),
    IDSVC_MASTER_KEY: Buffer.alloc(32, 1).toString("base64"),
    IDSVC_PORT: String(port),
    ...more,
  };
  const inRoot = [`--userspec=${user}:${user}`, root];
  const service = spawn("/usr/sbin/chroot", [...inRoot, ...program], { env, stdio: "ignore" });
  const ended = once(service, "exit");
  try {
    const url = `http://localhost:${port}`;
    const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok;
    while (service.exitCode === null && !(await isReady())) await delay(500);
    const made = JSON.parse(readFileSync(join(root, "data/bootstrap.json"), "utf8"));
    const { login_name, password } = made.admin;
    const checks = { user: { login_name }, password: { password } };
    const answer = await fetch(`${url}/resources/v3alpha/sessions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${made.machine.token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ checks }),
    });
    assert.equal(answer.status, 201, await answer.text());
  } finally {
    service.kill("SIGTERM");
  }
  assert.deepEqual(await ended, [0, null]);
}
