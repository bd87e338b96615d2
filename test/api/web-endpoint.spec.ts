// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type WebEndpoint, webServer } from "../../src/api/web-endpoint.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { listenFor } from "./listening.ts";

const handled: string[] = [];
const place = Promise.withResolvers<void>();

const endpoint = (path: string, more: Partial<WebEndpoint> = {}): WebEndpoint => ({
  path,
  methods: ["POST"],
  crossOrigin: "none",
  handle() {
    handled.push(path);
    return { status: 204, headers: {}, body: "" };
  },
  ...more,
});

const listening = await listenFor({
  webEndpoints: [endpoint("/changes", { isChange: true }), endpoint("/reads")],
  serveWeb: webServer({
    instances: { byDomain: () => ({ id: "i1", isBlocked: false }), byId: () => undefined },
    externalUrl: new URL("http://localhost"),
    logger: silentLogger(),
    showAddress: () => undefined,
    budgets: { spend: () => undefined },
    slowDown: async () => assert.fail("no budget is spent"),
    beforeChange: () => place.promise,
    noteRefusal: () => assert.fail("nothing is refused"),
    metrics: createMetrics({ methods: new Map(), eventTypes: [] }),
    tracing: undefined,
  }),
});
after(() => listening.stop(1_000));

const post = (path: string) =>
  fetch(`http://127.0.0.1:${listening.port}${path}`, { method: "POST" });

describe("an endpoint that is not RPC", () => {
  it("is served when it has its place where it changes something, and at once where it reads", async () => {
    const changing = post("/changes");
    assert.equal((await post("/reads")).status, 204);
    assert.deepEqual(handled, ["/reads"]);
    place.resolve();
    assert.equal((await changing).status, 204);
    assert.deepEqual(handled, ["/reads", "/changes"]);
  });
});
