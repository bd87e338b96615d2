import { once } from "node:events";
import { connect } from "../storage/sqlite-place.ts";
import { join } from "node:path";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  pause,
} from "./fault.ts";
import { startReplicas } from "./replicas.ts";
import { end, type Running, spawnCommand, spawnServer, startServer } from "./server.ts";
import { type Arena, databaseUrl, query, type Store, token } from "./store.ts";
import { noStrace } from "./strace.ts";
import { createWriters } from "./writers.ts";

// The calls by which a process changes what is outside of it, also those that wake its own threads.
const calls = { sqlite: "pwrite64,fdatasync,fsync", postgres: "write,writev,sendto,sendmsg" };
const strideOfUsual = { sqlite: 37, postgres: 41 };
const patienceMs = 10_000;
const writerCount = 8;
const killsAnUpgrade = 3;
const startMs = 30_000;

/**
 * Kills the migration of an empty store at its n-th call to the outside, and starts the service on what is left: one
 * process, or two at once. In a full run n = 1, 2, 3 and so on until a migration comes to its end. Between these, stores that an
 * older build has left are upgraded by starts that are killed; every other one of them needs nothing of the machine.
 */
export const migrationKilled: Fault = {
  id: "F24",
  title:
    "migration killed at its n-th write; upgrades of older stores killed; two replicas migrate at once",
  engines: both,
  rounds: { usual: 4, full: 2_000 },
  async run(arena, rounds) {
    const reason = noStrace();
    const outcome = newOutcome();
    if (reason !== undefined) outcome.remark = `upgrades alone: ${reason}`;
    const stride = rounds < 50 ? strideOfUsual[arena.engine] : 1;
    let ended = 0;
    for (; outcome.rounds < rounds && ended < 3; outcome.rounds++) {
      const nth = 1 + Math.floor(outcome.rounds / 2) * stride;
      if (reason !== undefined || outcome.rounds % 2 === 1) await upgrade(arena, outcome);
      else ended += await killAt(arena, nth, outcome);
    }
    if (outcome.struck === 0) outcome.unexplained.push("nothing was killed");
    if (ended >= 3) outcome.remark = `every call until call ${1 + outcome.rounds * stride}`;
    return outcome;
  },
};

/** @returns 1 where the migration came to its end before the call */
async function killAt(arena: Arena, nth: number, outcome: Outcome): Promise<number> {
  await using store = await arena.newStore();
  const strace = [
    "strace",
    "-f",
    "-o",
    "/dev/null",
    "-e",
    `trace=${calls[arena.engine]}`,
    "-e",
    `inject=${calls[arena.engine]}:signal=KILL:when=${nth}`,
  ];
  const child = spawnCommand(store.place, ["db", "migrate"], { before: strace });
  const [code] = await once(child, "exit", { signal: AbortSignal.timeout(patienceMs * 3) });
  // Past its last call a migration ends by itself; some more, since not every run makes the same calls.
  if (code !== 0) outcome.struck += 1;
  await using _ = await startReplicas(store, arena.engine === "postgres" ? 2 : 1, true);
  await checkInto(outcome, store);
  return code === 0 ? 1 : 0;
}

/** Nothing that an older build was told of is lost, whenever the build that follows it is killed. */
async function upgrade(arena: Arena, outcome: Outcome): Promise<void> {
  await using store = await arena.newStore();
  const writers = createWriters(writerCount, token);
  await using older = await startServer(store.place);
  await using running = writers.run(older.url);
  await nextAcknowledged(writers, patienceMs);
  await pause(300, 1_000);
  await running.stop();
  await older.kill();
  await makeOlder(arena, store);
  for (let kill = 0; kill < killsAnUpgrade; kill++) {
    const child = spawnServer(store.place, { quiet: true });
    await pause(200, 1_500);
    await end(child, "SIGKILL");
    outcome.struck += 1;
  }
  {
    const server = await startAgain(store);
    await using again = writers.run(server.url);
    await nextAcknowledged(writers, patienceMs);
    await again.stop();
    await server.kill();
  }
  await checkInto(outcome, store, writers);
  countInto(outcome, writers);
}

/**
 * Starts the service as whoever supervises it does: again, while it is refused. On PostgreSQL the session of a process that was
 * killed in a rebuild lives on until its statement ends, and keeps the next one out.
 */
async function startAgain({ place }: Store): Promise<Running> {
  for (const last = Date.now() + startMs; ; await pause(200, 400)) {
    try {
      return await startServer(place, { quiet: true });
    } catch (error) {
      if (Date.now() > last) throw error;
    }
  }
}

/** What a build has left that knew one projection less, others in another shape, and an index less. */
async function makeOlder(arena: Arena, { place }: Store): Promise<void> {
  const statements = [
    "UPDATE store_tables SET shape = 'of an older build' WHERE role = 'projection'",
    "DROP TABLE execution_targets",
    "DELETE FROM store_tables WHERE name = 'execution_targets'",
  ];
  if (arena.engine === "postgres") {
    await query(databaseUrl(place), statements.join("; "));
    return;
  }
  using connection = connect(join(place.dataDir, "idsvc.db"));
  connection.exec(statements.join("; "));
}
