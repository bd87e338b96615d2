// Run: alone, store
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Tracing } from "../../src/telemetry/tracing.ts";
import { metricsHeaders } from "../support/app.ts";
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
  tracing = await tracingTo(collector.url);
  world = await startProviderWorld({ tracing, log: (line) => void lines.push(line) });
});
after(async () => {
  await world[Symbol.asyncDispose]();
  await tracing[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
  receiver.close();
});

async function hook(condition: object, more: object = {}): Promise<string> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const target = { name: uniqueName("target"), ...more };
  const kind = "rest_async" in more ? {} : { rest_request_response: { url } };
  const wanted = { rest_async: { url }, ...target };
  const made = await world.peer.post("/targets", "rest_async" in more ? wanted : { ...target, ...kind });
  const { id } = bodyOf(made, 201).details;
  const put = await world.peer.post("/executions", { condition, targets: [id] });
  assert.ok(put.status === 200 || put.status === 201, put.refusal?.message);
  return id;
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
    await collector.until((spans) => named(spans, traceId).includes("GET /idps/callback"));
    const ours = collector.spans.filter((span) => span.traceId === traceId);
    const names = ours.map(({ name }) => name);
    const { host } = new URL(world.fake.issuer);
    for (const each of [
      "GET /oauth/v2/authorize",
      "GET /ui/login/idp",
      "GET /idps/callback",
      `POST ${host}`,
      "target",
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
