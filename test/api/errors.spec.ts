// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toDomainError, toWire } from "../../src/api/errors.ts";
import { internal, invalidArgument } from "../../src/errors.ts";

const secret = "instance 7 has no data_key";

describe("an error that is the service's own", () => {
  for (const [what, thrown] of [
    [
      "a refusal of kind internal",
      internal("INSTANCE_KEY_MISSING", secret, { metadata: { secret } }),
    ],
    ["an error of a library", new Error(secret)],
    ["a text", secret],
  ] as const) {
    it(`says nothing but the id of the request: ${what}`, () => {
      const told = toDomainError(thrown, "request-1");
      assert.equal(told.reason, "INTERNAL");
      assert.deepEqual(told.metadata, { request_id: "request-1" });
      const wire = toWire(told);
      assert.ok(!JSON.stringify(wire, replaceBytes).includes(secret));
      assert.match(wire.message, /request-1/);
    });
  }
  it("is told as it is where it is a refusal", () => {
    const refusal = invalidArgument("WRONG", "must be right");
    assert.equal(toDomainError(refusal, "request-1"), refusal);
  });
});

function replaceBytes(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
}
