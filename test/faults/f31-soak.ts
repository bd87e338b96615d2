import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import {
  checkInto,
  countInto,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  pause,
} from "./fault.ts";
import { beginImport, rssMb } from "./import-kill.ts";
import { end, type Running, spawnCommand, startServer } from "./server.ts";
import { type Arena, query, type Store, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const clients = 16;
// What is checked grows with the log: a new store now and then keeps it short.
const faultsAStore = 10;

type Stage = { arena: Arena; store: Store; server: Running };
/** Does something bad, and gives the server that serves after it. */
type Strike = { name: string; engines?: "postgres"; strike(stage: Stage): Promise<Running> };

const strikes: Strike[] = [
  {
    name: "kill -9",
    async strike({ server, store }) {
      await server.kill();
      return startServer(store.place);
    },
  },
  {
    name: "a stop in order",
    async strike({ server, store }) {
      await server.stop();
      return startServer(store.place);
    },
  },
  {
    name: "a process that stands still for 3 s",
    async strike({ server }) {
      server.signal("SIGSTOP");
      await delay(3_000);
      server.signal("SIGCONT");
      return server;
    },
  },
  {
    name: "an import whose server is killed",
    async strike({ server, store }) {
      await beginImport(server.url, 500);
      await pause(500, 2_000);
      await server.kill();
      return startServer(store.place);
    },
  },
  {
    name: "a rebuild that is killed, and one that is not",
    async strike({ server, store }) {
      const killed = spawnCommand(store.place, ["projections", "rebuild"], { quiet: true });
      await pause(300, 1_200);
      await end(killed, "SIGKILL");
      const whole = spawnCommand(store.place, ["projections", "rebuild"], { quiet: true });
      const [code] = await once(whole, "exit");
      if (code !== 0) throw new Error(`a rebuild beside writers ended with ${code}`);
      return server;
    },
  },
  {
    name: "a database stopped at once",
    engines: "postgres",
    async strike({ server, arena }) {
      await arena.cluster().stop("immediate");
      await pause(0, 500);
      await arena.cluster().start();
      return server;
    },
  },
  {
    name: "sessions of the database ended",
    engines: "postgres",
    async strike({ server, arena }) {
      const all = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'idsvc %'`;
      for (let nth = 0; nth < 5; nth++) {
        await query(arena.cluster().url("postgres"), all);
        await pause(5, 60);
      }
      return server;
    },
  },
];

/** Clients that write and read all the time, a fault at random now and then, and all rules at the end (F31). */
export async function soak(
  arena: Arena,
  { minutes, everyMs, tell }: { minutes: number; everyMs: number; tell: (line: string) => void },
): Promise<Outcome> {
  const outcome = newOutcome();
  const until = performance.now() + minutes * 60_000;
  const possible = strikes.filter(({ engines = arena.engine }) => engines === arena.engine);
  const first = Math.floor(Math.random() * possible.length);
  while (performance.now() < until) {
    await using store = await arena.newStore();
    const writers = createWriters(clients, token);
    let server = await startServer(store.place);
    await using running = writers.run(server.url);
    try {
      for (let nth = 0; nth < faultsAStore && performance.now() < until; nth++) {
        await nextAcknowledged(writers, 20_000);
        await delay(Math.min(everyMs, Math.max(0, until - performance.now())));
        // Each in turn from a random one on: short runs differ, long ones leave none out.
        const chosen = possible[(first + outcome.struck) % possible.length];
        if (chosen === undefined) throw new Error("there is no fault for this engine");
        server = await chosen.strike({ arena, store, server });
        outcome.struck += 1;
        const healMs = await nextAcknowledged(writers, 20_000);
        const memory = Math.round(await rssMb(server.pid));
        tell(`${chosen.name}: writing again after ${Math.round(healMs)} ms, ${memory} MB`);
      }
    } finally {
      await running.stop();
      await server.kill();
    }
    outcome.rounds += 1;
    await checkInto(outcome, store, writers);
    countInto(outcome, writers);
  }
  return outcome;
}
