// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { httpStatusOf } from "../../../src/api/transcode/status.ts";
import { codes, type Kind } from "../../../src/errors.ts";

describe("the HTTP status of a canonical code", () => {
  const statuses: Record<Kind, number> = {
    invalidArgument: 400,
    failedPrecondition: 400,
    outOfRange: 400,
    unauthenticated: 401,
    permissionDenied: 403,
    notFound: 404,
    alreadyExists: 409,
    aborted: 409,
    resourceExhausted: 429,
    cancelled: 499,
    unimplemented: 501,
    internal: 500,
    unknown: 500,
    unavailable: 503,
    deadlineExceeded: 504,
  };
  for (const [kind, code] of Object.entries(codes)) {
    const status = new Map(Object.entries(statuses)).get(kind);
    it(`is ${status} for ${kind}`, () => assert.equal(httpStatusOf(code), status));
  }
  it("is 500 for data loss", () => assert.equal(httpStatusOf(15), 500));
  it("is 200 for success", () => assert.equal(httpStatusOf(0), 200));
  it("is 500 for a code that does not exist", () => assert.equal(httpStatusOf(99), 500));
});
