import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { end } from "./server.ts";

/** Why calls of a process cannot be made to fail here, if they cannot. */
export const noStrace = (): string | undefined =>
  spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0
    ? undefined
    : "strace is missing, or may not be used (Debian, Ubuntu: apt-get install strace)";

/** A process whose calls of the system fail. Disposing lets it go. */
export type Injection = AsyncDisposable & { injected(): number };

/**
 * Makes calls of a process fail.
 *
 * @param calls  their names, separated by commas
 * @param how  as strace says it: `error=EIO:when=3+`
 */
export async function inject(pid: number, calls: string, how: string): Promise<Injection> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-strace-"));
  const file = join(folder, "calls");
  const child = spawn(
    "strace",
    ["-f", "-o", file, "-p", String(pid), "-e", `trace=${calls}`, "-e", `inject=${calls}:${how}`],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const attached = new Promise((resolve) => child.stderr.once("data", resolve));
  await Promise.race([attached, delay(5_000)]);
  return {
    injected: () => readFileSync(file, "utf8").split("(INJECTED)").length - 1,
    async [Symbol.asyncDispose]() {
      await end(child, "SIGTERM");
      rmSync(folder, { recursive: true });
    },
  };
}
