import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "./call.ts";
import { acknowledgedWrites, type Entry } from "./client-log.ts";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  pause,
  Skipped,
} from "./fault.ts";
import { startServer } from "./server.ts";
import { type Arena, databaseUrl, query, type Store, token } from "./store.ts";
import { createWriters, type Writers } from "./writers.ts";

const sizes = { sqlite: "16m", postgres: "64m" };
const fullMs = 1_000;
const patienceMs = 20_000;
const longestRecoveryMs = 5_000;
const reads = 20;

/** Fills the file system of the data folder, and empties it again: writes are refused, reads go on, nothing is half. */
export const diskFull: Fault = {
  id: "F03",
  title: "disk full and emptied again, without a restart",
  engines: both,
  rounds: { usual: 4, full: 100 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    const recoveries: number[] = [];
    while (outcome.rounds < rounds) {
      using disk = mountDisk(sizes[arena.engine]);
      await using place = await (arena.engine === "sqlite" ? fileOn : tablesOn)(arena, disk);
      const { store } = place;
      const writers = createWriters(8, token);
      await using server = await startServer(store.place);
      try {
        // The disk is small: a few rounds, then a new one.
        for (const last = Math.min(rounds, outcome.rounds + 2); outcome.rounds < last; ) {
          await using running = writers.run(server.url);
          await nextAcknowledged(writers, patienceMs);
          await pause(50, 300);
          disk.fill();
          outcome.struck += 1;
          await refused(writers, outcome);
          await readsGoOn(server.url, writers.log, outcome);
          await readinessIs(server.url, 503, outcome);
          await pause(0, fullMs);
          disk.empty();
          recoveries.push(await nextAcknowledged(writers, patienceMs));
          await readinessIs(server.url, 200, outcome);
          await running.stop();
          outcome.rounds += 1;
          await checkInto(outcome, store, writers);
        }
      } finally {
        await server.kill();
      }
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "writing again", recoveries, longestRecoveryMs);
    return outcome;
  },
};

type OnDisk = AsyncDisposable & { store: Store };

async function fileOn(arena: Arena, { folder }: Disk): Promise<OnDisk> {
  const store = await arena.newStore(folder);
  return { store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** The tables lie on the disk, and the log of the server elsewhere: a server whose log cannot grow ends, as in F08. */
async function tablesOn(arena: Arena, { folder }: Disk): Promise<OnDisk> {
  const cluster = arena.cluster();
  const admin = (text: string) => query(cluster.url("postgres"), text);
  const name = `small_${randomBytes(4).toString("hex")}`;
  const location = join(folder, name);
  const { uid, gid } = statSync(cluster.folder);
  mkdirSync(location);
  chownSync(location, uid, gid);
  await admin(`CREATE TABLESPACE ${name} LOCATION '${location}'`);
  const store = await arena.newStore(undefined, name);
  return {
    store,
    async [Symbol.asyncDispose]() {
      const { pathname } = new URL(databaseUrl(store.place));
      await admin(`DROP DATABASE ${pathname.slice(1)} WITH (FORCE)`);
      await admin(`DROP TABLESPACE ${name}`);
      await store[Symbol.asyncDispose]();
    },
  };
}

export type Disk = Disposable & { folder: string; fill(): void; empty(): void };

/** A small file system in memory. */
export function mountDisk(size = sizes.sqlite): Disk {
  if (process.getuid?.() !== 0) throw new Skipped("mounting a tmpfs needs root");
  const folder = mkdtempSync(join(tmpdir(), "idsvc-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill() {
      const descriptor = openSync(ballast, "w");
      const block = Buffer.alloc(4_096, 1);
      try {
        for (;;) writeSync(descriptor, block);
      } catch (error) {
        if (Object(error).code !== "ENOSPC") throw error;
      } finally {
        closeSync(descriptor);
      }
    },
    empty: () => rmSync(ballast),
    [Symbol.dispose]() {
      execFileSync("umount", ["--lazy", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Waits until writes are refused; those that still found room count as others do. */
export async function refused(writers: Writers, outcome: Outcome): Promise<void> {
  const isRefused = ({ reason }: Entry) => reason === "STORE_UNAVAILABLE";
  const before = writers.log.length;
  for (const end = Date.now() + patienceMs; !writers.log.slice(before).some(isRefused); ) {
    if (Date.now() > end) {
      const more = acknowledgedWrites(writers.log.slice(before));
      outcome.unexplained.push(`no write was refused on a full disk, ${more} were acknowledged`);
      return;
    }
    await pause(10, 20);
  }
}

/** Load balancers hear that the store cannot write, and that it can again. */
export async function readinessIs(url: string, wanted: number, outcome: Outcome): Promise<void> {
  let seen = 0;
  for (const end = Date.now() + longestRecoveryMs; Date.now() < end; await pause(20, 50)) {
    const answer = await fetch(`${url}/readyz`);
    seen = answer.status;
    const { reason } = Object(await answer.json());
    if (seen !== wanted) continue;
    if ((wanted === 200) === (reason === undefined)) return;
  }
  outcome.unexplained.push(`/readyz answered ${seen} where ${wanted} is right`);
}

export async function readsGoOn(
  url: string,
  log: readonly Entry[],
  outcome: Outcome,
): Promise<void> {
  const made = log.findLast(({ op, outcome: came }) => op === "patch" && came === "acknowledged");
  for (let at = 0; at < reads; at++) {
    const search = { method: "POST", path: "/targets/_search" };
    const get = { method: "GET", path: `/targets/${made?.id}` };
    const { status, text } = await call(
      url,
      token,
      at % 2 === 0 || made === undefined ? search : get,
    );
    // Its writer may have deleted the target before the disk was full.
    if (status !== 200 && status !== 404)
      outcome.unexplained.push(`a read on a full disk was answered ${status}: ${text}`);
  }
}
