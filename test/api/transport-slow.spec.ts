// Run: alone, long
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startTestApp, type TestApp } from "../support/app.ts";
import { makeCertificate } from "../support/certificate.ts";

// These wait as long as the limits are (src/api/server.ts), so they run in `npm run test:long` only, all at once.
const folder = mkdtempSync(join(tmpdir(), "idsvc-slow-"));
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
let app: TestApp;
let underTls: TestApp;
before(async () => {
  makeCertificate(cert, key);
  // A call may take longer than a body: both limits are 30 s by themselves, and it is the one of bodies that is tried.
  app = await startTestApp({ env: { IDSVC_CALL_TIMEOUT: "2m" } });
  const external = "https://localhost:8443";
  underTls = await startTestApp({
    env: { IDSVC_TLS_CERT: cert, IDSVC_TLS_KEY: key, IDSVC_EXTERNAL_URL: external },
  });
});
after(async () => {
  await app[Symbol.asyncDispose]();
  await underTls[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const host = "Host: localhost\r\n";
const searching = "POST /resources/v3alpha/targets/_search HTTP/1.1\r\n";

/** Opens a connection, and tells how many seconds it lived and what it was told. */
async function livesOf(
  talk: (socket: net.Socket) => void | Promise<void>,
  connect = () => net.connect(app.port, "127.0.0.1"),
) {
  const socket = connect();
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => {});
  await once(socket, "connect");
  const since = performance.now();
  const closed = once(socket, "close");
  await talk(socket);
  await closed;
  return { seconds: (performance.now() - since) / 1_000, told: Buffer.concat(chunks).toString() };
}

/** Says something again and again until the other side has enough. */
async function drip(socket: net.Socket, text: string): Promise<void> {
  while (!socket.destroyed && socket.writable) {
    socket.write(text);
    await delay(500);
  }
}

const between = (seconds: number, least: number, most: number) =>
  assert.ok(seconds >= least && seconds <= most, `closed after ${seconds.toFixed(1)} s`);

describe("a peer that takes its time", { concurrency: true }, () => {
  it("and says nothing is gone after 10 s", async () => {
    between((await livesOf(() => {})).seconds, 9.5, 14);
  });
  it("and says a part of the HTTP/2 preface is gone after 10 s", async () => {
    const { seconds } = await livesOf((socket) => void socket.write("PRI * HT"));
    between(seconds, 9.5, 14);
  });
  it("and begins no handshake of TLS is gone after 10 s", async () => {
    const plain = () => net.connect(underTls.port, "127.0.0.1");
    between((await livesOf(() => {}, plain)).seconds, 9.5, 14);
  });
  it("and says nothing after the handshake is gone after 10 s", async () => {
    const secured = () =>
      tls.connect({
        port: underTls.port,
        host: "127.0.0.1",
        servername: "localhost",
        ca: readFileSync(cert),
      });
    const { seconds } = await livesOf(() => {}, secured);
    between(seconds, 9.5, 14);
  });
  it("for its headers, a byte now and then, gets 408 after 10 s", async () => {
    const { seconds, told } = await livesOf(async (socket) => {
      socket.write(`GET /healthz HTTP/1.1\r\n${host}`);
      await drip(socket, "X-Slow: 1\r\n");
    });
    assert.match(told, /^HTTP\/1\.1 408 /);
    between(seconds, 9.5, 16);
  });
  it("before its next request is gone after 60 s", async () => {
    const { seconds, told } = await livesOf(
      (socket) => void socket.write(`GET /healthz HTTP/1.1\r\n${host}\r\n`),
    );
    assert.match(told, /^HTTP\/1\.1 200 /);
    between(seconds, 55, 70);
  });
  it("for the body of a call, a byte now and then, gets 408 after 30 s (J12a)", async () => {
    const { seconds, told } = await livesOf(async (socket) => {
      const headers = `Authorization: Bearer ${app.token}\r\nContent-Type: application/json\r\n`;
      socket.write(`${searching}${host}${headers}Content-Length: 100000\r\n\r\n[`);
      await drip(socket, " ");
    });
    assert.match(told, /^HTTP\/1\.1 408 /);
    assert.match(told, /"BODY_TOO_SLOW"/);
    between(seconds, 29, 36);
  });
  it("D86: for a form, a byte now and then, gets 408 after 30 s (J12a)", async () => {
    const { seconds, told } = await livesOf(async (socket) => {
      const type = "Content-Type: application/x-www-form-urlencoded\r\n";
      socket.write(`POST /oauth/v2/token HTTP/1.1\r\n${host}${type}Content-Length: 1000\r\n\r\n`);
      await drip(socket, "a");
    });
    assert.match(told, /^HTTP\/1\.1 408 /);
    assert.match(told, /"error":"invalid_request"/);
    between(seconds, 29, 42);
  });
  it("on a connection of HTTP/2 without a stream is told to go after 300 s", async () => {
    const session = http2.connect(`http://127.0.0.1:${app.port}`);
    session.on("error", () => {});
    await once(session, "connect");
    const since = performance.now();
    await once(session, "close");
    between((performance.now() - since) / 1_000, 295, 310);
  });
  it("does not keep others waiting", async () => {
    for (let look = 0; look < 20; look++) {
      const since = performance.now();
      const { status } = await fetch(`http://127.0.0.1:${app.port}/healthz`);
      assert.equal(status, 200);
      assert.ok(performance.now() - since < 1_000);
      await delay(1_000);
    }
  });
});
