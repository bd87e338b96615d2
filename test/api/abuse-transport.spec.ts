// Run: alone, early
import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import {
  ActionService,
  SearchTargetsRequestSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { startActionPeer } from "../resources/action/action-peer.ts";
import { pathOf, restPlaceOf } from "../support/protocols.ts";
import { assertRefused, connectRefusal, grpcRefusal, restRefusal } from "../support/refusal.ts";
import { framed } from "../support/wire.ts";
import { metricsHeaders } from "../support/app.ts";
import { unharmed } from "./abuse.ts";

const action = await startActionPeer();
const { app, peer } = action;
// Calls have a short limit here, so that its end can be waited for; the default is 30 s.
const hasty = await startActionPeer({ env: { IDSVC_CALL_TIMEOUT: "2s" } });
const sessions: http2.ClientHttp2Session[] = [];
after(async () => {
  for (const session of sessions) session.destroy();
  await action[Symbol.asyncDispose]();
  await hasty[Symbol.asyncDispose]();
});

const limit = 4 * 1024 * 1024;
const search = pathOf(ActionService.method.searchTargets);
const authorization = `Bearer ${app.token}`;
const grpc = (body: Uint8Array, headers = {}) =>
  peer.send({
    version: 2,
    path: search,
    headers: { authorization, "content-type": "application/grpc", te: "trailers", ...headers },
    body,
  });
const tooLarge = { code: 8, reason: "BODY_TOO_LARGE" };

/** A field of an unknown message type, as a length-delimited value of exactly so many bytes in all. */
function messageOfSize(size: number): Uint8Array {
  const [tag, lengthBytes] = [2, 4];
  const head = Buffer.alloc(tag + lengthBytes);
  head.writeUInt16BE(0xfa_06); // field 111, length-delimited
  let rest = size - head.length;
  for (let at = 0; at < lengthBytes; at++) {
    head[tag + at] = (rest & 0x7f) | (at < lengthBytes - 1 ? 0x80 : 0);
    rest >>= 7;
  }
  return Buffer.concat([head, Buffer.alloc(size - head.length)]);
}

describe("a gRPC call", () => {
  it("D80: of 4 MiB passes, of one byte more is refused with 8", () =>
    unharmed(action, async () => {
      const fits = await grpc(framed(messageOfSize(limit)));
      assert.equal(fits.headers["grpc-status"], "0", fits.headers["grpc-message"]);
      const { headers } = await grpc(framed(messageOfSize(limit + 1)));
      assertRefused(grpcRefusal(headers), tooLarge);
    }));

  it("D80: that only says that it is too long is refused before it is read", async () => {
    const head = Buffer.from([0, 0xff, 0xff, 0xff, 0xff]);
    const { headers } = await grpc(head);
    assertRefused(grpcRefusal(headers), tooLarge);
  });

  for (const size of [limit + 1, 100 * 1024 * 1024]) {
    it(`D80: that is a gzip bomb of ${size} bytes is refused with 8, over every protocol`, () =>
      unharmed(action, async () => {
        const bomb = gzipSync(Buffer.alloc(size));
        const memory = process.memoryUsage().arrayBuffers;
        const { headers } = await grpc(framed(bomb, 1), { "grpc-encoding": "gzip" });
        assertRefused(grpcRefusal(headers), tooLarge);
        const encoded = { authorization, "content-encoding": "gzip" };
        const connect = await peer.send({
          path: search,
          headers: { ...encoded, "content-type": "application/proto" },
          body: bomb,
        });
        assert.equal(connect.status, 413);
        assertRefused(connectRefusal(connect), tooLarge);
        const rest = await peer.send({
          path: "/resources/v3alpha/targets/_search",
          headers: { ...encoded, "content-type": "application/json" },
          body: bomb,
        });
        assert.equal(rest.status, 413);
        assertRefused(restRefusal(rest), tooLarge);
        assert.ok(process.memoryUsage().arrayBuffers - memory < 64 * 1024 * 1024);
      }));
  }

  it("D80: that is not what its encoding says is refused with 3, an unknown one with 12", () =>
    unharmed(action, async () => {
      const body = framed(Buffer.from("no gzip"), 1);
      const broken = await grpc(body, { "grpc-encoding": "gzip" });
      assertRefused(grpcRefusal(broken.headers), { code: 3, reason: "ENCODING_MALFORMED" });
      const unknown = await grpc(body, { "grpc-encoding": "zstd9" });
      assertRefused(grpcRefusal(unknown.headers), { code: 12, reason: "ENCODING_UNSUPPORTED" });
    }));

  it("D80: that nests 1,000 and 100,000 levels deep is refused with 3", () =>
    unharmed(action, async () => {
      for (const depth of [1000, 100_000]) {
        // Field 15 as a group: it starts and ends with one byte each.
        const groups = Buffer.concat([Buffer.alloc(depth, 0x7b), Buffer.alloc(depth, 0x7c)]);
        const { headers } = await grpc(framed(groups));
        assertRefused(grpcRefusal(headers), { code: 3, reason: "MALFORMED_MESSAGE" });
      }
      const json = `{"filters":${"[".repeat(1000)}${"]".repeat(1000)}}`;
      const { headers } = await grpc(framed(Buffer.from(json)), {
        "content-type": "application/grpc+json",
      });
      assertRefused(grpcRefusal(headers), { code: 3, reason: "MALFORMED_JSON" });
    }));

  it("D80: with bytes that are no message, frame or unary call is refused", () =>
    unharmed(action, async () => {
      const message = framed(
        toBinary(SearchTargetsRequestSchema, {
          $typeName: SearchTargetsRequestSchema.typeName,
          filters: [],
          sortingColumn: 4,
        }),
      );
      const cases: [Uint8Array, number, string][] = [
        [framed(Buffer.from([0x0f])), 3, "MALFORMED_MESSAGE"],
        [framed(Buffer.from([0x1a, 0x7f])), 3, "MALFORMED_MESSAGE"],
        [Buffer.from([0, 0, 0]), 3, "FRAME_MALFORMED"],
        [Buffer.from([0, 0, 0, 0, 9, 1]), 3, "FRAME_MALFORMED"],
        [framed(Buffer.alloc(0), 7), 3, "FRAME_MALFORMED"],
        [Buffer.alloc(0), 12, "FRAME_MISSING"],
        [Buffer.concat([message, message]), 12, "FRAME_EXTRA"],
      ];
      for (const [body, code, reason] of cases) {
        assertRefused(grpcRefusal((await grpc(body)).headers), { code, reason });
      }
    }));

  for (const timeout of [undefined, "99999999H", "99999999S"]) {
    it(`D80: is cut at the limit of the service with ${timeout ?? "no"} timeout of its own`, () =>
      unharmed(hasty, async () => {
        const { stream, fields } = openCall(
          timeout === undefined ? {} : { "grpc-timeout": timeout },
        );
        const started = performance.now();
        await once(stream, "end");
        const ms = performance.now() - started;
        assertRefused(grpcRefusal(fields()), { code: 4, reason: "DEADLINE_EXCEEDED" });
        // At two seconds, and not at the 30 of other services.
        assert.ok(ms > 1_900 && ms < 25_000, `${ms} ms`);
      }));
  }

  it("D80: ends at its own timeout when that comes first", () =>
    unharmed(hasty, async () => {
      const ended: string[] = [];
      const other = openCall({});
      const { stream, fields } = openCall({ "grpc-timeout": "50m" });
      const both = [
        once(other.stream, "end").then(() => ended.push("limit")),
        once(stream, "end").then(() => ended.push("own")),
      ];
      await Promise.all(both);
      assertRefused(grpcRefusal(fields()), { code: 4, reason: "DEADLINE_EXCEEDED" });
      assert.deepEqual(ended, ["own", "limit"]);
    }));

  for (const timeout of ["1", "S", "-1S", "999999999S", "1.5S", "1 S", "1s", ""]) {
    it(`D80: is refused with the timeout "${timeout}"`, () =>
      unharmed(action, async () => {
        const { headers } = await grpc(framed(Buffer.alloc(0)), { "grpc-timeout": timeout });
        assertRefused(grpcRefusal(headers), { code: 3, reason: "TIMEOUT_MALFORMED" });
      }));
  }

  it("D80: stops its work when the caller cancels, and not at its limit", () =>
    unharmed(hasty, async () => {
      const ended = async (code: string) => {
        const { body } = await hasty.peer.send({
          method: "GET",
          path: "/metrics",
          headers: metricsHeaders,
        });
        const line = new RegExp(
          `idsvc_rpc_calls_total\\{[^}]*SearchTargets[^}]*code="${code}"[^}]*\\} (\\d+)`,
        );
        return Number(line.exec(body.toString())?.[1] ?? 0);
      };
      const [cancelled, late] = [await ended("cancelled"), await ended("deadlineExceeded")];
      assert.ok(late > 0, "what ends at the limit is counted so");
      const { stream, session } = openCall({});
      await new Promise((resolve) => session.ping(() => resolve(undefined)));
      stream.close(http2.constants.NGHTTP2_CANCEL);
      while ((await ended("cancelled")) === cancelled) {
        assert.equal(await ended("deadlineExceeded"), late, "the call ran to its limit");
      }
    }));

  it("D80: with two authorizations is refused with 16", () =>
    unharmed(action, async () => {
      const twice = { authorization: [authorization, authorization] };
      const headers = { ...twice, "content-type": "application/grpc-web+proto" };
      const web = await peer.send({ path: search, headers, body: framed(Buffer.alloc(0)) });
      const tail = web.body.subarray(5).toString();
      assert.match(tail, /grpc-status: 16\r\n/);
      const rest = await peer.send({
        method: "GET",
        path: "/resources/v3alpha/targets/1",
        headers: twice,
      });
      assert.equal(rest.status, 401);
      assertRefused(restRefusal(rest), { code: 16, reason: "TOKEN_MALFORMED" });
      const joined = { authorization: `${authorization}, ${authorization}` };
      const { headers: fields } = await grpc(framed(Buffer.alloc(0)), joined);
      assertRefused(grpcRefusal(fields), { code: 16, reason: "TOKEN_MALFORMED" });
    }));

  for (const value of ["***", "a", "=AAA", "YQ==YQ=="]) {
    it(`D80: is refused with 3 for a -bin header that is no base64: ${value}`, () =>
      unharmed(action, async () => {
        const { headers } = await grpc(framed(Buffer.alloc(0)), { "trace-bin": value });
        assert.equal(headers["grpc-status"], "3");
        assert.equal(grpcRefusal(headers).code, 3);
      }));
  }

  it("D80: may carry -bin headers that are base64, padded or not", async () => {
    for (const value of ["YQ", "YQ==", "YWI", "YQ,YWI="]) {
      const { headers } = await grpc(framed(Buffer.alloc(0)), { "trace-bin": value });
      assert.equal(headers["grpc-status"], "0", value);
    }
  });
});

describe("a foreign origin", () => {
  const origins = ["https://evil.test", "null", "https://rp.test.evil.test", "http://rp.test"];
  const paths = app.app.endpoints.flatMap(({ rule: { method, path } }) => {
    return [path, restPlaceOf(method).template.replace("{id}", "1")];
  });
  const others = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/nothing"];
  const assertClosed = (headers: Record<string, string>, what: string) => {
    const allowed = Object.keys(headers).filter((name) => name.startsWith("access-control-"));
    assert.deepEqual(allowed, [], what);
  };

  for (const [nth, origin] of origins.entries()) {
    it(`D79: gets no header that allows it, from any endpoint: ${origin}`, () =>
      unharmed(action, async () => {
        for (const [place, path] of [...new Set([...paths, ...others])].entries()) {
          // Each endpoint by either version of HTTP, which is the other one for the next origin.
          const version = (nth + place) % 2 === 0 ? 1 : 2;
          const preflight = await peer.send({
            version,
            method: "OPTIONS",
            path,
            headers: {
              origin,
              "access-control-request-method": "POST",
              "access-control-request-headers": "authorization,content-type",
            },
          });
          assertClosed(preflight.headers, `preflight of ${path}`);
          assert.ok(preflight.status < 500);
          const types = ["application/json", "application/grpc-web+proto"];
          for (const type of types) {
            const headers = { origin, authorization: "Bearer forged", "content-type": type };
            const called = await peer.send({ version, path, headers, body: "" });
            assertClosed(called.headers, `${type} to ${path}`);
            assert.ok(called.status < 500);
          }
        }
      }));
  }

  it("D79: gets none with a token that holds either", async () => {
    for (const origin of origins) {
      const headers = { origin, authorization };
      const read = await peer.send({ method: "GET", path: "/settings/v3alpha/features", headers });
      assert.equal(read.status, 200);
      assertClosed(read.headers, origin);
    }
  });
});

/** A gRPC call whose message never comes, of the service whose calls have a short limit. */
function openCall(headers: Record<string, string>) {
  const { port, token } = hasty.app;
  const session = http2.connect(`http://localhost:${port}`, {
    createConnection: () => net.connect(port, "127.0.0.1"),
  });
  sessions.push(session);
  const stream = session.request({
    ":method": "POST",
    ":path": search,
    authorization: `Bearer ${token}`,
    "content-type": "application/grpc",
    ...headers,
  });
  let told: Record<string, string> = {};
  stream.on("response", (fields) => (told = fields as Record<string, string>));
  stream.on("error", () => {});
  stream.resume();
  return { session, stream, fields: () => told };
}
