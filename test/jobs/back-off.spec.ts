// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextTry } from "../../src/jobs/back-off.ts";

const start = new Date("2026-01-02T03:04:05Z");
const after = (ms: number) => new Date(start.getTime() + ms);
const hour = 3_600_000;

describe("the next try of a failed job (X9)", () => {
  it("comes after pauses that double from a second on", () => {
    const pauses = [1, 2, 3, 4, 11].map((attempts) => {
      const next = nextTry({ attempts, failingSince: start, now: start }, 0);
      return next === "dead" ? next : next.getTime() - start.getTime();
    });
    assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 1_024_000]);
  });
  it("comes up to half a pause sooner, at random", () => {
    const failure = { attempts: 4, failingSince: start, now: start };
    assert.deepEqual(nextTry(failure, 0.5), after(6_000));
    assert.deepEqual(nextTry(failure, 1), after(4_000));
  });
  it("is never later than 24 hours after the first failure", () => {
    const now = after(20 * hour);
    assert.deepEqual(nextTry({ attempts: 17, failingSince: start, now }, 0), after(24 * hour));
    assert.deepEqual(nextTry({ attempts: 5_000, failingSince: start, now }, 0), after(24 * hour));
  });
  it("never comes once 24 hours have passed", () => {
    const failure = { attempts: 2, failingSince: start };
    assert.equal(nextTry({ ...failure, now: after(24 * hour) }, 0), "dead");
    assert.equal(nextTry({ ...failure, now: after(9_000 * hour) }, 0), "dead");
    assert.notEqual(nextTry({ ...failure, now: after(24 * hour - 1) }, 0), "dead");
  });
  it("takes some 18 tries to give up", () => {
    let now = start;
    let attempts = 0;
    for (let next: Date | "dead" = start; next !== "dead"; ) {
      now = next;
      attempts += 1;
      next = nextTry({ attempts, failingSince: start, now }, 0);
    }
    assert.equal(attempts, 18);
    assert.deepEqual(now, after(24 * hour));
  });
});
