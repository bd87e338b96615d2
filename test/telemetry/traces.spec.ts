// Run: alone, store
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Tracing } from "../../src/telemetry/tracing.ts";
import { metricsHeaders } from "../support/app.ts";
import { withinRounds } from "../support/paced.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";
import { type Collector, startCollector, type ToldSpan, tracingTo } from "./collector.ts";

let collector: Collector;
let tracing: Tracing;
let world: ProviderWorld;
const lines: string[] = [];
const hooked: { headers: IncomingHttpHeaders; text: string }[] = [];
const receiver = createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    hooked.push({ headers: request.headers, text });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});

before(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  collector = await startCollector();
  // Longer than any of this takes: what does not wait for a collector that hangs is done before it is given up.
  tracing = await tracingTo(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: "90000" });
  world = await startProviderWorld({ tracing, log: (line) => void lines.push(line) });
});
after(async () => {
  await world[Symbol.asyncDispose]();
  await tracing[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
  receiver.close();
});

/** A target that is called where the condition says. */
async function hook(condition: JsonObject, { isAsync = false } = {}): Promise<void> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const kind = isAsync ? "rest_webhook" : "rest_request_response";
  const target = { name: uniqueName("target"), [kind]: { url }, is_async: isAsync };
  const { id } = bodyOf(await world.peer.post("/targets", target), 201).details;
  const put = await world.peer.post("/executions", { condition, targets: [id] });
  assert.ok(put.status === 200 || put.status === 201, put.refusal?.message);
}

const traceOf = (traceparent: string | string[] | undefined) =>
  /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/.exec(String(traceparent))?.[1] ?? "";

const named = (spans: readonly ToldSpan[], traceId: string) =>
  spans.filter((span) => span.traceId === traceId).map(({ name }) => name);

describe("a log-in through a provider and a hook", () => {
  it("is one trace, of all requests of its pages, the calls of the provider and the hook, and the commits", async () => {
    await hook({ function: "postauthentication" });
    const idp = await world.addForgeB({ options: { is_auto_creation: true } });
    hooked.length = 0;
    lines.length = 0;
    await world.logIn(idp);
    const traceId = traceOf(hooked[0]?.headers["traceparent"]);
    assert.notEqual(traceId, "");
    // Parts of a request are told before it, perhaps by another delivery.
    await collector.until((spans) => {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      const known = spans.filter((span) => span.traceId === traceId);
      return (
        named(spans, traceId).includes("GET /idps/callback") &&
        known.filter(({ parentId }) => !ids.has(parentId)).length === 1
      );
    });
    const ours = collector.spans.filter((span) => span.traceId === traceId);
    const names = ours.map(({ name }) => name);
    const { host } = new URL(world.fake.issuer);
    for (const each of [
      "GET /oauth/v2/authorize",
      "GET /ui/login/idp",
      "GET /idps/callback",
      `POST ${host}`,
      "target",
      "projection",
      "commit",
    ]) {
      assert.ok(names.includes(each), `${each} is not among ${names.join(", ")}`);
    }
    const ids = new Set(ours.map(({ spanId }) => spanId));
    const roots = ours.filter(({ parentId }) => !ids.has(parentId));
    assert.deepEqual(
      roots.map(({ name, kind, parentId }) => ({ name, kind, parentId })),
      [{ name: "GET /oauth/v2/authorize", kind: "server", parentId: "" }],
    );
    const logged = lines.filter((line) => line.includes(traceId)).map((line) => JSON.parse(line));
    assert.ok(logged.some(({ path }) => path === "/idps/callback"));
    assert.ok(logged.every((line) => line.traceId === traceId));
  });

  it("tells nothing of who logs in, nor anything secret", () => {
    const { user, secret } = { ...world.fake.script, secret: world.fake.secret };
    const told = JSON.stringify(collector.spans);
    for (const value of [...Object.values(user), secret, world.app.secret, world.peer.app.token]) {
      if (typeof value !== "string" || value.length < 4) continue;
      assert.ok(!told.includes(value), `a span tells ${value}`);
    }
    for (const { attributes } of collector.spans) {
      assert.ok(Object.keys(attributes).length <= 32);
      assert.ok(Object.values(attributes).every((each) => String(each).length <= 200));
    }
    assert.equal(collector.resources[0]?.["service.name"], "idsvc");
  });
});

const parent = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const traceparent = (flags: "00" | "01") => `00-${parent.trace}-${parent.span}-${flags}`;

/** A call over REST, and the line of the log that it left. */
async function search(
  headers: Record<string, string>,
  path = "/resources/v3alpha/targets/_search",
) {
  lines.length = 0;
  const { url, token } = world.peer.app;
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, host: "localhost", ...headers },
  });
  await answer.text();
  const line = lines.map((each) => JSON.parse(each)).find(({ msg }) => msg === "call");
  return { status: answer.status, traceId: String(line?.traceId), requestId: line?.requestId };
}

describe("a call", () => {
  it("joins the trace that a caller in a private network names (W3C Trace Context)", async () => {
    const { traceId, requestId } = await search({ traceparent: traceparent("01") });
    assert.equal(traceId, parent.trace);
    await collector.until((spans) => named(spans, parent.trace).length > 0);
    const span = collector.spans.find((each) => each.traceId === parent.trace);
    assert.equal(span?.parentId, parent.span);
    assert.equal(span.kind, "server");
    assert.equal(span.name, "idsvc.resources.action.v3alpha.ActionService/SearchTargets");
    assert.deepEqual(span.attributes, {
      "rpc.method": "idsvc.resources.action.v3alpha.ActionService/SearchTargets",
      "idsvc.protocol": "rest",
      "idsvc.request_id": requestId,
      "idsvc.code": "ok",
      "idsvc.instance_id": world.peer.app.made.instance_id,
    });
  });

  it("is not told where that trace is not kept, and its log line names it all the same", async () => {
    const earlier = collector.spans.length;
    const { traceId } = await search({ traceparent: traceparent("00") });
    assert.equal(traceId, parent.trace);
    const next = await search({});
    await collector.until((spans) => named(spans, next.traceId).length > 0);
    assert.equal(named(collector.spans.slice(earlier), parent.trace).length, 0);
  });

  it("begins a trace of its own where the header is none", async () => {
    for (const wrong of ["", "x", `00-${"0".repeat(32)}-${parent.span}-01`, "y".repeat(5_000)]) {
      const { status, traceId } = await search({ traceparent: wrong });
      assert.equal(status, 200);
      assert.match(traceId, /^[0-9a-f]{32}$/);
      assert.ok(!wrong.includes(traceId));
    }
  });

  it("tells by its reason why it was refused", async () => {
    const { status, traceId } = await search({ authorization: "Bearer nonsense" });
    assert.equal(status, 401);
    await collector.until((spans) => named(spans, traceId).length > 0);
    const span = collector.spans.find((each) => each.traceId === traceId);
    assert.equal(span?.isError, true);
    assert.equal(span.attributes["error.type"], "TOKEN_INVALID");
    assert.equal(span.attributes["idsvc.code"], "unauthenticated");
  });

  it("of an asynchronous target is a part of the trace of the call that it comes of", async () => {
    const method = "/idsvc.resources.project.v3alpha.ProjectService/CreateProject";
    await hook({ request: { method } }, { isAsync: true });
    hooked.length = 0;
    lines.length = 0;
    bodyOf(await world.peer.post("/projects", { name: uniqueName() }), 201);
    await collector.until(() => hooked.length > 0);
    const traceId = traceOf(hooked[0]?.headers["traceparent"]);
    await collector.until((spans) => named(spans, traceId).includes("job executor.delivery"));
    const names = named(collector.spans, traceId);
    assert.ok(names.includes("idsvc.resources.project.v3alpha.ProjectService/CreateProject"));
  });
});

describe("metrics of what is traced", () => {
  const scrape = async (accept?: string) => {
    const headers = { ...metricsHeaders, ...(accept === undefined ? {} : { accept }) };
    const answer = await fetch(`${world.peer.app.url}/metrics`, { headers });
    return { type: answer.headers.get("content-type"), text: await answer.text() };
  };

  it("name a trace for each span of time, in the format of OpenMetrics", async () => {
    const { traceId } = await search({});
    const { type, text } = await scrape("application/openmetrics-text; version=1.0.0");
    assert.match(type ?? "", /^application\/openmetrics-text; version=1\.0\.0/);
    const exemplar = new RegExp(
      `^idsvc_rpc_duration_seconds_bucket\\{.*method="SearchTargets".*\\} \\d+ # \\{trace_id="${traceId}"\\} [\\d.]+ \\d+\\.\\d{3}$`,
      "m",
    );
    assert.match(text, exemplar);
    assert.match(text, /^# TYPE idsvc_rpc_calls counter$/m);
    assert.match(text, /^idsvc_rpc_calls_total\{/m);
    assert.match(text, /\n# EOF\n$/);
    assert.ok(!text.includes("\n\n"));
  });

  it("name none in the format of Prometheus, which has no place for it", async () => {
    const { type, text } = await scrape();
    assert.match(type ?? "", /^text\/plain/);
    assert.ok(!text.includes("trace_id"));
    assert.match(text, /^# TYPE idsvc_rpc_calls_total counter$/m);
    assert.match(text, /^idsvc_trace_spans_total\{outcome="delivered"\} [1-9]/m);
    assert.match(text, /^idsvc_trace_spans_total\{outcome="lost"\} 0$/m);
  });
});

describe("a collector that takes nothing", () => {
  it("holds up no call, and no more than 8,192 spans wait for it", async () => {
    collector.hang();
    const { requests } = collector;
    const { lost: lostBefore } = tracing.counts();
    for (let nth = 0; nth < 12_000; nth += 1) {
      tracing.begin({ name: "filler", kind: "internal" }, true).end();
    }
    await collector.until(() => collector.requests > requests);
    for (let nth = 0; nth < 20; nth += 1) await search({});
    assert.ok(collector.isAwaited(), "calls are answered while the collector is waited for");
    // One batch is on its way, others wait; the rest is dropped.
    assert.ok(tracing.counts().lost - lostBefore >= 12_000 - 8_192);
    let isOver = false;
    const end = tracing[Symbol.asyncDispose]().then(() => (isOver = true));
    // It waits for two seconds.
    await withinRounds("the end", { rounds: 40, pauseMs: 100 }, () => isOver);
    await end;
    assert.ok(collector.isAwaited());
  });
});
