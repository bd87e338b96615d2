// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { typesOf } from "../../../src/eventstore/eventstore.ts";
import { userEvents } from "../../../src/resources/user/events.ts";
import { userProjection } from "../../../src/resources/user/projection.ts";

describe("the details of a user", () => {
  it("tell of every event of the user, which `expected_sequence` is compared with", () => {
    const passedOver = typesOf([userEvents]).filter((type) => !userProjection.reducers.has(type));
    assert.deepEqual(passedOver, []);
  });
});
