// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Health, HealthCheckResponse_ServingStatus } from "#gen/grpc/health/v1/health_pb.ts";
import {
  ActionService,
  SearchTargetsRequestSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { pathOf } from "../support/protocols.ts";
import { framed } from "../support/wire.ts";

/** A whole request whose connection is idle afterwards. */
const readyz = "GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/** A connection that says what it heard so far. */
async function dial(port: number) {
  const socket = net.connect(port, "127.0.0.1").setNoDelay();
  let heard = "";
  socket.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
  socket.on("error", () => {});
  const closed = once(socket, "close");
  await once(socket, "connect");
  const hears = async (pattern: RegExp) => {
    const started = performance.now();
    while (!pattern.test(heard)) {
      assert.ok(performance.now() - started < 60_000, `${pattern} in ${JSON.stringify(heard)}`);
      await delay(5);
    }
    return heard;
  };
  /** Writes what the service has read when this is over: it has answered what stands before it. */
  const begin = async (text: string) => {
    socket.write(readyz + text);
    await once(socket, "data");
    assert.match(heard, /^HTTP\/1\.1 200 /);
    heard = "";
  };
  return { socket, begin, hears, closed };
}

// What goes on without a word is waited for this long at a stop; whatever ends sooner has not been waited for.
const patient = { env: { IDSVC_SHUTDOWN_TIMEOUT: "2m" } };
const patienceMs = 120_000;

const timed = async (work: PromiseLike<unknown>) => {
  const started = performance.now();
  await work;
  return performance.now() - started;
};

/** A call that has begun: its head is there, and the first of the two bytes of its body. */
async function beginCall({ port, token }: TestApp) {
  const connection = await dial(port);
  await connection.begin(
    `POST /resources/v3alpha/targets/_search HTTP/1.1\r\nhost: localhost\r\n` +
      `authorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[`,
  );
  return connection;
}

describe("a stop (F23)", () => {
  it("finishes a call in flight over HTTP/1.1, then waits for no client", async () => {
    const app = await startTestApp(patient);
    const call = await beginCall(app);
    const stopped = app.app[Symbol.asyncDispose]();
    await delay(50);
    call.socket.write("]");
    const heard = await call.hears(/end_of_list/);
    assert.match(heard, /^HTTP\/1\.1 200 /);
    assert.match(heard, /connection: close/i);
    assert.ok(
      (await timed(Promise.all([stopped, call.closed]))) < patienceMs,
      "no wait for the client",
    );
    await app[Symbol.asyncDispose]();
  });

  it("answers all calls that were sent at once, and says with the last one that the connection ends", async () => {
    const app = await startTestApp(patient);
    const connection = await dial(app.port);
    const count = 12;
    // A password takes time to check, of somebody who is not there too.
    const calls = Array.from({ length: count }, (_, at) => {
      const user = { login_name: `nobody-${at}` };
      const body = JSON.stringify({ checks: { user, password: { password: "x" } } });
      return (
        `POST /resources/v3alpha/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${app.token}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      );
    });
    await connection.begin(calls.join(""));
    const stopped = app.app[Symbol.asyncDispose]();
    await connection.closed;
    const heads = (await connection.hears(/INVALID_CREDENTIALS/)).split("HTTP/1.1 ").slice(1);
    assert.equal(heads.length, count);
    const last = heads.map((_, at) => at === count - 1);
    assert.deepEqual(
      heads.map((head) => /^connection: close\r$/im.test(head)),
      last,
    );
    await stopped;
    await app[Symbol.asyncDispose]();
  });

  it("finishes a gRPC call in flight, tells the client to go, then waits for no client", async () => {
    const app = await startTestApp(patient);
    const session = http2.connect(`http://127.0.0.1:${app.port}`);
    const goneAway = once(session, "goaway");
    session.on("error", () => {});
    await once(session, "connect");
    const stream = session.request({
      ":method": "POST",
      ":path": pathOf(ActionService.method.searchTargets),
      authorization: `Bearer ${app.token}`,
      "content-type": "application/grpc",
    });
    let status: unknown;
    stream.on("trailers", (fields) => (status = fields["grpc-status"]));
    stream.resume();
    const message = framed(
      toBinary(SearchTargetsRequestSchema, {
        $typeName: SearchTargetsRequestSchema.typeName,
        filters: [],
        sortingColumn: 4,
      }),
    );
    stream.write(message.subarray(0, 3));
    // What was sent before it has been read when a ping is answered.
    await new Promise((resolve) => session.ping(resolve));
    const stopped = app.app[Symbol.asyncDispose]();
    await goneAway;
    stream.end(message.subarray(3));
    await once(stream, "close");
    assert.equal(status, "0");
    assert.ok((await timed(stopped)) < patienceMs);
    await app[Symbol.asyncDispose]();
  });

  it("closes idle connections, also those that have not said anything yet", async () => {
    const app = await startTestApp(patient);
    const idle = await dial(app.port);
    idle.socket.write(readyz);
    await idle.hears(/"ready"/);
    const silent = await dial(app.port);
    const session = http2.connect(`http://127.0.0.1:${app.port}`);
    session.on("error", () => {});
    await once(session, "remoteSettings");
    const all = [
      app.app[Symbol.asyncDispose](),
      idle.closed,
      silent.closed,
      once(session, "close"),
    ];
    assert.ok((await timed(Promise.all(all))) < patienceMs);
    await app[Symbol.asyncDispose]();
  });

  it("tells who watches its health that it no longer serves, and waits for none of them", async () => {
    const app = await startTestApp(patient);
    const sessionManager = new Http2SessionManager(`http://127.0.0.1:${app.port}`);
    const baseUrl = `http://127.0.0.1:${app.port}`;
    const client = createClient(Health, createGrpcTransport({ baseUrl, sessionManager }));
    const told: number[] = [];
    const begun = Promise.withResolvers<void>();
    const watched = (async () => {
      for await (const { status } of client.watch({ service: "" })) {
        told.push(status);
        begun.resolve();
      }
    })().catch(() => {}); // a stop may end the stream with or without a status
    await begun.promise;
    const stopped = app.app[Symbol.asyncDispose]();
    const ms = await timed(Promise.all([stopped, watched]));
    sessionManager.abort();
    const { SERVING, NOT_SERVING } = HealthCheckResponse_ServingStatus;
    assert.deepEqual(told, [SERVING, NOT_SERVING]);
    assert.ok(ms < patienceMs, `${ms} ms`);
    await app[Symbol.asyncDispose]();
  });

  it("accepts no new connection from its beginning", async () => {
    const app = await startTestApp(patient);
    const call = await beginCall(app);
    const stopped = app.app[Symbol.asyncDispose]();
    const socket = net.connect(app.port, "127.0.0.1");
    const [error] = await once(socket, "error");
    assert.equal(error.code, "ECONNREFUSED");
    call.socket.write("]");
    await call.hears(/end_of_list/);
    await stopped;
    await app[Symbol.asyncDispose]();
  });

  it("cuts what is left after its time", async () => {
    const app = await startTestApp({ env: { IDSVC_SHUTDOWN_TIMEOUT: "300ms" } });
    const call = await beginCall(app);
    const ms = await timed(Promise.all([app.app[Symbol.asyncDispose](), call.closed]));
    assert.ok(ms > 250 && ms < 8_000, `${ms} ms`);
    await app[Symbol.asyncDispose]();
  });
});
