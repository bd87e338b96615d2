// Run: alone, early
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { takeServingLock } from "../../src/storage/sqlite/serving-lock.ts";
import { freePort } from "../support/free-port.ts";
import { freshDatabase } from "../support/postgres.ts";
import { type Env, idsvc, newFolder, serve } from "./command.ts";
import {
  addTarget,
  assertNoneFell,
  childrenOf,
  countersIn,
  type Engine,
  engineNames,
  metricsOf,
  metricsToken,
  request,
  slowTarget,
  type Service,
  startWorkers,
  workerOf,
} from "./workers.ts";

const servingTogether = (engine: Engine) => {
  let service: Service;
  before(async () => {
    service = await startWorkers(engine, { IDSVC_METRICS_TOKEN: metricsToken });
  });
  after(() => service.end());

  it("take connections of the one port in turn, and say in the log which of them it was", async () => {
    for (let nth = 0; nth < 8; nth += 1)
      assert.equal((await request(service, "/healthz")).status, 200);
    await addTarget(service, "first");
    await addTarget(service, "second");
    await service.until("lines of both", () => {
      const calls = service
        .lines()
        .filter(({ worker, msg }) => worker !== undefined && msg !== "serving");
      return new Set(calls.map(({ worker }) => worker)).size === 2;
    });
    assert.equal(service.printed().split("\n  password ").length, 2, "secrets are printed once");
  });

  if (engine === "sqlite") {
    it("write by a process that their user alone reaches", () => {
      const socket = statSync(join(service.dir, "idsvc.db-writer"));
      assert.deepEqual([socket.isSocket(), socket.mode & 0o077], [true, 0]);
    });
  }

  it("show each what another has acknowledged, at once (C2)", async () => {
    for (let nth = 0; nth < 40; nth += 1) {
      const added = await addTarget(service, `target ${nth}`);
      assert.equal(added.status, 201);
      const { details } = (await added.json()) as { details: { id: string } };
      const read = await request(service, `/resources/v3alpha/targets/${details.id}`);
      assert.equal(read.status, 200, `target ${nth}`);
    }
  });

  it("tell their metrics as those of one service: counts are added up, levels are told of each", async () => {
    for (let nth = 0; nth < 2; nth += 1) {
      const text = await metricsOf(service);
      const appended = /^idsvc_events_appended_total\{type="target\.added"\} (\d+)$/m;
      const [, count = ""] = appended.exec(text) ?? [];
      assert.equal(count, "42", text.slice(0, 2_000));
      for (const worker of [1, 2]) {
        assert.match(
          text,
          new RegExp(`^process_resident_memory_bytes\\{worker="${worker}"\\} \\d+`, "m"),
        );
      }
      assert.equal(text.match(/^# TYPE process_cpu_seconds_total /gm)?.length, 1);
    }
  });

  it("go on counting what one had counted that ends", async () => {
    const counted = countersIn(await metricsOf(service));
    const served = service.said("serving");
    process.kill(workerOf(service), "SIGKILL");
    await service.until(
      "it has ended",
      () => service.said("a worker has ended and is replaced") > 0,
    );
    assertNoneFell(counted, countersIn(await metricsOf(service)));
    await service.until("it is replaced", () => service.said("serving") === served + 1);
    await addTarget(service, "after that");
    const last = countersIn(await metricsOf(service));
    assertNoneFell(counted, last);
    assert.equal(last.get('idsvc_events_appended_total{type="target.added"}'), 43);
  });

  const told =
    engine === "sqlite"
      ? "all of them are asked to stop, as by whoever signals their group"
      : "the one that has started them is asked to stop";
  it(`end in order with 0 when ${told}: the call under way is answered`, async () => {
    const all = childrenOf(service.child);
    assert.equal(all.length, engine === "sqlite" ? 3 : 2);
    const call = slowTarget(service, "under way");
    await call.begun;
    if (engine === "sqlite") for (const pid of all) process.kill(pid, "SIGTERM");
    service.child.kill("SIGTERM");
    await service.until("they stop", () => service.said("stopping") >= 3);
    call.finish();
    assert.equal(await call.status, 201);
    assert.equal(await service.gone, 0);
    assert.ok(service.said("stopped") >= 3, service.printed().slice(-2_000));
    for (const pid of all) assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
};

const sharing = (engine: Engine) => {
  let service: Service;
  before(async () => {
    service = await startWorkers(engine, { IDSVC_RATE_LIMIT: "20", IDSVC_PROCESSES: "3" });
  });
  after(() => service.end());

  it("is the limit of calls: a caller has it once, not once in each (J12)", async () => {
    // One second's worth is there again after what the start has asked.
    await delay(1_500);
    let served = 0;
    const began = performance.now();
    for (let nth = 0; nth < 90; nth += 1) {
      const { status } = await request(service, "/resources/v3alpha/targets/none");
      assert.ok([404, 429].includes(status), String(status));
      if (status === 404) served += 1;
    }
    const seconds = (performance.now() - began) / 1_000;
    // Each by itself would have served 20 (1 + seconds). What the others do not know of yet is a twentieth of a second old, and
    // more on a machine that is busy: as much again as one has.
    const most = 20 * (1 + seconds) + 20;
    assert.ok(served <= most, `${served} in ${seconds} s`);
  });

  it("ends with the one that has started them, though that is killed", async () => {
    const workers = childrenOf(service.child);
    assert.equal(workers.length, engine === "sqlite" ? 4 : 3);
    service.child.kill("SIGKILL");
    await service.gone;
    const isGone = (pid: number) => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    };
    for (const end = Date.now() + 60_000; !workers.every(isGone); await delay(20)) {
      assert.ok(Date.now() < end, "they go on");
    }
  });
};

for (const engine of ["sqlite", "postgres"] as const) {
  const on = `(on ${engineNames[engine]})`;
  describe(`processes that serve together (IDSVC_PROCESSES) ${on}`, () => servingTogether(engine));
  describe(`what processes that serve together share ${on}`, () => sharing(engine));
}

describe("IDSVC_PROCESSES", () => {
  const refused = async (env: Env, code: number, text: RegExp) => {
    const result = await idsvc(["serve"], { IDSVC_DATA_DIR: newFolder(), ...env });
    assert.equal(result.code, code, result.err);
    assert.match(result.err, text);
    assert.equal(result.err.trim().split("\n").length, 1, "in one line");
  };

  for (const wrong of ["0", "-1", "1e9", "257", "many", ""]) {
    it(`is not “${wrong}”`, () =>
      refused(
        { IDSVC_PROCESSES: wrong },
        2,
        /IDSVC_PROCESSES.* must be a whole number from 1 to 256, or auto/,
      ));
  }
  it("wants a port for the metrics that is the same for all", () =>
    refused(
      { IDSVC_PROCESSES: "2", IDSVC_METRICS_PORT: "0" },
      2,
      /IDSVC_METRICS_PORT must be from 1 to 65535 where several processes serve/,
    ));
  it("ends with 0 where the service is asked to stop while others of its processes still start (F23)", async () => {
    const env = { IDSVC_DATA_DIR: newFolder(), IDSVC_PORT: String(await freePort()) };
    // It is asked as soon as the first is ready.
    const { code, err } = await serve({ ...env, IDSVC_PROCESSES: "4", IDSVC_LOG_LEVEL: "error" });
    assert.equal(code, 0, err);
  });
  it("leads to one line where another process serves the store of SQLite", async () => {
    const dir = newFolder();
    using _ = takeServingLock(join(dir, "idsvc.db"));
    const env = { IDSVC_DATA_DIR: dir, IDSVC_PROCESSES: "2", IDSVC_LOG_LEVEL: "silent" };
    await refused(env, 1, /is served by another process: stop that one first/);
  });
  it("leads to one line where the path of the store of SQLite is too long for a socket", async () => {
    const dir = join(newFolder(), "long".repeat(30));
    const env = { IDSVC_DATA_DIR: dir, IDSVC_PROCESSES: "2", IDSVC_LOG_LEVEL: "silent" };
    await refused(env, 1, /too long for a socket beside it/);
  });
  it("leads to one line where the port is taken", async () => {
    await using database = await freshDatabase();
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => other.once("listening", done));
    const address = other.address();
    assert.ok(address !== null && typeof address === "object");
    const env = { IDSVC_PORT: String(address.port), IDSVC_DATABASE_URL: database.url };
    try {
      await refused(
        { ...env, IDSVC_PROCESSES: "2", IDSVC_LOG_LEVEL: "silent" },
        1,
        /something else listens there/,
      );
    } finally {
      other.close();
    }
  });
});
