import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { bareEnv } from "../../threads/bare-env.ts";
import { stepBack } from "../../threads/priority.ts";
import { storeDamaged } from "../refusals.ts";
import { isDamage } from "./errors.ts";

// A few hundredths of a second; a new store has a few hundred kilobytes.
const mostAtOnceBytes = 16 << 20;
const look = fileURLToPath(new URL(`./look${extname(import.meta.url)}`, import.meta.url));

/** What lies beside a store in which damage was met, until a start has found it sound: a restored backup is. */
const markOf = (path: string): string => `${path}-damaged`;

/** For who runs the service. */
export const damagedAt = (path: string, cause: unknown) =>
  storeDamaged(
    "failedPrecondition",
    `the store ${path} is damaged: move it away with ${path}-wal and ${path}-shm, and put a backup in its place`,
    { cause },
  );

/** For clients of the API, who need not know the path. */
export const damagedMeanwhile = (cause: unknown) =>
  storeDamaged("unavailable", "the store is damaged and is served no longer", { cause });

/** The next start looks at all of the store before it serves it. */
export function suspect(path: string): void {
  try {
    writeFileSync(markOf(path), "");
  } catch {
    // Without it the next start finds the damage as this one did.
  }
}

/**
 * Looks at every page of a store for damage (F07): pages, cells and rows that are not as the format and the schema
 * have them; not letters of a text that have changed. Small stores, and those in which damage was met before, are looked at
 * before this resolves; others beside the start, by a process that steps back behind all others, so that a start takes as
 * long with much data as with little.
 *
 * @param found called when there is damage, before this resolves or after
 */
export async function lookThrough(
  connection: Sqlite.Database,
  path: string,
  { found, signal }: { found: (what: string) => void; signal: AbortSignal },
): Promise<void> {
  const settle = (what: string | undefined): void => {
    if (what === undefined) rmSync(markOf(path), { force: true });
    else found(what);
  };
  if (statSync(path).size <= mostAtOnceBytes) return settle(lookAt(connection));
  const isSuspect = existsSync(markOf(path));
  const child = lookBeside(path, signal);
  // A service that only waits for it would end.
  if (!isSuspect) child.unref();
  const all = wordOf(child).then(settle, (error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (isSuspect) await all;
}

/** The first damage of an open store; undefined when it is sound. */
export function lookAt(connection: Sqlite.Database): string | undefined {
  try {
    const said = String(connection.pragma("quick_check(1)", { simple: true }));
    return said === "ok" ? undefined : said;
  } catch (error) {
    if (isDamage(error)) return String(error);
    throw error;
  }
}

function lookBeside(path: string, signal: AbortSignal): ChildProcess {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const child = spawn(process.execPath, [look, path], {
    stdio: [...stdio],
    env: bareEnv(),
    signal,
  });
  if (child.pid !== undefined) stepBack(child.pid);
  return child;
}

/** The damage that it found; undefined when there is none. */
function wordOf(child: ChildProcess): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.once("error", reject).once("close", (code) => {
    if (code === 0) return resolve(said === "" ? undefined : said);
    reject(new Error(`the process that looks for damage ended with ${code}`));
  });
  return promise;
}
