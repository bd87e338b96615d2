// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";

// In a thread of its own: a service that no longer answers must fail these tests, and not stop them.
const dataDir = mkdtempSync(join(tmpdir(), "idsvc-sniff-"));
const support = new URL("../support/app.ts", import.meta.url).href;
const service = `
  import { parentPort } from "node:worker_threads";
  import { startTestApp } from ${JSON.stringify(support)};
  const app = await startTestApp({ dataDir: ${JSON.stringify(dataDir)} });
  parentPort.postMessage(app.port);`;
const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(service)}`));
const [port]: number[] = await once(worker, "message");
after(async () => {
  await worker.terminate();
  rmSync(dataDir, { recursive: true, force: true });
});

async function dial() {
  assert.ok(port !== undefined);
  const socket = net.connect(port, "127.0.0.1").setNoDelay();
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** The first bytes that come back, or a failure after a minute. */
async function answerOf(socket: net.Socket, what: string): Promise<Buffer> {
  const late = AbortSignal.timeout(60_000);
  try {
    const [chunk] = await once(socket, "data", { signal: late });
    return chunk;
  } catch {
    return assert.fail(`no answer to ${JSON.stringify(what)}`);
  }
}

async function assertAlive(what: string): Promise<void> {
  const socket = await dial();
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  const heard = await answerOf(socket, `GET /healthz while another client sent ${what}`);
  assert.match(heard.toString(), /^HTTP\/1\.1 200 /);
  socket.destroy();
}

const frame = "\0\0\0\u0004\0\0\0\0\0";
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const nothing = " /nothing HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";

describe("a connection whose first bytes come in pieces", () => {
  for (const first of ["G", "PO", "PRI", preface.slice(0, 20), "P", "PR"]) {
    it(`holds up no other client: ${JSON.stringify(first)}`, async () => {
      const socket = await dial();
      socket.write(first);
      await delay(50);
      await assertAlive(first);
      socket.destroy();
    });
  }

  for (const pieces of [
    ["G", `ET${nothing}`],
    ["P", "O", `ST${nothing}`],
    ["PR", `OPFIND${nothing}`],
  ]) {
    it(`is served as HTTP/1.1: ${JSON.stringify(pieces[0])}`, async () => {
      const socket = await dial();
      for (const piece of pieces) {
        socket.write(piece);
        await delay(20);
      }
      assert.match((await answerOf(socket, pieces.join(""))).toString(), /^HTTP\/1\.1 404 /);
      socket.destroy();
    });
  }

  for (const cuts of [[], [1], [2], [3], [1, 2, 3], [14], [24]]) {
    it(`is served as HTTP/2, cut at ${cuts.length === 0 ? "nothing" : cuts.join(", ")}`, async () => {
      const socket = await dial();
      const whole = Buffer.from(preface + frame, "latin1");
      let from = 0;
      for (const cut of [...cuts, whole.length]) {
        socket.write(whole.subarray(from, cut));
        from = cut;
        await delay(20);
      }
      const answer = await answerOf(socket, "the preface");
      assert.equal(answer[3], 4, "the first frame of HTTP/2 is SETTINGS");
      socket.destroy();
    });
  }
});
