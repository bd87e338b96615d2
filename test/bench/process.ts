import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync, readFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

const ticksPerSecond = 100;
const isThere = (tool: string) => spawnSync("which", [tool]).status === 0;
export const tools = {
  taskset: isThere("taskset") && cpus().length > 1,
  wrk: isThere("wrk"),
  h2load: isThere("h2load"),
};
const pin = (core: number) => (tools.taskset ? ["taskset", "-c", String(core)] : []);
// What is left when the harness is interrupted: servers are killed, folders are removed.
const leftovers = new Set<() => void>();
process.on("exit", () => {
  for (const clear of leftovers) clear();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

/** Does something when the harness ends without having come to it; gives what calls it off. */
export function atExit(clear: () => void): () => void {
  leftovers.add(clear);
  return () => void leftovers.delete(clear);
}

export const serverCore = 0;
export const loadCore = 1;

export type Child = AsyncDisposable & { pid: number; port: number; process: ChildProcess };

/** Starts a server pinned to the server core; it listens on the port that PORT names. Its output goes nowhere. */
export async function startServer(
  args: string[],
  env: Record<string, string> = {},
  port?: number,
): Promise<Child> {
  port ??= await freePort();
  const child = spawnServer(args, env, port);
  await untilListening(child.process, port);
  return child;
}

export function spawnServer(args: string[], env: Record<string, string>, port: number): Child {
  const [command = "", ...rest] = [...pin(serverCore), process.execPath, ...args];
  const output = openSync("/dev/null", "w");
  const child = spawn(command, rest, {
    stdio: ["ignore", output, "inherit"],
    env: { ...process.env, NODE_ENV: "production", ...env, PORT: String(port) },
  });
  closeSync(output);
  const callOff = atExit(() => child.kill("SIGKILL"));
  child.once("exit", callOff);
  return {
    pid: child.pid ?? 0,
    port,
    process: child,
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const patience = setTimeout(() => child.kill("SIGKILL"), 3_000);
  await gone;
  clearTimeout(patience);
}

/** Runs a program on a core to its end and gives what it printed. */
export async function runPinned(
  core: number,
  command: string[],
  input?: string,
  env: Record<string, string> = {},
): Promise<string> {
  const [file = "", ...args] = [...pin(core), ...command];
  const child = spawn(file, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, NODE_ENV: "production", ...env },
  });
  const callOff = atExit(() => child.kill("SIGTERM"));
  child.once("exit", callOff);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}\n${err}${out}`);
  return out;
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 1_500; tries++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(" ")} ended at its start`);
    const socket = net.connect(port, "127.0.0.1");
    const open = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (open) return;
    await delay(20);
  }
  throw new Error(`${child.spawnargs.join(" ")} does not listen on ${port}`);
}

/** Waits for the first 200 of a path; milliseconds since `since`. */
export async function untilOk(child: Child, path: string, since: number): Promise<number> {
  for (;;) {
    if (child.process.exitCode !== null) throw new Error("the server ended before it was ready");
    const status = await new Promise<number>((resolve) => {
      const request = http.get({ host: "127.0.0.1", port: child.port, path, agent: false });
      request.once("response", (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.once("error", () => resolve(0));
    });
    const ms = performance.now() - since;
    if (status === 200) return ms;
    if (ms > 60_000) throw new Error(`${path} never answered 200`);
    await delay(3);
  }
}

/** Seconds of processor time that a process has used. */
export const cpuSeconds = (pid: number): number => secondsIn(`/proc/${pid}/stat`, 11);

/** Seconds of processor time of the children of this process that have ended. */
export const endedChildrenSeconds = (): number => secondsIn("/proc/self/stat", 13);

/** The sum of two times of a process, in user and in system mode, of which the first stands there behind its name. */
function secondsIn(file: string, at: number): number {
  const stat = readFileSync(file, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[at]) + Number(fields[at + 1])) / ticksPerSecond;
}

export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1024;
}

/** The part of all processor time that a hypervisor took, since the numbers given. */
export function stolen(): { total: number; steal: number } {
  const [first = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  const ticks = first.trim().split(/\s+/).slice(1, 9).map(Number);
  return { total: ticks.reduce((sum, each) => sum + each, 0), steal: ticks[7] ?? 0 };
}
