import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { freshDatabase } from "../support/postgres.ts";
import { type Env, spawnCommand } from "./command.ts";

export type Engine = "sqlite" | "postgres";
export const engineNames = { sqlite: "SQLite", postgres: "PostgreSQL" };

type Line = { level: string; msg: string; worker?: number; path?: string; reason?: string };

/**
 * `idsvc serve` with several processes on a store of its own; each has said that it serves.
 *
 * @param root the folder with the files of the service, where they are not those of this repository
 */
export async function startWorkers(engine: Engine, env: Env = {}, root?: string) {
  const database = engine === "postgres" ? await freshDatabase() : undefined;
  // Not `newFolder`: what a hook asks to be done after it is done at its end, and a worker that starts later needs its key.
  const dir = mkdtempSync(join(tmpdir(), "idsvc-workers-"));
  const port = String(await freePort());
  const all = {
    IDSVC_DATA_DIR: dir,
    IDSVC_PORT: port,
    IDSVC_PROCESSES: "2",
    IDSVC_LOG_LEVEL: "info",
    ...(database === undefined ? {} : { IDSVC_DATABASE_URL: database.url }),
    ...env,
  };
  const child = spawnCommand(["serve"], all, root);
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
  /** How often a line of the log says so. There are many lines. */
  const said = (msg: string) => printed.split(`"msg":"${msg}"`).length - 1;
  const until = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    for (const end = Date.now() + 120_000; !(await isTrue()); await delay(20)) {
      assert.ok(Date.now() < end && child.exitCode === null, `${what}\n${printed}`);
    }
  };
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
    await database?.[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  };
  await until("all serve", () => said("serving") === Number(all.IDSVC_PROCESSES));
  const { machine } = JSON.parse(readFileSync(join(dir, "bootstrap.json"), "utf8"));
  return {
    child,
    dir,
    port,
    gone,
    end,
    lines,
    said,
    until,
    printed: () => printed,
    token: machine.token,
  };
}

export type Service = Awaited<ReturnType<typeof startWorkers>>;

/** A request over a connection of its own: the workers take connections in turn. */
export const request = ({ port, token }: Service, path: string, init: RequestInit = {}) =>
  fetch(`http://localhost:${port}${path}`, {
    ...init,
    signal: AbortSignal.timeout(20_000),
    headers: {
      authorization: `Bearer ${token}`,
      connection: "close",
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
    },
  });

export const addTarget = async (service: Service, name: string) => {
  const body = JSON.stringify({
    name,
    rest_webhook: { url: "https://example.com/hook" },
    timeout: "5s",
  });
  return request(service, "/resources/v3alpha/targets", { method: "POST", body });
};

/** A request of which the end is sent when it is asked for. */
export function slowTarget({ port, token }: Service, name: string) {
  const body = JSON.stringify({
    name,
    rest_webhook: { url: "https://example.com/hook" },
    timeout: "5s",
  });
  const sent = httpRequest(`http://localhost:${port}/resources/v3alpha/targets`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  // The service has its head, and says so.
  const begun = once(sent, "continue");
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.once("response", (response) => resolve(response.resume().statusCode));
    sent.once("error", reject);
  });
  sent.write(body.slice(0, 20));
  return { status, begun, finish: () => sent.end(body.slice(20)) };
}

/** The processes that serve, and for a store of SQLite the one that writes. */
export function processesOf({ child }: Service): { workers: number[]; writer: number | undefined } {
  const all = childrenOf(child);
  const writer = all.find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("writer-process"),
  );
  return { workers: all.filter((pid) => pid !== writer), writer };
}

/** One of those that serve. */
export function workerOf(service: Service): number {
  const [worker] = processesOf(service).workers;
  assert.ok(worker !== undefined);
  return worker;
}

export const childrenOf = ({ pid }: ChildProcess): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

export const metricsToken = "a-token-of-metrics";

/** What one of them tells of the metrics of all, where the service was started with the token of metrics. */
export async function metricsOf({ port }: Service): Promise<string> {
  const answer = await fetch(`http://localhost:${port}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}`, connection: "close" },
  });
  return answer.text();
}

/** The samples of counters and histograms, by name and labels. */
export function countersIn(text: string): Map<string, number> {
  const found = new Map<string, number>();
  let isCounter = false;
  for (const line of text.split("\n")) {
    const [, type] = /^# TYPE \S+ (\w+)$/.exec(line) ?? [];
    if (type !== undefined) isCounter = type !== "gauge";
    else if (isCounter && line !== "" && !line.startsWith("#")) {
      const end = line.lastIndexOf(" ");
      found.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return found;
}

export function assertNoneFell(before: Map<string, number>, after: Map<string, number>): void {
  assert.ok(before.size > 50, `${before.size} counters`);
  for (const [name, value] of before) {
    const now = after.get(name) ?? 0;
    assert.ok(now >= value, `${name} was ${value} and is ${now}`);
  }
}
