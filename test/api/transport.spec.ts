// Run: shared
import assert from "node:assert/strict";
import net from "node:net";
import { after, describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { setTimeout as delay } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import {
  ActionService,
  CreateTargetRequestSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { bodyOf, startActionPeer, uniqueName, url } from "../resources/action/action-peer.ts";
import { messageOf, pathOf, protocols } from "../support/protocols.ts";
import { assertRefused, connectRefusal, restRefusal } from "../support/refusal.ts";
import { framed, hear, type RawAnswer, speak } from "../support/wire.ts";

const action = await startActionPeer();
const { app, peer, post, addTarget } = action;
after(() => action[Symbol.asyncDispose]());

const { port } = app;
const authorization = `Bearer ${app.token}`;
const targets = "/resources/v3alpha/targets";
const rpc = pathOf(ActionService.method.createTarget);
const versions = [1, 2] as const;
const known = await addTarget();
const whole = /^HTTP\/1\.1 \d[^]*\r\n\r\n/;

describe("the one port", () => {
  it("serves HTTP/1.1 and HTTP/2 in clear, and every protocol on it", async () => {
    const { getTarget } = ActionService.method;
    for (const protocol of protocols) {
      const outcome = await peer.call(protocol, getTarget, { id: known }, { token: app.token });
      assert.equal(messageOf(outcome).target?.details?.id, known, protocol);
    }
    for (const version of versions) {
      const answer = await peer.send({
        version,
        method: "GET",
        path: `${targets}/${known}`,
        headers: { authorization },
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers["content-type"], "application/json");
    }
  });

  it("answers 400 to what is no HTTP, and 431 to a head that is too long", async () => {
    assert.match(await speak(port, "GARBAGE\r\n\r\n"), /^HTTP\/1\.1 400 /);
    assert.match(await speak(port, "\u0016\u0003\u0001\u0002\0\r\n\r\n"), /^HTTP\/1\.1 400 /);
    const long = `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-long: ${"x".repeat(17_000)}\r\n\r\n`;
    const heard = await speak(port, long);
    assert.match(heard, /^HTTP\/1\.1 431 /);
    assert.match(heard, /connection: close/i);
    assert.match(
      await speak(port, `GET /${"x".repeat(17_000)} HTTP/1.1\r\n\r\n`),
      /^HTTP\/1\.1 431 /,
    );
  });

  it("answers requests that come in one piece in their order, some after the disk (RFC 9112 section 9.3.2)", async () => {
    const ask = (path: string, more = "") =>
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n${more}\r\n`;
    const make = () => {
      const body = JSON.stringify({ name: uniqueName(), rest_webhook: { url }, timeout: "1s" });
      const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
      return ask(targets, head).replace("GET", "POST") + body;
    };
    const round = () => [
      [ask("/healthz"), "200"],
      [make(), "201"],
      [ask("/nowhere"), "404"],
      [ask(`${targets}/${known}`), "200"],
    ];
    const all = Array.from({ length: 40 }, round).flat();
    const last = ask("/healthz", "connection: close\r\n");
    const heard = await speak(port, all.map(([request]) => request).join("") + last);
    const statuses = [...heard.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    assert.deepEqual(statuses, [...all.map(([, status]) => status), "200"]);
  });

  it("goes on when clients are gone before, while or after their answers leave", async () => {
    const asks = Array.from({ length: 120 }, async (_, at) => {
      const socket = net.connect(port, "127.0.0.1").on("error", () => {});
      const body = JSON.stringify({ name: uniqueName(), rest_webhook: { url }, timeout: "1s" });
      const rest = `HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n`;
      const sent = `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      socket.write(
        at % 2 === 0 ? `GET ${targets}/1 ${rest}\r\n` : `POST ${targets} ${rest}${sent}`,
      );
      await delay(at / 10);
      socket.resetAndDestroy();
    });
    await Promise.all(asks);
    assert.ok(await addTarget());
  });

  it("refuses an HTTP/2 head that is too long, and goes on serving", async () => {
    const headers = { "x-long": "x".repeat(40_000) };
    const asked = peer.send({ version: 2, method: "GET", path: "/healthz", headers });
    const status = await asked.then(
      (answer) => answer.status,
      () => "cut",
    );
    assert.ok(status === 431 || status === "cut", String(status));
    assert.equal((await peer.send({ version: 2, method: "GET", path: "/healthz" })).status, 200);
  });

  it("does not take a body for a request, whatever its length says", async () => {
    const hidden = `GET ${targets}/${known} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`;
    const head = `POST ${targets} HTTP/1.1\r\nhost: localhost\r\n`;
    const chunked = "transfer-encoding: chunked\r\n";
    for (const lengths of [
      `content-length: 0\r\n${chunked}`,
      `content-length: 5\r\ncontent-length: 6\r\n`,
      `content-length: -1\r\n`,
      `content-length: 1e1\r\n`,
      `transfer-encoding: chunked, identity\r\n`,
      `transfer-encoding : chunked\r\n`,
    ]) {
      const heard = await speak(port, `${head}${lengths}\r\n0\r\n\r\n${hidden}`);
      assert.match(heard, /^HTTP\/1\.1 (400|501) /, lengths);
      assert.equal(heard.match(/HTTP\/1\.1 /g)?.length, 1, lengths);
    }
  });
});

describe("the endpoints of the process", () => {
  const documents: [path: string, type: RegExp, body: RegExp][] = [
    ["/healthz", /^text\/plain/, /^ok$/],
    ["/debug/healthz", /^text\/plain/, /^ok$/],
    ["/readyz", /^application\/json/, /"ready"/],
    ["/debug/ready", /^application\/json/, /"ready"/],
    ["/metrics", /^text\/plain/, /process_cpu_seconds_total/],
    ["/openapi.json", /^application\/json/, /"openapi":"3\.1/],
  ];
  for (const [path, type, body] of documents) {
    it(`answer over HTTP/1.1 and HTTP/2 on any host, and to HEAD without a body: ${path}`, async () => {
      for (const version of versions) {
        const headers = { host: "anything.test" };
        const answer = await peer.send({ version, method: "GET", path, headers });
        assert.equal(answer.status, 200);
        assert.match(answer.headers["content-type"] ?? "", type);
        assert.match(answer.body.toString(), body);
        const head = await peer.send({ version, method: "HEAD", path, headers });
        assert.equal(head.status, 200);
        assert.equal(head.body.length, 0);
        assert.match(head.headers["content-type"] ?? "", type);
      }
    });

    it(`answer 405 to other methods, with Allow and the error body: ${path}`, async () => {
      for (const version of versions) {
        for (const method of ["POST", "PUT", "DELETE"]) {
          const answer = await peer.send({ version, method, path });
          assert.equal(answer.status, 405);
          assert.equal(answer.headers["allow"], "GET, HEAD");
          assertRefused(restRefusal(answer), { code: 12, reason: "METHOD_NOT_ALLOWED" });
        }
      }
    });
  }
});

describe("a request that fits no method", () => {
  const unknown = [
    "/nothing",
    "/resources/v3alpha",
    "/healthz/",
    "/ui/logos/%ff",
    "/idps/%ff/saml/metadata",
  ];
  it("is refused with 404 and code 5 on an unknown path", async () => {
    for (const version of versions) {
      for (const path of [...unknown, `${targets}/`]) {
        for (const method of ["GET", "POST", "DELETE"]) {
          const answer = await peer.send({ version, method, path, headers: { authorization } });
          assert.equal(answer.status, 404, `${method} ${path}`);
          assertRefused(restRefusal(answer), { code: 5, reason: "ROUTE_NOT_FOUND" });
        }
      }
    }
  });

  it("is refused with 405, Allow and code 12 on a path of other methods", async () => {
    const cases: [path: string, method: string, allow: string][] = [
      [`${targets}/1`, "PUT", "DELETE, GET, PATCH"],
      [`${targets}/1`, "POST", "DELETE, GET, PATCH"],
      [targets, "GET", "POST"],
      [`${targets}/_search`, "PUT", "DELETE, GET, PATCH, POST"],
      ["/resources/v3alpha/executions/functions", "PATCH", "DELETE, GET"],
      ["/settings/v3alpha/features", "DELETE", "GET, PATCH"],
    ];
    for (const version of versions) {
      for (const [path, method, allow] of cases) {
        const answer = await peer.send({ version, method, path });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(answer.headers["allow"], allow);
        assertRefused(restRefusal(answer), { code: 12, reason: "METHOD_NOT_ALLOWED" });
      }
      const answer = await peer.send({ version, method: "GET", path: rpc });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers["allow"], "POST");
      assertRefused(connectRefusal(answer), { code: 12, reason: "METHOD_NOT_ALLOWED" });
    }
  });

  it("is refused with 415 and code 3 for another media type", async () => {
    const expected = { code: 3, reason: "UNSUPPORTED_MEDIA_TYPE" };
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
    ];
    for (const type of [...types, "application/jsonp", undefined]) {
      const typed = type === undefined ? {} : { "content-type": type };
      const headers = { authorization, ...typed };
      const rest = await peer.send({ path: targets, headers, body: "{}" });
      assert.equal(rest.status, 415, type);
      assertRefused(restRefusal(rest), expected);
      const connect = await peer.send({ path: rpc, headers, body: "{}" });
      assert.equal(connect.status, 415, type);
      assertRefused(connectRefusal(connect), expected);
    }
    const grpc = await peer.send({
      version: 2,
      path: rpc,
      headers: { authorization, "content-type": "application/grpc+xml" },
    });
    assert.equal(grpc.headers["grpc-status"], "12");
  });

  it("is refused with 413 and code 8 for a body over 4 MiB, announced or not", async () => {
    const tooLarge = { code: 8, reason: "BODY_TOO_LARGE" };
    const body = Buffer.alloc(4 * 1024 * 1024 + 1, " ");
    const headers = { authorization, "content-type": "application/json" };
    for (const version of versions) {
      const answer = await peer.send({ version, path: targets, headers, body });
      assert.equal(answer.status, 413);
      assertRefused(restRefusal(answer), tooLarge);
      assert.equal(restRefusal(answer).metadata["maximum_bytes"], "4194304");
    }
    const head = `POST ${targets} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    const chunk = Buffer.concat([
      Buffer.from("100001\r\n"),
      Buffer.alloc(0x100001, " "),
      Buffer.from("\r\n"),
    ]);
    const heard = await hear(port, whole, head, chunk, chunk, chunk, chunk, chunk);
    assert.match(heard, /^HTTP\/1\.1 413 /);
    const exact = Buffer.alloc(4 * 1024 * 1024, " ");
    exact.write("[]");
    const fits = await peer.send({ path: `${targets}/_search`, headers, body: exact });
    assert.equal(fits.status, 200);
  });
});

describe("the host of a call", () => {
  const path = `${targets}/${known}`;
  const ask = (headers: Record<string, string>, version: 1 | 2 = 1) =>
    peer.send({ version, method: "GET", path, headers: { authorization, ...headers } });
  const askRaw = (hosts: string) =>
    speak(
      port,
      `GET ${path} HTTP/1.1\r\n${hosts}authorization: ${authorization}\r\nconnection: close\r\n\r\n`,
    );
  const foreign = {
    "x-forwarded-host": "evil.test",
    forwarded: "host=evil.test;proto=https",
    "x-original-host": "evil.test",
    "x-host": "evil.test",
    "x-forwarded-proto": "javascript",
  };

  it("is that of the Host header: no other header moves it", async () => {
    for (const version of versions) {
      assert.equal((await ask({ host: "localhost", ...foreign }, version)).status, 200);
      const own = { "x-forwarded-host": "localhost", forwarded: "host=localhost" };
      const answer = await ask({ host: "evil.test", ...own }, version);
      assert.equal(answer.status, 404);
      const refusal = restRefusal(answer);
      assertRefused(refusal, { code: 5, reason: "INSTANCE_UNKNOWN_HOST" });
      assert.equal(refusal.metadata["host"], "evil.test");
    }
  });

  it("is known by each of its names, in any case, on any port", async () => {
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]", "[::1]:8080"]) {
      assert.equal((await ask({ host })).status, 200, host);
    }
    for (const host of [
      "",
      "localhost.evil.test",
      "localhost@evil.test",
      "localhost,evil.test",
      "[::2]",
    ]) {
      const heard = await askRaw(`host: ${host}\r\n`);
      assert.match(heard, /^HTTP\/1\.1 404 [^]*"INSTANCE_UNKNOWN_HOST"/, host);
    }
  });

  it("is not guessed: a request with two Host headers is refused (RFC 9112 section 3.2)", async () => {
    for (const hosts of [
      ["localhost", "evil.test"],
      ["evil.test", "localhost"],
      ["localhost", "localhost"],
    ]) {
      const heard = await askRaw(hosts.map((host) => `host: ${host}\r\n`).join(""));
      assert.match(heard, /^HTTP\/1\.1 400 /, String(hosts));
    }
  });

  it("D88: is said exactly once at every door (J18)", async () => {
    const doors = ["/resources/v3alpha/targets/1", "/metrics", "/openapi.json", "/ui/login/", "/"];
    for (const door of [...doors, "/.well-known/openid-configuration", "/oauth/v2/authorize"]) {
      const askAt = (headers: string) =>
        speak(port, `GET ${door} HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);
      const twice = await askAt("host: localhost\r\nhost: localhost\r\n");
      assert.match(twice, /^HTTP\/1\.1 400 [^]*"HOST_REPEATED"/, door);
      assert.match(await askAt(""), /^HTTP\/1\.1 400 [^]*"HOST_MISSING"/, door);
    }
    const probe = await speak(port, "GET /healthz HTTP/1.0\r\n\r\n");
    assert.match(probe, /^HTTP\/1\.1 200 /);
  });

  const absolute = async (target: string, host: string) =>
    speak(
      port,
      `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\nconnection: close\r\n\r\n`,
    );

  it("is never that of an absolute-form request line of another host", async () => {
    const heard = await absolute(`http://evil.test${path}`, "localhost");
    assert.match(heard, /^HTTP\/1\.1 404 /);
    assert.doesNotMatch(heard, /evil\.test\/resources|"target"/);
  });

  it("may be said in an absolute-form request line, as HTTP wants it (RFC 9112 section 3.2.2)", async () => {
    const heard = await absolute(`http://localhost${path}`, "localhost");
    assert.match(heard, /^HTTP\/1\.1 200 /);
    assert.match(heard, /"target"/);
  });
});

describe("a compressed request body", () => {
  const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  const made = (answer: RawAnswer, expected: number) => assert.equal(answer.status, expected);
  for (const [encoding, compress] of Object.entries(encodings)) {
    it(`is read by REST, Connect and gRPC: ${encoding}`, async () => {
      const target = () => ({ name: uniqueName(), rest_webhook: { url } });
      const encoded = { authorization, "content-encoding": encoding };
      const json = { ...encoded, "content-type": "application/json" };
      const rest = compress(JSON.stringify(target()));
      made(await peer.send({ path: targets, headers: json, body: rest }), 201);
      const connect = compress(JSON.stringify({ target: target() }));
      made(await peer.send({ path: rpc, headers: json, body: connect }), 200);
      const message = toBinary(CreateTargetRequestSchema, {
        $typeName: CreateTargetRequestSchema.typeName,
        target: {
          $typeName: "idsvc.resources.action.v3alpha.Target",
          name: uniqueName(),
          targetType: {
            case: "restWebhook",
            value: { $typeName: "idsvc.resources.action.v3alpha.RESTWebhook", url },
          },
          executionType: { case: undefined },
        },
      });
      const grpc = await peer.send({
        version: 2,
        path: rpc,
        headers: { authorization, "content-type": "application/grpc", "grpc-encoding": encoding },
        body: framed(compress(message), 1),
      });
      assert.equal(grpc.headers["grpc-status"], "0", grpc.headers["grpc-message"]);
    });
  }

  it("is refused when it is not what it says, or of an unknown kind", async () => {
    const headers = { authorization, "content-type": "application/json" };
    const broken = await peer.send({
      path: targets,
      headers: { ...headers, "content-encoding": "gzip" },
      body: "{}",
    });
    assert.equal(broken.status, 400);
    assertRefused(restRefusal(broken), { code: 3, reason: "ENCODING_MALFORMED" });
    const unknown = { ...headers, "content-encoding": "zstd" };
    const refused = await peer.send({ path: targets, headers: unknown, body: "{}" });
    assertRefused(restRefusal(refused), { code: 12, reason: "ENCODING_UNSUPPORTED" });
    assert.match(refused.headers["accept-encoding"] ?? "", /gzip/);
  });

  it("leaves the service as it was after all of this", async () => {
    assert.equal(bodyOf(await post("/targets/_search?query.limit=1")).result.length, 1);
  });
});
