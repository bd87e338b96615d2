import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  pause,
} from "./fault.ts";
import { startServer } from "./server.ts";
import { token } from "./store.ts";
import { createWatcher } from "./watcher.ts";
import { createWriters } from "./writers.ts";

const roundsAStore = 20;
// What the service is told; an upload that never ends uses all of it.
const timeoutMs = 3_000;
const slackMs = 1_500;

/** SIGTERM while calls, a stream and a slow upload are under way; every fourth time a second one, which quits now. */
export const gracefulStop: Fault = {
  id: "F23",
  title: "SIGTERM with calls, a stream and a slow upload under way",
  engines: both,
  rounds: { usual: 6, full: 200 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    const stops: number[] = [];
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      const env = { ...store.place.env, IDSVC_SHUTDOWN_TIMEOUT: `${timeoutMs}ms` };
      const writers = createWriters(16, token);
      const watcher = createWatcher();
      const last = Math.min(rounds, outcome.rounds + roundsAStore);
      while (outcome.rounds < last) {
        const isTwice = outcome.rounds % 4 === 3;
        await using server = await startServer({ ...store.place, env });
        await using running = writers.run(server.url);
        await nextAcknowledged(writers, 10_000);
        const following = watcher.follow(server.url);
        await following.begun;
        using uploads = new DisposableStack();
        if (outcome.rounds % 3 === 1) uploads.use(slowUpload(store.place.port));
        await pause(20, 300);
        const from = performance.now();
        const stopping = server.stop();
        if (isTwice) {
          await delay(1);
          server.signal("SIGTERM");
        }
        const code = await Promise.race([stopping, delay(timeoutMs + slackMs, "never" as const)]);
        const took = performance.now() - from;
        outcome.struck += 1;
        outcome.rounds += 1;
        await running.stop();
        await following[Symbol.asyncDispose]();
        if (code === "never") {
          await server.kill();
          outcome.unexplained.push(`the server did not stop within ${timeoutMs + slackMs} ms`);
        } else if (!isTwice) {
          stops.push(took);
          if (code !== 0) outcome.unexplained.push(`the server ended with ${code}`);
          if (arena.engine === "sqlite" && existsSync(join(store.place.dataDir, "idsvc.db-wal")))
            outcome.unexplained.push("the file was not checkpointed");
        } else if (took > 1_500) {
          outcome.unexplained.push(`a second SIGTERM took ${Math.round(took)} ms`);
        }
        await checkInto(outcome, store, writers);
        await using again = await startServer(store.place);
        outcome.lost.push(...(await watcher.catchUp(again.url)));
        await again.stop();
      }
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "stopping", stops, timeoutMs + slackMs);
    return outcome;
  },
};

/** A request whose body never comes to its end. */
function slowUpload(port: number): Disposable {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /resources/v3alpha/targets HTTP/1.1\r\nhost: localhost:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"na`,
  );
  return { [Symbol.dispose]: () => void socket.destroy() };
}
