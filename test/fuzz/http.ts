import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import type { OidcPeer } from "../support/oidc.ts";
import { type Script, scripts } from "./http-frames.ts";
import { host, type Target } from "./target.ts";

// The service may say so of what it does not serve.
const meant = new Set([501, 503, 505]);
// How long it is listened for what comes back after the last piece.
const listenMs = 30;
const mostGrownBytes = 300 << 20;
const looksAtMemory = 200;

let runs = 0;
let heldBefore = 0;

/** Bytes and frames of HTTP/1 and HTTP/2 that are wrong, too many or slow hold up nobody beside them and leave nothing behind. */
export const httpFrames: Target = {
  name: "frames",
  isLong: true,
  property: (peer) => fc.asyncProperty(scripts, (script) => attack(peer, script)),
};

async function attack(peer: OidcPeer, script: Script): Promise<void> {
  await isWell(peer);
  const before = openSockets();
  const socket = net.connect(peer.app.port, "127.0.0.1");
  let heard = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    if (heard.length < 1 << 20) heard = Buffer.concat([heard, chunk]);
  });
  // To be cut off is an answer too.
  socket.on("error", () => {});
  await once(socket, "connect");
  const beside = isWell(peer);
  for (const piece of script.pieces) {
    if (socket.destroyed) break;
    if (script.slowMs === 0) socket.write(piece);
    else await drip(socket, piece, script.slowMs);
  }
  await beside;
  await isWell(peer);
  await Promise.race([once(socket, "close"), delay(listenMs)]);
  judge(heard, script);
  socket.resetAndDestroy();
  for (const end = Date.now() + 2_000; openSockets() > before; await delay(2)) {
    assert.ok(Date.now() < end, `${openSockets()} sockets are open, and not ${before}`);
  }
  await isWell(peer);
  requireMemory();
}

/** Ten parts, a moment between them. */
async function drip(socket: net.Socket, piece: Uint8Array, ms: number): Promise<void> {
  const size = Math.max(1, Math.ceil(piece.length / 10));
  for (let at = 0; at < piece.length && !socket.destroyed; at += size) {
    socket.write(piece.subarray(at, at + size));
    await delay(ms / 5);
  }
}

/** Who behaves is answered within a second, over either version of HTTP. */
async function isWell(peer: OidcPeer): Promise<void> {
  for (const version of [1, 2] as const) {
    const began = performance.now();
    const asked = { version, method: "GET", path: "/healthz", headers: host(peer) };
    const { status } = await peer.peer.send(asked);
    const ms = performance.now() - began;
    assert.equal(status, 200);
    assert.ok(ms < 1_000, `a good call over HTTP/${version} took ${Math.round(ms)} ms`);
  }
}

function judge(heard: Buffer, { isSmuggling }: Script): void {
  const answers = [...heard.toString("latin1").matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) =>
    Number(code),
  );
  for (const code of answers) assert.ok(code < 500 || meant.has(code), `answered ${code}`);
  // 500 has a place in the table of HPACK (RFC 7541 appendix A), which begins the block of an answer.
  for (let at = 0; at + 9 < heard.length; at += 9 + heard.readUIntBE(at, 3)) {
    assert.ok(answers.length > 0 || heard[at + 3] !== 1 || heard[at + 9] !== 0x8e, "answered 500");
  }
  if (isSmuggling) assert.ok(answers.filter((code) => code < 300).length <= 1, answers.join());
}

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

function requireMemory(): void {
  runs += 1;
  if (runs % looksAtMemory !== 0) return;
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  if (heldBefore === 0) heldBefore = heapUsed + arrayBuffers;
  const grown = heapUsed + arrayBuffers - heldBefore;
  assert.ok(grown < mostGrownBytes, `${grown >> 20} MiB more are held after ${runs} connections`);
}
