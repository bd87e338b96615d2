import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
} from "./fault.ts";
import { startServer } from "./server.ts";
import { token } from "./store.ts";
import { createWriters } from "./writers.ts";

const descriptors = 256;
const clients = 1_000;
const heldMs = 2_000;
const longestAnswerMs = 5_000;
const longestRecoveryMs = 5_000;

/** Four times as many connections as the process may have open: those there are go on, new ones are refused, then all is well. */
export const outOfDescriptors: Fault = {
  id: "F26",
  title: `${clients} connections at a process that may open ${descriptors} files`,
  engines: both,
  rounds: { usual: 2, full: 50 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    const writers = createWriters(8, token);
    const limit = `--nofile=${descriptors}:${descriptors}`;
    await using server = await startServer(store.place, { before: ["prlimit", limit] });
    const recoveries: number[] = [];
    let refusals = 0;
    try {
      for (; outcome.rounds < rounds; outcome.rounds++) {
        await using running = writers.run(server.url);
        await nextAcknowledged(writers, longestAnswerMs);
        using old = await connect(store.place.port);
        const flood = await openMany(store.place.port);
        outcome.struck += 1;
        for (let times = 0; times < 20; times++) {
          const { status, isOld } = await old.ask();
          if (status !== 200 || !isOld) outcome.unexplained.push("an open connection was lost");
        }
        refusals += flood.refused();
        if (flood.refused() === 0) outcome.unexplained.push("every connection was taken");
        flood.end();
        recoveries.push(await answers(server.url));
        await running.stop();
        if (server.hasEnded()) outcome.unexplained.push("the process ended");
        await checkInto(outcome, store, writers);
      }
    } finally {
      await server.kill();
    }
    countInto(outcome, writers);
    const busy = writers.log.filter(({ status }) => status === 503).length;
    if (busy > 0) outcome.unexplained.push(`${busy} calls were told to come back`);
    outcome.remark = `${refusals} connections refused`;
    judgeTimes(outcome, "a new one after", recoveries, longestRecoveryMs);
    return outcome;
  },
};

/** Connections that ask once and then stay. */
async function openMany(port: number) {
  let closed = 0;
  const sockets = Array.from({ length: clients }, () => {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", () => (closed += 1));
    socket.resume();
    socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return socket;
  });
  await Promise.race([
    Promise.all(sockets.map((socket) => once(socket, "data").catch(() => undefined))),
    delay(heldMs),
  ]);
  return {
    refused: () => closed,
    end: () => sockets.forEach((socket) => socket.destroy()),
  };
}

/** A connection that stays open. */
async function connect(port: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async () => {
    const request = http.get({ port, path: "/readyz", host: "localhost", agent });
    const [answer] = (await once(request, "response")) as [http.IncomingMessage];
    answer.resume();
    await once(answer, "end");
    return { status: answer.statusCode, isOld: request.reusedSocket };
  };
  await ask();
  return { ask, [Symbol.dispose]: () => agent.destroy() };
}

/** The milliseconds until a new connection is served. */
async function answers(url: string): Promise<number> {
  const start = performance.now();
  for (;;) {
    // A connection of its own.
    const headers = { connection: "close" };
    const isServed = await fetch(`${url}/readyz`, { headers }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isServed || performance.now() - start > 2 * longestRecoveryMs)
      return performance.now() - start;
    await delay(10);
  }
}
