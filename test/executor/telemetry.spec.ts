// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import pino from "pino";
import { parseStrictJson } from "../../src/api/transcode/strict-json.ts";
import { createEgressClient } from "../../src/egress/client.ts";
import { systemResolver } from "../../src/egress/resolver.ts";
import { parseEgressAllow } from "../../src/egress/url-guard.ts";
import { createExecutor } from "../../src/executor/index.ts";
import { membershipReader } from "../../src/resources/membership/index.ts";
import { depsTold } from "../support/deps.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { metricsHeaders } from "../support/app.ts";
import { startExecutorPeer } from "./executor-peer.ts";

const told = depsTold();
const peer = await startExecutorPeer({ moreModules: [told.module] });
const { receiver, app } = peer;
const { db } = app.kernel;
after(() => peer[Symbol.asyncDispose]());

const metricsText = async () => {
  const { body } = await peer.peer.send({
    method: "GET",
    path: "/metrics",
    headers: { host: "localhost", ...metricsHeaders },
  });
  return body.toString();
};

describe("what the executor tells of its calls", () => {
  it("counts and times them by cause and outcome, with labels of closed sets", async () => {
    receiver.on("/down", { status: 500 });
    const ids = [(await peer.webhook()).id, (await peer.webhook({}, "/down")).id];
    const method = "/idsvc.resources.org.v3alpha.OrganizationService/CreateOrganization";
    await peer.set({ request: { method } }, ids);
    bodyOf(await peer.post("/organizations", { name: uniqueName() }), 201);
    const text = await metricsText();
    assert.match(text, /^idsvc_target_calls_total\{cause="request",outcome="ok"\} 1$/m);
    assert.match(text, /^idsvc_target_calls_total\{cause="request",outcome="status"\} 1$/m);
    assert.match(text, /^idsvc_target_call_duration_seconds_count\{cause="request"\} 2$/m);
    assert.match(text, /^idsvc_target_circuits_open 0$/m);
    assert.match(text, /^idsvc_jobs\{kind="executor.delivery",state="open"\} 0$/m);
    for (const id of ids) assert.ok(!text.includes(id));
    await peer.clear();
  });

  it("logs a line for each, with ids and without a word of what was said", async () => {
    const lines: string[] = [];
    const executor = createExecutor(told.deps(), {
      db,
      methodOf: () => undefined,
      outside: createEgressClient({
        allow: parseEgressAllow(["127.0.0.0/8"]),
        resolver: systemResolver(),
        userAgent: "idsvc/test",
      }),
      logger: pino({}, { write: (line: string) => void lines.push(line) }),
      memberships: membershipReader(db),
      parseJson: (bytes) => parseStrictJson(bytes),
    });
    const running = executor.start();
    receiver.on("/says", { status: 500, text: "the answer of the target" });
    const { id } = await peer.asker({}, "/says");
    const execution = await peer.set({ function: "preuserinfo" }, [id]);
    const at = { instanceId: app.made.instance_id, userId: undefined, requestId: "r" };
    const userinfo = { email: "hidden@example.com" };
    await executor.runFunction(at, "preuserinfo", async () => ({ userinfo }));
    await running[Symbol.asyncDispose]();
    assert.equal(lines.length, 1);
    const { time: _, pid: __, hostname: ___, ms, deliveryId, ...line } = JSON.parse(lines[0] ?? "");
    assert.ok(ms >= 0);
    assert.equal(deliveryId, receiver.at("/says")[0]?.headers["idsvc-delivery"]);
    assert.deepEqual(line, {
      level: 40,
      instanceId: app.made.instance_id,
      executionId: execution,
      targetId: id,
      attempt: 1,
      cause: "function",
      on: "preuserinfo",
      status: 500,
      failure: "status",
      msg: "target failed",
    });
  });
});
