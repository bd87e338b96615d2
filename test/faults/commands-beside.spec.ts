// Run: alone, long
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { idsvcAlone } from "../cli/command.ts";
import { engine, storeEnv } from "../support/app.ts";
import { freePort } from "../support/free-port.ts";
import { check } from "./checker.ts";
import { startServer } from "./server.ts";
import { createWriters } from "./writers.ts";

const token = "token-of-the-command-tests";
const roundsOfAll = 2;

/** The commands that may run beside a service: jobs are released after they were paused. */
const commandsBeside = (copy: string): string[][] => [
  ["doctor"],
  ["db", "migrate"],
  ...(engine === "sqlite" ? [["db", "backup", copy]] : []),
  ["keys", "rotate"],
  ["jobs", "hold"],
  ["jobs", "release"],
  ["apps", "legacy"],
  ["projections", "verify"],
  ["projections", "rebuild"],
  ["db", "vacuum"],
];

describe("a service of two processes, beside which its commands are run", () => {
  it("answers every call, and every command does what it should (F06)", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-commands-"));
    try {
      const store = { IDSVC_DATA_DIR: dataDir, ...(await storeEnv(dataDir)) };
      const env = { ...store, IDSVC_BOOTSTRAP_TOKEN: token, IDSVC_PROCESSES: "2" };
      const place = { dataDir, port: await freePort(), env };
      const writers = createWriters(4, token);
      {
        await using server = await startServer(place);
        await using running = writers.run(server.url);
        for (let round = 0; round < roundsOfAll; round++) {
          for (const command of commandsBeside(join(dataDir, `copy-${round}.db`))) {
            const { code, err } = await idsvcAlone(command, store);
            assert.equal(code, 0, `${command.join(" ")}: ${err}`);
          }
        }
        await running.stop();
        assert.equal(await server.stop(), 0);
      }
      const failed = writers.log.filter(({ status }) => status === 0 || status >= 500);
      assert.deepEqual(failed, []);
      assert.ok(writers.log.length > 100, `only ${writers.log.length} calls were answered`);
      assert.deepEqual(await check(place, writers.log), []);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
