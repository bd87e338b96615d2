import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetrics } from "../../src/telemetry/metrics.ts";

const sets = {
  methods: new Map([["idsvc.ActionService", ["GetTarget", "CreateTarget"]]]),
  eventTypes: ["target.added"],
};
const call = {
  service: "idsvc.ActionService",
  method: "GetTarget",
  code: "ok",
  protocol: "grpc",
  seconds: 0.002,
} as const;

const render = async (metrics: ReturnType<typeof createMetrics>) => (await metrics.render()).body;

describe("counting calls", () => {
  it("counts and times them by service, method, code and protocol", async () => {
    const metrics = createMetrics(sets);
    metrics.rpcCalled(call);
    metrics.rpcCalled({ ...call, code: "notFound", protocol: "rest" });
    const text = await render(metrics);
    const labels = 'service="idsvc.ActionService",method="GetTarget"';
    assert.match(
      text,
      new RegExp(`idsvc_rpc_calls_total\\{${labels},code="ok",protocol="grpc"\\} 1`),
    );
    assert.match(
      text,
      new RegExp(`idsvc_rpc_calls_total\\{${labels},code="notFound",protocol="rest"\\} 1`),
    );
    assert.match(text, /idsvc_rpc_duration_seconds_bucket\{le="0\.0025",.*code="ok".*\} 1/);
  });

  it("never makes a series from what a caller sent", async () => {
    const metrics = createMetrics(sets);
    for (let n = 0; n < 1000; n++)
      metrics.rpcCalled({ ...call, service: `evil${n}`, method: `m${n}` });
    metrics.rpcCalled({ ...call, method: "constructor" });
    metrics.eventsAppended("made.up");
    const text = await render(metrics);
    assert.ok(!text.includes("evil"));
    assert.match(
      text,
      /idsvc_rpc_calls_total\{service="other",method="other",code="ok",protocol="grpc"\} 1000/,
    );
    assert.match(text, /service="idsvc.ActionService",method="other"/);
    assert.match(text, /idsvc_events_appended_total\{type="other"\} 1/);
  });

  it("counts events by type", async () => {
    const metrics = createMetrics(sets);
    metrics.eventsAppended("target.added", 3);
    assert.match(await render(metrics), /idsvc_events_appended_total\{type="target\.added"\} 3/);
  });

  it("shows the process beside them", async () => {
    const { contentType, body } = await createMetrics(sets).render();
    assert.match(contentType, /^text\/plain; version=0\.0\.4/);
    assert.match(body, /process_resident_memory_bytes /);
    assert.match(body, /nodejs_eventloop_lag_seconds /);
  });

  it("keeps two services in one process apart", async () => {
    const one = createMetrics(sets);
    const other = createMetrics(sets);
    one.eventsAppended("target.added");
    assert.doesNotMatch(await render(other), /type="target\.added"\}/);
  });
});
