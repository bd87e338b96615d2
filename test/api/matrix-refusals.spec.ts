// Run: alone, early
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { engine } from "../support/app.ts";
import { pathOf, type Protocol, protocols, someProtocols } from "../support/protocols.ts";
import { assertRefused, connectRefusal, grpcRefusal, type Refusal } from "../support/refusal.ts";
import { framed } from "../support/wire.ts";
import { refusedOverAll } from "./refused-over-all.ts";
import { startSamples } from "./sample-service.ts";
import { samples } from "./samples.ts";

// What is refused before a method looks at anything that is stored, so it is the same on both engines, and for every method. On
// SQLite each method is refused by one protocol in each way, which is another one for the next way and method; on PostgreSQL, which
// `npm run test:long` adds, by all in each way.

const service = await startSamples();
const { app, system, peer, world } = service;
const unary = app.app.endpoints.filter(({ kind }) => kind === "unary");
after(() => service[Symbol.asyncDispose]());

const framings = ["grpc", "connect-proto", "connect-json"] as const;
const isWhole = engine !== "sqlite";

/** A body that no protocol can read as a request of the method. */
async function malformed(protocol: Protocol, method: DescMethod): Promise<Refusal> {
  const authorization = `Bearer ${app.token}`;
  const bad = Buffer.from([0x0f]);
  const post = (type: string, body: Uint8Array | string, version: 1 | 2 = 1) =>
    peer.send({
      version,
      path: pathOf(method),
      headers: { authorization, "content-type": `application/${type}` },
      body,
    });
  switch (protocol) {
    case "grpc":
      return grpcRefusal((await post("grpc", framed(bad), 2)).headers);
    case "connect-json":
      return connectRefusal(await post("json", "{"));
    default:
      return connectRefusal(await post("proto", bad));
  }
}

for (const [nth, { rule }] of unary.entries()) {
  const { method, path, feature } = rule;
  const sample = samples[path];
  if (sample === undefined) continue; // the matrix says so
  const token = sample.caller === "system" ? system : app.token;
  let spare: Promise<JsonObject> | undefined;
  /** One request for all, which leave it as it was. */
  const unused = () => (spare ??= Promise.resolve(sample.valid(world, 0)));
  const by = (way: number) => (engine === "sqlite" ? someProtocols(nth + 2 * way, 1) : protocols);

  describe(`${method.parent.name}.${method.name}`, () => {
    it("refuses a call without a token with code 16", async () => {
      const refusal = await refusedOverAll(peer, method, await unused(), {}, by(0));
      assertRefused(refusal, { code: 16, reason: "TOKEN_MISSING" });
    });

    it("refuses a wrong token with code 16", async () => {
      const refusal = await refusedOverAll(peer, method, await unused(), { token: "wrong" }, by(1));
      assertRefused(refusal, { code: 16, reason: "TOKEN_INVALID" });
    });

    it("refuses an unknown host with code 5, before it looks at the token", async () => {
      const host = "unknown.test:8080";
      const refusal = await refusedOverAll(peer, method, await unused(), { host }, by(2));
      assertRefused(refusal, { code: 5, reason: "INSTANCE_UNKNOWN_HOST" });
      assert.deepEqual(refusal.metadata, { host });
      assert.match(refusal.message, /unknown\.test.*Host header.*IDSVC_EXTERNAL_URL/);
    });

    it("refuses an unknown organization in the header with code 5", async () => {
      const headers = { "x-idsvc-orgid": "404" };
      const refusal = await refusedOverAll(peer, method, await unused(), { token, headers }, by(3));
      assertRefused(refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    });

    it("refuses a body that is no message with code 3", async () => {
      for (const protocol of framings.filter((_, at) => isWhole || at === nth % framings.length)) {
        const reason = protocol === "connect-json" ? "MALFORMED_JSON" : "MALFORMED_MESSAGE";
        assertRefused(await malformed(protocol, method), { code: 3, reason }, protocol);
      }
    });

    const { invalid } = sample;
    if (invalid !== undefined) {
      it("refuses an invalid request with code 3, naming the field", async () => {
        const refusal = await refusedOverAll(peer, method, invalid.request, { token }, by(4));
        const { field, reason = "VALIDATION_FAILED" } = invalid;
        assertRefused(refusal, { code: 3, reason, field });
      });
    }

    if (feature !== "") {
      it("refuses with code 9 while its feature is off", async () => {
        const settled = await unused();
        await setFeature(feature, { set: false });
        try {
          const refusal = await refusedOverAll(peer, method, settled, { token }, by(5));
          assertRefused(refusal, { code: 9, reason: "FEATURE_DISABLED" });
          assert.deepEqual(refusal.metadata, { feature });
        } finally {
          await setFeature(feature, { reset: true });
        }
      });
    }
  });
}

async function setFeature(feature: string, setter: JsonObject): Promise<void> {
  const settings = { [feature]: setter };
  const { status } = await peer.rest("PATCH", "/settings/v3alpha/features", settings, {
    token: app.token,
  });
  assert.equal(status, 200);
}
