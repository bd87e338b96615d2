// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errorTrailers } from "../../src/api/rpc/grpc.ts";
import { failedPrecondition } from "../../src/errors.ts";

describe("the message of a refused gRPC call", () => {
  it("has the percent sign and all that is not printable ASCII encoded", () => {
    const trailers = errorTrailers(failedPrecondition("HALF_FULL", "50% of ü\n"));
    assert.equal(trailers["grpc-message"], "50%25 of %C3%BC%0A");
    assert.equal(trailers["grpc-status"], "9");
  });
});
