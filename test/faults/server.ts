import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const root = resolve(import.meta.dirname, "../..");
const flags = ["--disable-proto=throw"];
const patienceMs = 60_000;
const lingerMs = 10_000;

/** Disposing of it kills it. */
export type Running = AsyncDisposable & {
  url: string;
  /** From the start of the process to the first ready answer. */
  readyMs: number;
  /** Of that, how long its main thread waited for a core that others had. */
  waitedMs: number;
  /** No warning, no time to flush. */
  kill(): Promise<void>;
  /** Asks to stop, and gives the exit code. */
  stop(): Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  readonly pid: number;
  /** Whether the process has ended, by itself or not. */
  hasEnded(): boolean;
  /** The process that writes the store: this one, or where several serve one of its own, whose place another one takes. */
  readonly writer: { pid: number; hasEnded(): boolean };
};

export type Place = {
  dataDir: string;
  port: number;
  env?: Record<string, string>;
  /** Modules that its processes import before the service. */
  imports?: readonly string[];
};

/** `before`: what starts it, as `strace` does; `quiet`: without its words, where a refusal is expected. */
type How = { before?: string[]; quiet?: boolean };

/** A command of the service as a process of its own, with this store and none of the tests' environment. */
export function spawnCommand(
  place: Omit<Place, "port">,
  command: string[],
  how: How = {},
): ChildProcess {
  const imports = (place.imports ?? []).map((file) => `--import=${file}`);
  const main = [process.execPath, ...flags, ...imports, join(root, "src/main.js"), ...command];
  const [program = "", ...args] = [...(how.before ?? []), ...main];
  const child = spawn(program, args, {
    cwd: place.dataDir,
    stdio: ["ignore", "ignore", how.quiet === true ? "ignore" : "inherit"],
    detached: isOfMany(place),
    env: { IDSVC_DATA_DIR: place.dataDir, IDSVC_LOG_LEVEL: "silent", ...place.env },
  });
  if (isOfMany(place)) groups.add(child);
  return child;
}

export function spawnServer({ port, env, ...place }: Place, how: How = {}): ChildProcess {
  return spawnCommand({ ...place, env: { ...env, IDSVC_PORT: String(port) } }, ["serve"], how);
}

/** Whether several processes serve it: they are a group, which is struck as a whole. */
const isOfMany = ({ env }: Pick<Place, "env">): boolean =>
  Number(env?.["IDSVC_PROCESSES"] ?? 1) > 1;

const groups = new WeakSet<ChildProcess>();

/** Whoever is asked to stop asks those that it has started; everything else meets them all. */
function strike(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (signal === "SIGTERM" || pid === undefined || !groups.has(child)) child.kill(signal);
  else process.kill(-pid, signal);
}

/** Ends a process that this test started, and waits until it is gone. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, "exit");
    strike(child, signal);
    await gone;
    // What it has started ends with it, and lets go of the store a moment later.
    const late = Date.now() + lingerMs;
    while (groups.has(child) && groupStands(child) && Date.now() < late) await delay(5);
  }
  return child.exitCode;
}

function groupStands({ pid = 0 }: ChildProcess): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

export async function startServer(place: Place, how: How = {}): Promise<Running> {
  const url = `http://localhost:${place.port}`;
  const started = performance.now();
  const child = spawnServer(place, how);
  while (!(await isReady(url))) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) assert.fail(`the server ended with ${ended}`);
    if (performance.now() - started > patienceMs) {
      await end(child, "SIGKILL");
      assert.fail("the server never got ready");
    }
    await delay(20);
  }
  const { pid = 0 } = child;
  const writer = writerOf(pid);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async () => void (await end(child, "SIGKILL"));
  return {
    url,
    readyMs: performance.now() - started,
    waitedMs: waitedFor(pid),
    kill,
    [Symbol.asyncDispose]: kill,
    stop: () => end(child, "SIGTERM"),
    signal: (name) => strike(child, name),
    pid,
    hasEnded,
    writer: { pid: writer, hasEnded: () => hasEnded() || !existsSync(`/proc/${writer}`) },
  };
}

/** Source: docs.kernel.org/scheduler/sched-stats.html: the second number, in nanoseconds. */
const waitedFor = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;

/** Of those that this process has started the one that writes an SQLite store, or itself where none does. */
function writerOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const isWriter = (each: string) =>
    each !== "" && readFileSync(`/proc/${each}/cmdline`, "utf8").includes("writer-process");
  return Number(children.find(isWriter) ?? pid);
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    (answer) => answer.status === 200,
    () => false,
  );
