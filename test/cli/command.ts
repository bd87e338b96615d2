import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { after } from "node:test";

const repository = resolve(import.meta.dirname, "../..");
const flags = ["--disable-proto=throw"];

export type Env = Record<string, string>;
export type Result = { code: number | null; out: string; err: string };

/**
 * A process of the command line, with nothing of the tests' own environment.
 *
 * @param root the folder with the files of the service
 */
export const spawnCommand = (args: string[], env: Env, root = repository): ChildProcess =>
  spawn(process.execPath, [...flags, join(root, "src/main.js"), ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });

/** Runs a command to its end, as a process of its own. */
export async function idsvcAlone(args: string[], env: Env = {}): Promise<Result> {
  const child = spawnCommand(args, env);
  const [out, err, code] = await Promise.all([
    child.stdout === null ? "" : text(child.stdout),
    child.stderr === null ? "" : text(child.stderr),
    new Promise<number | null>((done) => child.once("exit", done)),
  ]);
  return { code, out, err };
}

/**
 * Runs a command to its end, in a process that runs nothing but commands, one after the other: to load what a command needs takes five
 * times as long as most of them. One that is run beside another has a process of its own.
 */
export async function idsvc(args: string[], env: Env = {}): Promise<Result> {
  if (isBusy || "NODE_OPTIONS" in env) return idsvcAlone(args, env);
  isBusy = true;
  try {
    return await (host ??= startHost())(args, env);
  } finally {
    isBusy = false;
  }
}

let isBusy = false;
let host: ((args: string[], env: Env) => Promise<Result>) | undefined;

function startHost(): typeof idsvcAlone {
  const script = join(import.meta.dirname, "command-host.js");
  const child = spawn(process.execPath, [...flags, script], { env: {} });
  child.once("exit", () => (host = undefined));
  const { stdin, stdout, stderr } = child;
  const all = [child, stdin, stdout, stderr] as unknown as { ref(): void; unref(): void }[];
  const said = (output: Readable): Promise<[text: string, code: number]> =>
    new Promise((tell, fail) => {
      let heard = "";
      const hear = (part: string) => {
        heard += part;
        const [before = "", code] = heard.split("\0");
        if (code?.endsWith("\n") !== true) return;
        output.off("data", hear);
        child.off("exit", gone);
        tell([before, Number(code)]);
      };
      const gone = () => fail(new Error(`a command ended the process of all commands: ${heard}`));
      output.setEncoding("utf8").on("data", hear);
      child.once("exit", gone);
    });
  return async (args, env) => {
    for (const each of all) each.ref();
    stdin.write(`${JSON.stringify({ args, env })}\n`);
    const [[out, code], [err]] = await Promise.all([said(stdout), said(stderr)]);
    for (const each of all) each.unref();
    return { code, out, err };
  };
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
    while (isRunning(child) && !(await isReady(env))) await delay(20);
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
