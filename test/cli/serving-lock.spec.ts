// Run: alone
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../support/free-port.ts";
import { idsvc, newFolder, serve } from "./command.ts";

const newEnv = async (folder = newFolder()) => ({
  IDSVC_DATA_DIR: folder,
  IDSVC_PORT: String(await freePort()),
  IDSVC_LOG_LEVEL: "info",
});

describe("a second serve on the data folder of one that runs", () => {
  it("is refused in words, changes nothing, and the first goes on", async () => {
    const env = await newEnv();
    await serve(env, async () => {
      // One that is not refused would serve on and on: it is told to stop as soon as it serves.
      const second = await serve(await newEnv(env.IDSVC_DATA_DIR));
      assert.equal(second.code, 1, second.out + second.err);
      assert.match(
        second.err,
        /^idsvc: the store .*idsvc\.db is served by another process: stop that one first.*\(STORE_SERVED\)\n$/,
      );
      assert.equal(second.out, "");
      assert.equal((await fetch(`http://localhost:${env.IDSVC_PORT}/readyz`)).status, 200);
      // Commands work beside the service.
      assert.equal((await idsvc(["projections", "verify"], env)).code, 0);
    });
  });

  it("starts after the first has ended, in order or by a crash", async () => {
    const env = await newEnv();
    const crashed = await serve(env, async (child) => {
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    assert.equal(crashed.code, null);
    assert.ok(existsSync(join(env.IDSVC_DATA_DIR, "idsvc.db-serving")));
    for (const _ of [1, 2]) {
      let isServing = false;
      const next = await serve(env, async () => void (isServing = true));
      assert.deepEqual([next.code, isServing], [0, true], next.err);
    }
  });
});
