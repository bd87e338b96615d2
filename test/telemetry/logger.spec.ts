// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { internal } from "../../src/errors.ts";
import { createLogger, type LogLevel } from "../../src/telemetry/logger.ts";

type Line = Record<string, unknown>;

function capture(level: LogLevel = "info") {
  const lines: string[] = [];
  return {
    lines,
    logger: createLogger(level, { write: (line) => void lines.push(line) }),
    last: (): Line => JSON.parse(lines.at(-1) ?? "{}"),
  };
}

describe("logging", () => {
  it("writes one JSON object a line with time in UTC, level word, service and message", () => {
    const log = capture();
    log.logger.info({ requestId: "r1" }, "ready");
    assert.equal(log.lines.length, 1);
    assert.match(String(log.last()["time"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { time: _, ...rest } = log.last();
    assert.deepEqual(rest, { level: "info", service: "idsvc", requestId: "r1", msg: "ready" });
  });

  it("says nothing below its level", () => {
    const log = capture("warn");
    log.logger.info("no");
    log.logger.warn("yes");
    assert.equal(log.lines.length, 1);
  });

  it("keeps a line a line: control characters are escaped", () => {
    const log = capture();
    log.logger.info({ name: "a\nb\u001b[31m" }, "x\r\ny");
    assert.equal(log.lines.length, 1);
    assert.ok(!/\p{Cc}/u.test((log.lines[0] ?? "").slice(0, -1)));
    assert.equal((log.lines[0] ?? "").indexOf("\n"), (log.lines[0] ?? "").length - 1);
  });

  it("hides credentials by the name of their field, at the top, below and in headers", () => {
    const log = capture();
    const bearer = "Bearer MARKER";
    log.logger.info({
      authorization: bearer,
      headers: { authorization: bearer, cookie: "MARKER", "set-cookie": ["MARKER"] },
      request: { headers: { authorization: bearer, cookie: "MARKER" }, password: "MARKER" },
      body: { client_secret: "MARKER", refresh_token: "MARKER", kept: "yes" },
    });
    assert.ok(!log.lines.join("").includes("MARKER"), log.lines.join(""));
    assert.ok(log.lines.join("").includes("yes"));
    assert.equal(log.last()["authorization"], "[hidden]");
  });

  it("hides them however their name is written, and shows nothing below five levels", () => {
    const log = capture();
    for (const name of ["client_secret", "clientSecret", "client-secret"]) {
      log.logger.info({ [name]: "MARKER", in: [{ [name.toUpperCase()]: "MARKER" }] });
      log.logger.child({ [name]: "MARKER" }).info("x");
    }
    log.logger.info({ a: { b: { c: { d: { e: { f: "MARKER" } } } } } });
    assert.deepEqual(log.last()["a"], { b: { c: { d: { e: "[deeper]" } } } });
    assert.ok(!log.lines.join("").includes("MARKER"), log.lines.join(""));
  });

  it("tells messages of the contract by their type alone", () => {
    const log = capture();
    const request = { $typeName: "idsvc.Check", verificationCode: "ABC123" };
    log.logger.info({ request, deep: { request } }, "call");
    assert.equal(log.last()["request"], "[idsvc.Check]");
    assert.deepEqual(log.last()["deep"], { request: "[idsvc.Check]" });
  });

  it("hides them in child loggers too", () => {
    const log = capture();
    log.logger.child({ password: "MARKER", requestId: "r1" }).info("x");
    assert.ok(!log.lines.join("").includes("MARKER"));
    assert.equal(log.last()["requestId"], "r1");
  });

  it("tells the private half of an error: kind, reason, metadata and the causes", () => {
    const log = capture();
    const cause = Object.assign(new Error("disk full"), { code: "ENOSPC", parameters: ["MARKER"] });
    log.logger.error({ err: internal("STORE_FAILED", "m", { metadata: { at: "append" }, cause }) });
    const err = log.last()["err"];
    assert.ok(err !== null && typeof err === "object");
    assert.partialDeepStrictEqual(err, {
      type: "DomainError",
      kind: "internal",
      reason: "STORE_FAILED",
      metadata: { at: "append" },
      cause: { message: "disk full", code: "ENOSPC" },
    });
    assert.ok(!log.lines.join("").includes("MARKER"));
  });

  it("tells an error under any name by its facts only, and bytes by their number", () => {
    const log = capture();
    const failed = Object.assign(new Error("no"), { request: "MARKER" });
    log.logger.info({ failed, key: Buffer.from("MARKER"), deep: { failed } });
    assert.partialDeepStrictEqual(log.last(), { failed: { message: "no" }, key: "[6 bytes]" });
    assert.ok(!log.lines.join("").includes("MARKER"));
  });

  it("survives names that every object has", () => {
    const log = capture();
    log.logger.info(
      JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "in": {"__proto__": 2}}'),
    );
    assert.equal(log.last()["constructor"], 1);
    assert.equal(Object.hasOwn(log.last(), "__proto__"), false);
  });

  it("does not follow a chain of causes without end", () => {
    const log = capture();
    const loop = new Error("loop");
    loop.cause = loop;
    log.logger.error({ err: loop });
    assert.equal(log.lines.length, 1);
  });
});
