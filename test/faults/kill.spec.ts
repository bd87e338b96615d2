// Run: alone, long
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { check } from "./checker.ts";
import { flushesIn, watchedBy } from "./flush-watch.ts";
import { freePort } from "../support/free-port.ts";
import { end, type Place, type Running, spawnServer, startServer } from "./server.ts";
import { createWriters } from "./writers.ts";

const asked = process.env["IDSVC_TEST_KILLS"];
const kills = Number(asked ?? 8);
const writerCount = 8;
const longestStartMs = 3_000;
const token = "token-of-the-fault-tests";
const env = { IDSVC_BOOTSTRAP_TOKEN: token };
const main = resolve(import.meta.dirname, "../../src/main.js");

async function newPlace(): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-fault-"));
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  return { dataDir, port: await freePort(), env };
}

/** Between the two, evenly. */
const randomMs = (least: number, most: number) => delay(least + Math.random() * (most - least));

describe("a server that is killed while it writes (F01)", () => {
  it(`loses nothing it acknowledged, in ${kills} kills, and serves again within 3 seconds`, async () => {
    const place = await newPlace();
    const writers = createWriters(writerCount, token);
    const starts: Pick<Running, "readyMs" | "waitedMs">[] = [];
    let acknowledged = 0;
    // Where the processor is others' too, a round has few answers before its kill: some more make up for it.
    const isEnough = (rounds: number) =>
      rounds >= kills * 4 || (rounds >= kills && acknowledged > kills * 5);
    for (let round = 0; !isEnough(round); round++) {
      await using server = await startServer(place);
      starts.push(server);
      assert.deepEqual(await check(place, writers.log), [], `before kill ${round}`);
      await using running = writers.run(server.url);
      // The first calls of a process take long: most rounds wait for an answer, so that the kill falls among writes.
      if (round % 4 !== 1) await writers.answered();
      await randomMs(5, 400);
      await server.kill();
      await running.stop();
      const now = writers.log.filter(({ outcome }) => outcome === "acknowledged").length;
      assert.ok(round === 0 || now >= acknowledged);
      acknowledged = now;
      if (round % 4 === 3) {
        // A second kill in the middle of the recovery.
        const child = spawnServer(place);
        await randomMs(100, 800);
        await end(child, "SIGKILL");
      }
    }
    await using server = await startServer(place);
    starts.push(server);
    assert.equal(await server.stop(), 0);
    assert.deepEqual(await check(place, writers.log), []);
    assert.ok(acknowledged > kills * 5, `only ${acknowledged} calls were acknowledged`);
    const internal = writers.log.filter(({ status }) => status >= 500 && status !== 503);
    assert.deepEqual(internal, []);
    // In a run of its own every start is in time; beside other tests what it waits for a core does not count.
    const took = starts.map(({ readyMs, waitedMs }) =>
      asked === undefined ? readyMs - waitedMs : readyMs,
    );
    const slow = took.filter((ms) => ms > longestStartMs);
    assert.deepEqual(slow, [], `serving again took ${took.map(Math.round).join(", ")} ms`);
    await promisify(execFile)(process.execPath, [main, "projections", "verify"], {
      env: { IDSVC_DATA_DIR: place.dataDir },
    });
  });

  it("makes a whole first instance or none when it is killed during its first start", async () => {
    for (const killAfterMs of [250, 450, 600, 750]) {
      const place = await newPlace();
      const child = spawnServer(place);
      await delay(killAfterMs);
      await end(child, "SIGKILL");
      await using server = await startServer(place);
      const file = join(place.dataDir, "bootstrap.json");
      assert.equal(statSync(file).mode & 0o777, 0o600);
      const { machine, instance_id } = JSON.parse(readFileSync(file, "utf8"));
      const answer = await fetch(`${server.url}/resources/v3alpha/targets/_search`, {
        method: "POST",
        headers: { authorization: `Bearer ${machine.token}` },
      });
      assert.equal(answer.status, 200, `killed after ${killAfterMs} ms: ${await answer.text()}`);
      await server.kill();
      assert.deepEqual(await check(place, []), []);
      assert.match(instance_id, /^\d+$/);
    }
  });
});

describe("a server that is asked to stop while it writes (F23)", () => {
  it("loses nothing it acknowledged, ends with 0, and leaves a checkpointed file", async () => {
    const place = await newPlace();
    const writers = createWriters(writerCount, token);
    await using server = await startServer(place);
    await using running = writers.run(server.url);
    const isDeleted = () =>
      writers.log.some(({ op, outcome }) => op === "delete" && outcome === "acknowledged");
    while (!isDeleted()) await writers.answered();
    await delay(300);
    const [code] = await Promise.all([server.stop(), delay(50).then(() => running.stop())]);
    assert.equal(code, 0);
    assert.equal(existsSync(join(place.dataDir, "idsvc.db-wal")), false);
    assert.deepEqual(await check(place, writers.log), []);
    const internal = writers.log.filter(({ status }) => status >= 500 && status !== 503);
    assert.deepEqual(internal, []);
  });

  it("ends when the last call is answered, though its client keeps the connection", async () => {
    const place = await newPlace();
    // One that waited for connections would wait so long.
    const patient = { ...place, env: { ...env, IDSVC_SHUTDOWN_TIMEOUT: "2m" } };
    const writers = createWriters(writerCount, token);
    await using server = await startServer(patient);
    await using running = writers.run(server.url);
    await writers.answered();
    await delay(200);
    const from = performance.now();
    await Promise.all([server.stop(), running.stop()]);
    const took = Math.round(performance.now() - from);
    assert.ok(took < 60_000, `the stop took ${took} ms`);
  });
});

describe("a server whose flush fails (F05)", () => {
  it("tells that the outcome is unknown, ends, and the next one finds a sound store", async () => {
    const place = await newPlace();
    const writers = createWriters(3 * writerCount, token);
    const file = join(place.dataDir, "flushes");
    const { imports, env: watching } = watchedBy(file, { failsFrom: 40 });
    await using server = await startServer({ ...place, imports, env: { ...env, ...watching } });
    await using running = writers.run(server.url);
    for (const last = Date.now() + 60_000; !server.hasEnded() && Date.now() < last; )
      await delay(5);
    assert.ok(server.hasEnded(), "the server goes on as if nothing had happened");
    await running.stop();
    const { failed, violations } = flushesIn(file);
    assert.ok(failed > 0);
    assert.deepEqual(violations, []);
    assert.ok(writers.log.some(({ reason: why }) => why === "STORE_OUTCOME_UNKNOWN"));
    await using again = await startServer(place);
    assert.deepEqual(await check(place, writers.log), []);
    assert.equal(await again.stop(), 0);
  });
});
