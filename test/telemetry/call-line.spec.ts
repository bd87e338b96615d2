// Run: shared
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type CallLine, callLogger, webLogger } from "../../src/telemetry/call-line.ts";
import { createLogger, type LogLevel } from "../../src/telemetry/logger.ts";

const line: CallLine = {
  protocol: "rest",
  code: "notFound",
  ms: 1.234,
  requestId: "AbC_-9-1z",
  instanceId: "128000000000000000",
  caller: "128000000000000001",
  clientAddress: "203.0.113.0/24",
  reason: "TARGET_NOT_FOUND",
};
const [service, method] = ["idsvc.resources.action.v3alpha.ActionService", "GetTarget"];

function capture(level: LogLevel = "info") {
  const lines: string[] = [];
  return { lines, logger: createLogger(level, { write: (text) => void lines.push(text) }) };
}

const withoutTime = (text = "") => text.replace(/"time":"[^"]+"/, '"time":"?"');

describe("the line of a call", () => {
  const others: [what: string, line: CallLine][] = [
    ["with everything", line],
    ["without caller and reason", { ...line, caller: undefined, reason: undefined }],
    ["without an address", { ...line, clientAddress: undefined }],
    ["with quotes and a backslash", { ...line, caller: 'system "a\\b"' }],
    ["with control characters", { ...line, caller: "a\r\nb\u0000\u001b[31m\u2028" }],
    ["with other letters", { ...line, caller: "Zoë 🦊 𝒳" }],
    ["with an empty instance and no time", { ...line, instanceId: "", ms: 0 }],
    ["with a huge time", { ...line, ms: 1e21 }],
  ];
  for (const [what, each] of others) {
    it(`is what the logger writes, byte for byte: ${what}`, () => {
      const { lines, logger } = capture();
      const child = logger.child({ replica: "r1" });
      callLogger(child, service, method)(each);
      child.info({ rpcService: service, method, ...each }, "call");
      assert.equal(withoutTime(lines[0]), withoutTime(lines[1]));
      assert.match(lines[0] ?? "", /"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
      assert.equal(JSON.parse(lines[0] ?? "").caller, each.caller);
    });
  }

  it("is written at level info and more talkative ones, and follows a change of the level", () => {
    for (const level of ["trace", "debug", "info"] as const) {
      const { lines, logger } = capture(level);
      callLogger(logger, service, method)(line);
      assert.equal(lines.length, 1, level);
    }
    for (const level of ["warn", "error", "fatal", "silent"] as const) {
      const { lines, logger } = capture(level);
      const log = callLogger(logger, service, method);
      log(line);
      assert.equal(lines.length, 0, level);
      logger.level = "info";
      log(line);
      assert.equal(lines.length, 1, `${level}, then info`);
    }
  });
});

describe("the log on standard output", () => {
  const logger = join(import.meta.dirname, "../../src/telemetry/logger.ts");
  const run = (code: string) =>
    execFileSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" });

  it("keeps the order of lines, and loses none when the process ends or exits at once", () => {
    const log = `const { createLogger } = await import(${JSON.stringify(logger)});
      const log = createLogger("info");
      for (let at = 0; at < 1000; at++) log.info({ at }, "x");`;
    const later = "await new Promise((done) => setTimeout(done, 20)); log.info({ at: 1000 });";
    const ends = { "by itself": "", later, "by exit": "process.exit(0)", fatal: "log.fatal('x')" };
    for (const [how, end] of Object.entries(ends)) {
      const lines = run(`${log}\n${end}`).trimEnd().split("\n");
      const first = lines.slice(0, 1000).map((text) => JSON.parse(text).at);
      assert.deepEqual(
        first,
        Array.from({ length: 1000 }, (_, at) => at),
        how,
      );
      assert.equal(lines.length, how === "later" || how === "fatal" ? 1001 : 1000, how);
    }
  });
});

describe("the line of a request that is not RPC", () => {
  const facts = {
    status: 200,
    ms: 1.234,
    instanceId: "128000000000000000",
    requestId: "A_-9",
    clientAddress: "2001:db8:1::/48",
  };
  for (const [what, each] of [
    ["with everything", { ...facts, note: { reason: "INSTANCE_NOT_FOUND" } }],
    ["of no instance", { ...facts, instanceId: undefined, clientAddress: undefined }],
    ["with quotes", { ...facts, instanceId: 'a"\\b\r\n' }],
    [
      "of a refusal",
      { ...facts, note: { clientId: 'a"b', error: "invalid_grant", reason: "é\n" } },
    ],
    ["of a refusal of nobody", { ...facts, note: { error: "invalid_client", reason: "x" } }],
  ] as const) {
    it(`is what the logger writes, byte for byte: ${what}`, () => {
      const { lines, logger } = capture();
      webLogger(logger, "/oauth/v2/token")(each);
      const { note, ...rest } = { note: undefined, ...each };
      logger.info({ path: "/oauth/v2/token", ...rest, ...note }, "request");
      assert.equal(withoutTime(lines[0]), withoutTime(lines[1]));
    });
  }

  it("is not written where the level is above info", () => {
    const { lines, logger } = capture("warn");
    webLogger(logger, "/")(facts);
    assert.deepEqual(lines, []);
  });
});
