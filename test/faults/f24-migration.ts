import { once } from "node:events";
import { both, checkInto, type Fault, newOutcome, Skipped } from "./fault.ts";
import { startReplicas } from "./replicas.ts";
import { spawnCommand } from "./server.ts";
import { noStrace } from "./strace.ts";

// The calls by which a process changes what is outside of it, also those that wake its own threads.
const calls = { sqlite: "pwrite64,fdatasync,fsync", postgres: "write,writev,sendto,sendmsg" };
const strideOfUsual = { sqlite: 37, postgres: 41 };
const patienceMs = 10_000;

/**
 * Kills the migration of an empty store at its n-th call to the outside, and starts the service on what is left: one
 * process, or two at once. In a full run n = 1, 2, 3 and so on until a migration comes to its end.
 */
export const migrationKilled: Fault = {
  id: "F24",
  title: "migration killed at its n-th write, then two replicas migrate at once",
  engines: both,
  rounds: { usual: 3, full: 2_000 },
  async run(arena, rounds) {
    const reason = noStrace();
    if (reason !== undefined) throw new Skipped(reason);
    const outcome = newOutcome();
    const stride = rounds < 50 ? strideOfUsual[arena.engine] : 1;
    let ended = 0;
    for (; outcome.rounds < rounds && ended < 3; outcome.rounds++) {
      await using store = await arena.newStore();
      const nth = 1 + outcome.rounds * stride;
      const strace = [
        ...["strace", "-f", "-o", "/dev/null", "-e", `trace=${calls[arena.engine]}`],
        ...["-e", `inject=${calls[arena.engine]}:signal=KILL:when=${nth}`],
      ];
      const child = spawnCommand(store.place, ["db", "migrate"], { before: strace });
      const [code] = await once(child, "exit", { signal: AbortSignal.timeout(patienceMs * 3) });
      // Past its last call a migration ends by itself; some more, since not every run makes the same calls.
      if (code === 0) ended += 1;
      else outcome.struck += 1;
      await using _ = await startReplicas(store, arena.engine === "postgres" ? 2 : 1, true);
      await checkInto(outcome, store);
    }
    if (outcome.struck === 0) outcome.unexplained.push("no migration was killed");
    outcome.remark = ended < 3 ? "" : `every call until call ${1 + outcome.rounds * stride}`;
    return outcome;
  },
};
