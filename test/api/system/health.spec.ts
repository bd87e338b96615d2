// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { ClientReadableStream, ServiceError } from "@grpc/grpc-js";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "#gen/google/rpc/status_pb.ts";
import {
  Health,
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
  HealthListRequestSchema,
  HealthListResponseSchema,
} from "#gen/grpc/health/v1/health_pb.ts";
import { registerHealth } from "../../../src/api/system/health.ts";
import { createReadiness, probes, type Readiness } from "../../../src/api/system/readiness.ts";
import { codecOf, type RouterServer, serveRouter } from "./router-server.ts";

const serviceName = "idsvc.resources.action.v3alpha.ActionService";

const serveHealth = (readiness: Readiness, shutdownSignal?: AbortSignal) =>
  serveRouter((router) => registerHealth(router, readiness, [serviceName]), shutdownSignal);

function readyWhen(ready: boolean): Readiness {
  const readiness = createReadiness();
  readiness.set(ready);
  return readiness;
}

function check({ client }: RouterServer, service: string): Promise<Status> {
  const { path, write } = codecOf(Health.method.check);
  const read = (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes);
  const request = create(HealthCheckRequestSchema, { service });
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, write, read, request, (error, response) => {
      if (response) resolve(response.status);
      else reject(error ?? new Error("no answer"));
    });
  });
}

type Watch = AsyncDisposable & {
  stream: ClientReadableStream<HealthCheckResponse>;
  next(): Promise<Status>;
};

function watch({ client }: RouterServer, service: string): Watch {
  const { path, write } = codecOf(Health.method.watch);
  const read = (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes);
  const request = create(HealthCheckRequestSchema, { service });
  const stream = client.makeServerStreamRequest(path, write, read, request);
  stream.on("error", () => {}); // a cancelled call ends with one
  return {
    stream,
    async next() {
      const [response]: HealthCheckResponse[] = await once(stream, "data");
      assert.ok(response);
      return response.status;
    },
    async [Symbol.asyncDispose]() {
      stream.cancel();
    },
  };
}

describe("readiness", () => {
  it("is off at first", () => assert.equal(createReadiness().isReady(), false));
  it("tells of changes only, until that is ended", () => {
    const readiness = createReadiness();
    const seen: boolean[] = [];
    const end = readiness.onChange(() => seen.push(readiness.isReady()));
    for (const ready of [false, true, true, false]) readiness.set(ready);
    end();
    readiness.set(true);
    assert.deepEqual(seen, [true, false]);
  });
  it("tells a function that was given twice twice", () => {
    const readiness = createReadiness();
    let calls = 0;
    const listener = () => void calls++;
    readiness.onChange(listener)();
    readiness.onChange(listener);
    readiness.onChange(listener);
    readiness.set(true);
    assert.equal(calls, 2);
  });
});

describe("a health check", () => {
  for (const service of ["", serviceName]) {
    it(`of "${service}" says whether the process is ready`, async () => {
      const readiness = readyWhen(true);
      await using server = await serveHealth(readiness);
      assert.equal(await check(server, service), Status.SERVING);
      readiness.set(false);
      assert.equal(await check(server, service), Status.NOT_SERVING);
    });
  }
  it("of an unknown service is not found, with a reason", async () => {
    await using server = await serveHealth(readyWhen(true));
    await assert.rejects(check(server, "idsvc.Unknown"), (error: ServiceError) => {
      assert.equal(error.code, 5);
      const [bytes] = error.metadata.get("grpc-status-details-bin");
      assert.ok(bytes instanceof Buffer);
      const [detail] = fromBinary(StatusSchema, bytes).details;
      const info = detail && anyUnpack(detail, ErrorInfoSchema);
      assert.equal(info?.reason, "HEALTH_SERVICE_NOT_FOUND");
      assert.equal(info?.domain, "idsvc");
      return true;
    });
  });
  for (const [name, createTransport] of Object.entries({
    Connect: createConnectTransport,
    "gRPC-Web": createGrpcWebTransport,
  })) {
    it(`is answered over ${name} too`, async () => {
      await using server = await serveHealth(readyWhen(true));
      const baseUrl = `http://${server.address}`;
      const client = createClient(Health, createTransport({ baseUrl, httpVersion: "2" }));
      assert.equal((await client.check({})).status, Status.SERVING);
    });
  }
});

describe("the health list", () => {
  it("has the process and every service", async () => {
    await using server = await serveHealth(readyWhen(true));
    const { path, write } = codecOf(Health.method.list);
    const read = (bytes: Buffer) => fromBinary(HealthListResponseSchema, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, Status>>();
    server.client.makeUnaryRequest(
      path,
      write,
      read,
      create(HealthListRequestSchema),
      (error, response) => {
        if (error) reject(error);
        const statuses = Object.entries(response?.statuses ?? {});
        resolve(Object.fromEntries(statuses.map(([name, { status }]) => [name, status])));
      },
    );
    assert.deepEqual(await promise, { "": Status.SERVING, [serviceName]: Status.SERVING });
  });
});

describe("a health watch", () => {
  it("sends the status at once and then every change", async () => {
    const readiness = createReadiness();
    await using server = await serveHealth(readiness);
    await using watching = watch(server, serviceName);
    assert.equal(await watching.next(), Status.NOT_SERVING);
    for (const [ready, status] of [
      [true, Status.SERVING],
      [false, Status.NOT_SERVING],
      [true, Status.SERVING],
    ] as const) {
      readiness.set(ready);
      assert.equal(await watching.next(), status);
    }
  });
  it("does not tell of a change that was undone before it was sent", async () => {
    const readiness = createReadiness();
    await using server = await serveHealth(readiness);
    await using watching = watch(server, "");
    assert.equal(await watching.next(), Status.NOT_SERVING);
    readiness.set(true);
    readiness.set(false);
    await check(server, ""); // long enough for a wrong answer to arrive
    readiness.set(true);
    assert.equal(await watching.next(), Status.SERVING);
  });
  it("of an unknown service says so, and stays open", async () => {
    const readiness = createReadiness();
    await using server = await serveHealth(readiness);
    await using watching = watch(server, "idsvc.Unknown");
    assert.equal(await watching.next(), Status.SERVICE_UNKNOWN);
    const more = AbortSignal.timeout(50);
    readiness.set(true);
    await assert.rejects(once(watching.stream, "data", { signal: more }), { name: "AbortError" });
    assert.equal(watching.stream.destroyed || watching.stream.readableEnded, false);
  });
  it("listens no longer once the client is gone", async () => {
    const readiness = createReadiness();
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    await using server = await serveHealth({
      ...readiness,
      onChange(listener) {
        const stop = readiness.onChange(listener);
        return () => {
          stop();
          resolve();
        };
      },
    });
    const watching = watch(server, "");
    await watching.next();
    watching.stream.cancel();
    await stopped;
  });
  it("ends when the server stops", async () => {
    const shutdown = new AbortController();
    const readiness = readyWhen(true);
    await using server = await serveHealth(readiness, shutdown.signal);
    await using watching = watch(server, "");
    await watching.next();
    readiness.set(false);
    assert.equal(await watching.next(), Status.NOT_SERVING);
    const ended = once(watching.stream, "status");
    shutdown.abort();
    const [{ code }] = await ended;
    assert.equal(code, 0);
  });
});

describe("the health endpoints", () => {
  const get = (path: string, readiness: Readiness) => {
    const answer = probes(readiness).get(path)?.();
    return { status: answer?.status, body: answer?.body };
  };
  for (const path of ["/healthz", "/debug/healthz"]) {
    it(`${path} is ok, ready or not`, () => {
      assert.deepEqual(get(path, readyWhen(true)), { status: 200, body: "ok" });
      assert.deepEqual(get(path, readyWhen(false)), { status: 200, body: "ok" });
    });
  }
  for (const path of ["/readyz", "/debug/ready"]) {
    it(`${path} is 200 when ready and 503 when not`, () => {
      const ready = { status: 200, body: '{"status":"ready"}' };
      assert.deepEqual(get(path, readyWhen(true)), ready);
      const notReady = { status: 503, body: '{"status":"not ready"}' };
      assert.deepEqual(get(path, readyWhen(false)), notReady);
    });
  }
});
