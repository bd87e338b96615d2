// Run: alone, early
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../faults/server.ts";
import { freshDatabase } from "../support/postgres.ts";
import { type Env, idsvc, newFolder, spawnCommand } from "./command.ts";

type Line = { level: string; msg: string; worker?: number; path?: string };

/** `idsvc serve` with several processes on a database of its own, until the tests of the file are done. */
async function startWorkers(env: Env = {}) {
  const database = await freshDatabase();
  const [dir, port] = [newFolder(), String(await freePort())];
  const all = {
    ...{ IDSVC_DATA_DIR: dir, IDSVC_PORT: port, IDSVC_DATABASE_URL: database.url },
    ...{ IDSVC_PROCESSES: "2", IDSVC_LOG_LEVEL: "info", ...env },
  };
  const child = spawnCommand(["serve"], all);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => (printed += data.toString()));
  }
  const gone = new Promise<number | null>((done) => child.once("exit", done));
  const lines = (): Line[] =>
    printed
      .split("\n")
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  const said = (msg: string) => lines().filter((line) => line.msg === msg);
  const until = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    for (const end = Date.now() + 40_000; !(await isTrue()); await delay(20)) {
      assert.ok(Date.now() < end && child.exitCode === null, `${what}\n${printed}`);
    }
  };
  after(async () => {
    child.kill("SIGKILL");
    await gone;
    await database[Symbol.asyncDispose]();
  });
  await until("both serve", () => said("serving").length === 2);
  const { machine } = JSON.parse(readFileSync(join(dir, "bootstrap.json"), "utf8"));
  return { child, port, gone, lines, said, until, printed: () => printed, token: machine.token };
}

type Service = Awaited<ReturnType<typeof startWorkers>>;

/** A request over a connection of its own: the workers take connections in turn. */
const request = ({ port, token }: Service, path: string, init: RequestInit = {}) =>
  fetch(`http://localhost:${port}${path}`, {
    ...init,
    headers: {
      ...{ authorization: `Bearer ${token}`, connection: "close" },
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
    },
  });

const addTarget = async (service: Service, name: string) => {
  const body = JSON.stringify({
    name,
    rest_webhook: { url: "https://example.com/hook" },
    timeout: "5s",
  });
  return request(service, "/resources/v3alpha/targets", { method: "POST", body });
};

const childrenOf = ({ pid }: ChildProcess): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

describe("processes that serve together (IDSVC_PROCESSES)", async () => {
  const service = await startWorkers({ IDSVC_METRICS_TOKEN: "a-token-of-metrics" });

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
    const read = async () => {
      const { port } = service;
      const answer = await fetch(`http://localhost:${port}/metrics`, {
        headers: { authorization: "Bearer a-token-of-metrics", connection: "close" },
      });
      return answer.text();
    };
    for (let nth = 0; nth < 2; nth += 1) {
      const text = await read();
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

  it("replace one that is killed, and lose nothing that was acknowledged", async () => {
    const acknowledged: string[] = [];
    let isOver = false;
    const writing = (async () => {
      for (let nth = 0; !isOver; nth += 1) {
        const name = `kept ${nth}`;
        const added = await addTarget(service, name).catch(() => undefined);
        if (added?.status !== 201) continue;
        const { details } = (await added.json()) as { details: { id: string } };
        acknowledged.push(details.id);
      }
    })();
    for (let round = 1; round <= 2; round += 1) {
      const [victim = 0] = childrenOf(service.child).slice(round - 1);
      process.kill(victim, "SIGKILL");
      await service.until(
        "a worker is replaced",
        () => service.said("serving").length === 2 + round,
      );
    }
    isOver = true;
    await writing;
    assert.ok(acknowledged.length > 10, `${acknowledged.length} were acknowledged`);
    for (const id of acknowledged) {
      const { status } = await request(service, `/resources/v3alpha/targets/${id}`);
      assert.equal(status, 200, id);
    }
    assert.equal(service.said("a worker has ended and is replaced").length, 2);
    assert.equal(childrenOf(service.child).length, 2);
  });

  it("replace one that hangs", async () => {
    const [victim = 0] = childrenOf(service.child);
    process.kill(victim, "SIGSTOP");
    const before = service.said("serving").length;
    await service.until(
      "it is noticed",
      () => service.said("a worker hangs and is killed").length === 1,
    );
    await service.until("it is replaced", () => service.said("serving").length === before + 1);
    assert.equal((await request(service, "/healthz")).status, 200);
  });

  it("end in order with 0 when the one that has started them is asked to stop", async () => {
    const workers = childrenOf(service.child);
    service.child.kill("SIGTERM");
    assert.equal(await service.gone, 0);
    assert.ok(service.said("stopped").length >= 3, service.printed().slice(-2_000));
    for (const pid of workers) assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
});

describe("what processes that serve together share", async () => {
  const service = await startWorkers({ IDSVC_RATE_LIMIT: "20", IDSVC_PROCESSES: "3" });

  it("is the limit of calls: a caller has it once, not once in each (J12)", async () => {
    await service.until("the third serves", () => service.said("serving").length === 3);
    await delay(1_500);
    let served = 0;
    const began = performance.now();
    for (let nth = 0; nth < 60; nth += 1) {
      const { status } = await request(service, "/resources/v3alpha/targets/none");
      assert.ok([404, 429].includes(status), String(status));
      if (status === 404) served += 1;
    }
    const seconds = (performance.now() - began) / 1_000;
    // What the others do not know of yet is a twentieth of a second old.
    const most = 20 * (1 + seconds) + 3 * 20 * 0.1;
    assert.ok(served <= most, `${served} in ${seconds} s`);
  });

  it("ends with the one that has started them, though that is killed", async () => {
    const workers = childrenOf(service.child);
    assert.equal(workers.length, 3);
    service.child.kill("SIGKILL");
    await service.gone;
    const isGone = (pid: number) => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    };
    for (const end = Date.now() + 10_000; !workers.every(isGone); await delay(20)) {
      assert.ok(Date.now() < end, "they go on");
    }
  });
});

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
  it("is one on SQLite, and auto is one there", async () => {
    const why =
      /CONFIG_PROCESSES_NEED_POSTGRES|IDSVC_PROCESSES is 2, and one process serves a store of SQLite/;
    await refused({ IDSVC_PROCESSES: "2" }, 2, why);
    const config = await idsvc(["config", "--json"], {
      ...{ IDSVC_DATA_DIR: newFolder(), IDSVC_PROCESSES: "auto" },
    });
    assert.equal(config.code, 0);
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
