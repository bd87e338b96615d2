import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { after } from "node:test";

const main = resolve(import.meta.dirname, "../../src/main.js");
const flags = ["--disable-proto=throw"];

export type Env = Record<string, string>;
export type Result = { code: number | null; out: string; err: string };

/** A process of the command line, with nothing of the tests' own environment. */
export const spawnCommand = (args: string[], env: Env): ChildProcess =>
  spawn(process.execPath, [...flags, main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });

/** Runs a command to its end. */
export async function idsvc(args: string[], env: Env = {}): Promise<Result> {
  const child = spawnCommand(args, env);
  const [out, err, code] = await Promise.all([
    child.stdout === null ? "" : text(child.stdout),
    child.stderr === null ? "" : text(child.stderr),
    new Promise<number | null>((done) => child.once("exit", done)),
  ]);
  return { code, out, err };
}

/** Runs `serve` until it is ready and `work` is done, then asks it to stop; gives all it printed. */
export async function serve(
  env: Env,
  work: (server: ChildProcess) => Promise<void> = async () => {},
): Promise<Result> {
  const child = spawnCommand(["serve"], env);
  const printed = Promise.all([
    child.stdout === null ? "" : text(child.stdout),
    child.stderr === null ? "" : text(child.stderr),
  ]);
  const gone = new Promise<number | null>((done) => child.once("exit", done));
  try {
    while (isRunning(child) && !(await isReady(env))) await delay(10);
    if (isRunning(child)) await work(child);
  } finally {
    child.kill("SIGTERM");
  }
  const code = await gone;
  const [out, err] = await printed;
  return { code, out, err };
}

/** A process that was killed has no exit code. */
const isRunning = (child: ChildProcess): boolean =>
  child.exitCode === null && child.signalCode === null;

const isReady = ({ IDSVC_PORT }: Env): Promise<boolean> =>
  fetch(`http://localhost:${IDSVC_PORT}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );

/** A folder that is gone when the file's tests are done. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-cli-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
