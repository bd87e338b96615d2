// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromBinary, toBinary, create } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import { errorReason } from "../../src/client/error-reason.ts";
import { addCaller, startTestApp, type TestApp } from "../support/app.ts";
import { countModule, countService, defectAfter, type Streams } from "../support/stream-service.ts";

const streams: Streams = { opened: 0, closed: 0 };
const logged: Record<string, unknown>[] = [];
let service: TestApp;
let stranger: string;

before(async () => {
  const log = (line: string) => void logged.push(JSON.parse(line));
  service = await startTestApp({ moreModules: [countModule(streams)], log });
  stranger = (await addCaller(service, [])).token;
});
after(() => service[Symbol.asyncDispose]());

type Counted = { numbers: number[]; code: number; reason: string | undefined };
type Ask = { to: number; breakAfter?: number };
type Count = (ask: Ask, token?: string) => Promise<Counted>;

const overRest: Count = async ({ to, breakAfter = 0 }, token = service.token) => {
  const url = `${service.url}/test/count/${to}?break_after=${breakAfter}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  const lines =
    text.trim() === ""
      ? []
      : text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
  const error = answer.ok ? lines.find((line) => "error" in line)?.error : lines[0];
  return {
    numbers: answer.ok ? lines.flatMap((line) => line.number_reached ?? []) : [],
    code: error?.code ?? 0,
    reason: error?.details[0].reason,
  };
};

function overConnect(useBinaryFormat: boolean, web: boolean, httpVersion: "1.1" | "2"): Count {
  return async (ask, token = service.token) => {
    const options = { baseUrl: service.url, httpVersion, useBinaryFormat };
    const transport = web ? createGrpcWebTransport(options) : createConnectTransport(options);
    const client = createClient(countService, transport) as unknown as Client<never> & {
      count(ask: Ask, options: object): AsyncIterable<{ numberReached: number }>;
    };
    const numbers: number[] = [];
    try {
      const headers = { authorization: `Bearer ${token}` };
      for await (const { numberReached } of client.count(ask, { headers })) {
        numbers.push(numberReached);
      }
      return { numbers, code: 0, reason: undefined };
    } catch (error) {
      assert.ok(error instanceof ConnectError, String(error));
      return { numbers, code: error.code, reason: errorReason(error) };
    }
  };
}

const overGrpc: Count = ({ to, breakAfter = 0 }, token = service.token) => {
  const { input, output } = countService.method["count"] ?? assert.fail();
  const client = new grpc.Client(`localhost:${service.port}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const call = client.makeServerStreamRequest(
    "/test.stream.CountService/Count",
    (ask: Ask) => Buffer.from(toBinary(input, create(input, ask))),
    (bytes) => Reflect.get(fromBinary(output, bytes), "numberReached") as number,
    { to, breakAfter },
    metadata,
  );
  return new Promise((resolve) => {
    const numbers: number[] = [];
    call.on("data", (number: number) => numbers.push(number));
    call.on("error", () => {});
    call.on("status", ({ code, metadata: trailers }) => {
      const details = trailers.get("grpc-status-details-bin")[0];
      client.close();
      const reason = /[A-Z]+(_[A-Z]+)+/.exec(details?.toString() ?? "")?.[0];
      resolve({ numbers, code, reason });
    });
  });
};

const protocols: [string, Count][] = [
  ["REST as NDJSON", overRest],
  ["gRPC, by grpc-js", overGrpc],
  ["gRPC-Web over HTTP/1.1", overConnect(true, true, "1.1")],
  ["Connect binary over HTTP/2", overConnect(true, false, "2")],
  ["Connect JSON over HTTP/1.1", overConnect(false, false, "1.1")],
];

for (const [name, count] of protocols) {
  describe(`a server stream over ${name}`, () => {
    it("carries every message in order and ends well", async () => {
      assert.deepEqual(await count({ to: 5 }), {
        numbers: [1, 2, 3, 4, 5],
        code: 0,
        reason: undefined,
      });
    });
    it("may be empty", async () => {
      assert.deepEqual(await count({ to: 0 }), { numbers: [], code: 0, reason: undefined });
    });
    it("ends with the refusal when it breaks, after what it had said", async () => {
      const expected = { numbers: [1, 2], code: Code.FailedPrecondition, reason: "COUNT_BROKEN" };
      assert.deepEqual(await count({ to: 5, breakAfter: 2 }), expected);
    });
    it("is not opened for a caller without the permission", async () => {
      const { opened } = streams;
      const expected = { numbers: [], code: Code.PermissionDenied, reason: "PERMISSION_MISSING" };
      assert.deepEqual(await count({ to: 5 }, stranger), expected);
      assert.equal(streams.opened, opened);
    });
    it("is not opened for an unknown token", async () => {
      const { opened } = streams;
      const { code, reason } = await count({ to: 5 }, "idsvc_pat_unknown");
      assert.deepEqual({ code, reason }, { code: Code.Unauthenticated, reason: "TOKEN_INVALID" });
      assert.equal(streams.opened, opened);
    });
  });
}

describe("a stream that fails by a defect", () => {
  it("ends with the id of its request, and the log has the defect under it", async () => {
    const url = `${service.url}/test/count/5?break_after=${defectAfter}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${service.token}` } });
    const id = answer.headers.get("x-request-id");
    const last = (await answer.text()).trimEnd().split("\n").at(-1) ?? "";
    const { error } = JSON.parse(last);
    assert.deepEqual([error.code, error.details[0].reason], [Code.Internal, "INTERNAL"]);
    assert.equal(error.details[0].metadata.request_id, id);
    assert.ok(!last.includes("defect"));
    const told = logged.filter(({ requestId, level }) => requestId === id && level === "error");
    assert.equal(told.length, 1);
    assert.match(JSON.stringify(told[0]), /a defect of the handler/);
  });
});

describe("a client that goes while a stream flows", () => {
  it("closes the handler's stream", async () => {
    const { closed } = streams;
    const leave = new AbortController();
    const answer = await fetch(`${service.url}/test/count/1?hang=true`, {
      headers: { authorization: `Bearer ${service.token}` },
      signal: leave.signal,
    });
    assert.equal(answer.status, 200);
    leave.abort();
    for (let wait = 0; streams.closed === closed && wait < 100; wait++) {
      await new Promise((go) => setTimeout(go, 20));
    }
    assert.equal(streams.closed, closed + 1);
  });
});
