// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { processorMs } from "../support/processor-time.ts";

const sets = {
  methods: new Map([["idsvc.ActionService", ["GetTarget", "CreateTarget"]]]),
  eventTypes: ["target.added"],
};
const service = "idsvc.ActionService";

const render = async (metrics: ReturnType<typeof createMetrics>) =>
  (await metrics.render("all")).body;

describe("counting calls", () => {
  it("counts and times them by service, method, code and protocol", async () => {
    const metrics = createMetrics(sets);
    const count = metrics.callsOf(service, "GetTarget");
    count("ok", "grpc", 0.002);
    count("ok", "grpc", 0.002);
    count("ok", "grpc", 100);
    count("notFound", "rest", 0.002);
    const text = await render(metrics);
    const labels = 'service="idsvc.ActionService",method="GetTarget"';
    assert.match(
      text,
      new RegExp(`idsvc_rpc_calls_total\\{${labels},code="ok",protocol="grpc"\\} 3`),
    );
    assert.match(
      text,
      new RegExp(`idsvc_rpc_calls_total\\{${labels},code="notFound",protocol="rest"\\} 1`),
    );
    const ok = `${labels},code="ok",protocol="grpc"`;
    const duration = (line: string) =>
      assert.ok(text.includes(`idsvc_rpc_duration_seconds_${line}\n`), line);
    duration(`bucket{le="0.001",${ok}} 0`);
    duration(`bucket{le="0.0025",${ok}} 2`);
    duration(`bucket{le="30",${ok}} 2`);
    duration(`bucket{le="+Inf",${ok}} 3`);
    duration(`sum{${ok}} 100.004`);
    duration(`count{${ok}} 3`);
    assert.match(text, /# TYPE idsvc_rpc_duration_seconds histogram/);
    assert.match(text, /# TYPE idsvc_rpc_calls_total counter/);
  });

  it("never makes a series from what a caller sent", async () => {
    const metrics = createMetrics(sets);
    for (let n = 0; n < 1000; n++) metrics.callsOf(`evil${n}`, `m${n}`)("ok", "grpc", 0.002);
    metrics.callsOf(service, "constructor")("ok", "grpc", 0.002);
    metrics.callsOf(service, "GetTarget")("evil" as never, "evil" as never, 0.002);
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
    const { contentType, body } = await createMetrics(sets).render("all");
    assert.match(contentType, /^text\/plain; version=0\.0\.4/);
    assert.match(body, /process_resident_memory_bytes /);
    assert.match(body, /nodejs_eventloop_lag_seconds /);
  });

  it("asks Node nothing that may end the process, and counts what keeps it alive", async (context) => {
    const asked = ["_getActiveHandles", "_getActiveRequests"].map((name) =>
      context.mock.method(process as unknown as Record<string, () => unknown[]>, name),
    );
    const { body } = await createMetrics(sets).render("process");
    assert.deepEqual(
      asked.map(({ mock }) => mock.callCount()),
      [0, 0],
    );
    assert.match(body, /^nodejs_active_resources_total \d+$/m);
  });

  it("holds up nobody for the series of every method", async () => {
    const names = Array.from({ length: 300 }, (_, at) => `Method${at}`);
    const metrics = createMetrics({ ...sets, methods: new Map([[service, names]]) });
    for (const name of names)
      for (const protocol of ["grpc", "rest"] as const)
        metrics.callsOf(service, name)("ok", protocol, 0.002);
    let quickest = Infinity;
    for (let round = 0; round < 20 && quickest > 30; round++) {
      const start = processorMs();
      assert.ok((await render(metrics)).split("\n").length > 600 * 18);
      quickest = Math.min(quickest, processorMs() - start);
    }
    assert.ok(quickest <= 30, `${quickest} ms`);
  });

  it("keeps two services in one process apart", async () => {
    const one = createMetrics(sets);
    const other = createMetrics(sets);
    one.eventsAppended("target.added");
    assert.doesNotMatch(await render(other), /type="target\.added"\}/);
  });
});
