import { execFileSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { mountDisk, readinessIs, readsGoOn, refused } from "./f03-disk-full.ts";
import {
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  pause,
  Skipped,
} from "./fault.ts";
import { end, spawnServer, startServer } from "./server.ts";
import { type Store, token } from "./store.ts";
import { inject, noStrace } from "./strace.ts";
import { createWriters } from "./writers.ts";

const writes = "pwrite64,ftruncate,fallocate";
const patienceMs = 20_000;
const longestRecoveryMs = 5_000;
const refusalMs = 10_000;

/**
 * The disk turns read-only under a server, and back: as F03. (A file system with open files cannot be made so from outside:
 * the calls that write answer as they do then.) A start on a file system that really is read-only is refused.
 */
export const readOnly: Fault = {
  id: "F04",
  title: "disk read-only while running, and at a start",
  engines: ["sqlite"],
  rounds: { usual: 2, full: 50 },
  async run(arena, rounds) {
    const reason = noStrace();
    if (reason !== undefined) throw new Skipped(reason);
    const outcome = newOutcome();
    const recoveries: number[] = [];
    while (outcome.rounds < rounds) {
      using disk = mountDisk();
      await using store = await arena.newStore(disk.folder);
      const writers = createWriters(8, token);
      await using server = await startServer(store.place);
      try {
        await using running = writers.run(server.url);
        await nextAcknowledged(writers, patienceMs);
        {
          await using _ = await inject(server.writer.pid, writes, "error=EROFS:when=1+");
          outcome.struck += 1;
          await refused(writers, outcome);
          await readsGoOn(server.url, writers.log, outcome);
          await readinessIs(server.url, 503, outcome);
          await pause(0, 1_000);
        }
        recoveries.push(await nextAcknowledged(writers, patienceMs));
        await readinessIs(server.url, 200, outcome);
        await running.stop();
      } finally {
        await server.kill();
      }
      outcome.rounds += 1;
      remount(disk.folder, "ro");
      outcome.struck += 1;
      if (!(await refusesToStart(store))) outcome.unexplained.push("a start on it went on");
      remount(disk.folder, "rw");
      await checkInto(outcome, store, writers);
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "writing again", recoveries, longestRecoveryMs);
    return outcome;
  },
};

const remount = (folder: string, how: "ro" | "rw") =>
  execFileSync("mount", ["-o", `remount,${how}`, folder]);

/** Whether a server ends by itself instead of serving this store. */
export async function refusesToStart({ place }: Store): Promise<boolean> {
  const child = spawnServer(place, { quiet: true });
  for (const late = Date.now() + refusalMs; child.exitCode === null && Date.now() < late; )
    await delay(10);
  const code = child.exitCode;
  await end(child, "SIGKILL");
  return code !== null && code !== 0;
}
