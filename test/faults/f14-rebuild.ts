import { once } from "node:events";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  pause,
} from "./fault.ts";
import { end, spawnCommand, startServer } from "./server.ts";
import { token } from "./store.ts";
import { createWriters } from "./writers.ts";

const roundsAStore = 20;
const rebuild = ["projections", "rebuild"];

/** Rebuilds the projections beside a server that serves: to the end, killed in the middle, and two at once. */
export const rebuildKilled: Fault = {
  id: "F14",
  title: "projections rebuilt under load, killed in the middle, two at once",
  engines: both,
  rounds: { usual: 5, full: 200 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      const writers = createWriters(8, token);
      await using server = await startServer(store.place);
      try {
        for (
          const last = Math.min(rounds, outcome.rounds + roundsAStore);
          outcome.rounds < last;
        ) {
          await using running = writers.run(server.url);
          await nextAcknowledged(writers, 10_000);
          const isKilled = outcome.rounds % 5 < 3;
          const many = outcome.rounds % 5 === 4 ? 2 : 1;
          const children = Array.from({ length: many }, () =>
            spawnCommand(store.place, rebuild, { quiet: true }),
          );
          const codes = children.map(async (child) => Number((await once(child, "exit"))[0] ?? -1));
          if (isKilled) {
            await pause(200, 1_200);
            for (const child of children) await end(child, "SIGKILL");
          } else if (!(await Promise.all(codes)).includes(0)) {
            // Of two at once the later one takes the place of the other, which says so.
            outcome.unexplained.push(
              `rebuilds ended with ${(await Promise.all(codes)).join(" and ")}`,
            );
          }
          outcome.struck += many;
          await nextAcknowledged(writers, 10_000);
          await running.stop();
          outcome.rounds += 1;
          await checkInto(outcome, store, writers);
        }
      } finally {
        await server.kill();
      }
      countInto(outcome, writers);
    }
    return outcome;
  },
};
