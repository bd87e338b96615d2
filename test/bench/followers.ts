// `npm run bench:followers`: what followers of the log cost the service, and writes beside them.
import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { optionsOf } from "../../.ci/options.ts";
import { cpuSeconds } from "./process.ts";
import { callJson, restSpec } from "./requests.ts";
import { printVerdict } from "./report.ts";
import { newStore, startService } from "./store.ts";

const values = optionsOf("What followers of the log cost the service, and writes beside them.", {
  followers: ["2000", "how many follow"],
  writes: ["30", "how many events are written"],
  everyMs: [
    "600",
    "milliseconds from one to the next: far enough apart that followers are through with one before the next",
  ],
});
const [followers, writes] = [Number(values.followers), Number(values.writes)];
const everyMs = Number(values.everyMs);
const betweenMs = 30;
const quietMs = 5_000;
const openedAtOnce = 50;

using store = await newStore();
const { child } = await startService(store.dir, {
  env: { IDSVC_FOLLOWERS: String(followers), IDSVC_FOLLOWERS_PER_CALLER: String(followers) },
});
await using service = child;
const { token } = store;

let received = 0;
/** Follows the log over HTTP/1.1, and counts the events that it is sent. */
async function follow(): Promise<net.Socket> {
  const socket = net.connect(service.port, "127.0.0.1").setNoDelay();
  await once(socket, "connect");
  socket.write(
    "POST /resources/v3alpha/events/_watch HTTP/1.1\r\nhost: localhost:8080\r\n" +
      `authorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  );
  const [head]: Buffer[] = await once(socket, "data");
  assert.match(String(head), /^HTTP\/1.1 200 /);
  socket.on("data", (bytes: Buffer) => {
    for (let at = bytes.indexOf('"event"'); at !== -1; at = bytes.indexOf('"event"', at + 1)) {
      received += 1;
    }
  });
  return socket;
}

const path = "POST /resources/v3alpha/projects" as const;
let made = 0;
async function write(): Promise<number> {
  const body = { name: `project ${made++}` };
  const start = performance.now();
  await callJson(restSpec(service.port, path, { token, body }));
  return performance.now() - start;
}

/** The times of pairs of writes, the least first: the second of a pair comes while the first is told to followers. */
async function timesOfWrites(): Promise<number[]> {
  const times: number[] = [];
  for (let nth = 0; nth < writes; nth++) {
    times.push(await write());
    await delay(nth % 2 === 0 ? betweenMs : everyMs);
  }
  return times.sort((a, b) => a - b);
}
const told = (times: readonly number[]) =>
  [0.5, 0.99, 1].map((part) => times[Math.ceil(times.length * part) - 1]?.toFixed(1)).join(" / ");

await timesOfWrites();
console.log(`writes alone: ${told(await timesOfWrites())} ms (median, p99, longest)`);
const sockets: net.Socket[] = [];
while (sockets.length < followers) {
  const some = Math.min(openedAtOnce, followers - sockets.length);
  sockets.push(...(await Promise.all(Array.from({ length: some }, follow))));
}
const quietFrom = cpuSeconds(service.pid);
await delay(quietMs);
const quiet = (cpuSeconds(service.pid) - quietFrom) / (quietMs / 1000);
console.log(
  `${followers} followers of a log that nothing is written to: ${(quiet * 100).toFixed(1)} % of a core`,
);

const [before, began] = [cpuSeconds(service.pid), performance.now()];
received = 0;
const times = await timesOfWrites();
while (received < writes * followers) await delay(1);
const seconds = (performance.now() - began) / 1000;
const spent = cpuSeconds(service.pid) - before - quiet * seconds;
console.log(`writes beside them: ${told(times)} ms`);
console.log(
  `${((spent * 1000) / (writes * followers)).toFixed(4)} ms of a core for each event and follower`,
);
if (followers === 2_000) {
  printVerdict("followers", followers, { "ms an event": (spent * 1000) / writes });
}
for (const socket of sockets) socket.destroy();
