import { startApp } from "../../src/app/app.ts";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  pause,
} from "./fault.ts";
import type { Place } from "./server.ts";
import { token } from "./store.ts";
import { createWriters } from "./writers.ts";

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
const yearMs = 365 * 24 * hourMs;
const jumpsMs = [hourMs, -hourMs, yearMs, -yearMs, 30 * secondMs, -30 * secondMs, 0];

/** Clocks of replicas that are apart and jump, forth and back, while they write: no order depends on them. */
export const clockJumps: Fault = {
  id: "F20",
  title: "clocks jump by an hour and a year, and differ between replicas",
  engines: both,
  rounds: { usual: 10, full: 200 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    const shifts = arena.engine === "postgres" ? [0, 30 * secondMs] : [0];
    await using stack = new AsyncDisposableStack();
    const urls: string[] = [];
    for (const at of shifts.keys()) {
      const replica = await serveHere(store.place, () => new Date(Date.now() + (shifts[at] ?? 0)));
      urls.push(stack.use(replica).url);
    }
    const writers = createWriters(8, token);
    for (; outcome.rounds < rounds; outcome.rounds++) {
      await using running = writers.run(...urls);
      await nextAcknowledged(writers, 10_000);
      const who = outcome.rounds % shifts.length;
      shifts[who] = jumpsMs[Math.floor(Math.random() * jumpsMs.length)] ?? 0;
      outcome.struck += 1;
      await pause(100, 300);
      await nextAcknowledged(writers, 10_000);
      await running.stop();
    }
    await checkInto(outcome, store, writers);
    countInto(outcome, writers);
    return outcome;
  },
};

/** The service in this process, under a clock of its own. */
async function serveHere({ dataDir, env }: Place, now: () => Date) {
  const config = loadConfig({
    files: [],
    flags: {},
    env: { IDSVC_DATA_DIR: dataDir, IDSVC_PORT: "0", ...env },
  });
  const kernel = await openKernel(config, { logger: silentLogger(), now });
  await bootstrap(kernel);
  const app = await startApp(kernel);
  return {
    url: `http://localhost:${app.port}`,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await kernel[Symbol.asyncDispose]();
    },
  };
}
