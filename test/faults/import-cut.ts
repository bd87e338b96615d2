import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { check } from "./checker.ts";
import { counted, headers, linesOf } from "./import-kill.ts";
import { type Running, startServer } from "./server.ts";
import type { Store } from "./store.ts";

type Told = Record<string, string>;

// What was kept of a body that broke off is discarded by then.
const discardedMs = 500;
// The organization, and one user who comes twice.
const more = 2;

/**
 * Breaks an import off at random points of its body, from its first byte to all of it, by a reset of the connection; then
 * sends all of it twice, with the same ids and a wrong record in its middle (F29).
 *
 * @returns what must not be; empty when all is well
 */
export async function importAndCut(
  { place }: Store,
  { users, cuts }: { users: number; cuts: number },
): Promise<string[]> {
  const violations: string[] = [];
  const lines: Uint8Array[] = [];
  for await (const line of linesOf(users, false, 0)) lines.push(line);
  const body = Buffer.concat(lines);
  let server: Running = await startServer(place);
  try {
    for (let cut = 0; cut < cuts; cut++) {
      const part = cut === 0 ? 0 : Math.random();
      await breakOff(server.url, body, Math.floor(body.length * part), cut % 2 === 0);
    }
    await delay(discardedMs);
    await server.kill();
    const begun = await counted(place, 0);
    violations.push(...begun.map((each) => `after the cuts: ${each}`));
    server = await startServer(place);
    // All of it was sent, and nobody waited for the answer: it may be imported at the same time as what follows.
    await breakOff(server.url, body, body.length, true);
    const first = await imported(server.url, body);
    const again = await imported(server.url, body);
    for (const [name, told] of Object.entries({ first, again })) {
      const there = Number(told["created"] ?? 0) + Number(told["existed"] ?? 0);
      const isRight =
        told["state"] === "IMPORT_STATE_COMPLETED" &&
        there === users + more &&
        told["refused"] === "1";
      if (!isRight) violations.push(`${name}: ${JSON.stringify(told)}`);
      // The wrong record stands behind the organization and half of the users.
      const [only, ...others] = await reported(server.url, told["id"] ?? "");
      if (only === undefined || others.length > 0 || !only.includes(`"field":"user"`))
        violations.push(`${name}: the report is ${only} and ${others.length} more`);
    }
    if (Number(again["created"] ?? 0) !== 0) violations.push("the second import made something");
  } finally {
    await server.kill();
  }
  violations.push(...(await counted(place, users)));
  violations.push(...(await check(place)));
  return violations;
}

/** Sends so many bytes of the body, and resets the connection. */
async function breakOff(url: string, body: Buffer, bytes: number, saysLength: boolean) {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const length = saysLength ? `content-length: ${body.length}` : "transfer-encoding: chunked";
  const head = [
    "POST /management/v1/import?awaitResponse=false HTTP/1.1",
    `host: ${hostname}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    length,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const part = body.subarray(0, bytes);
  if (!saysLength) socket.write(`${part.length.toString(16)}\r\n`);
  await new Promise((sent) => socket.write(part, sent));
  await delay(Math.random() * 50);
  socket.resetAndDestroy();
}

async function imported(url: string, body: Buffer): Promise<Told> {
  const at = `${url}/management/v1/import`;
  const begun = await fetch(`${at}?awaitResponse=false`, {
    method: "POST",
    headers,
    body: new Uint8Array(body),
  });
  const { id } = Object(await begun.json()).job;
  for (;;) {
    const { job } = Object(await (await fetch(`${at}/${id}`, { headers })).json());
    if (job.state !== "IMPORT_STATE_RUNNING") return job;
    await delay(50);
  }
}

async function reported(url: string, id: string): Promise<string[]> {
  const answer = await fetch(`${url}/management/v1/import/${id}/report`, { headers });
  return (await answer.text()).split("\n").filter((line) => line.includes("REFUSED"));
}
