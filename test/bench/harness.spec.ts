// Run: alone
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Check,
  gateFailures,
  judge,
  median,
  ofDiskOrCore,
  percentile,
  ratioOf,
  spread,
} from "./judge.ts";

const twice: Check[] = [{ measure: "x peer", must: 2, goal: 4 }];
const gradeOf = (value: number, checks = twice) =>
  judge(checks, new Map([["x peer", value]])).grade;

describe("bench arithmetic", () => {
  it("takes medians and percentiles between values", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([1, 2]), 1.5);
    assert.equal(percentile([0, 10], 90), 9);
    assert.ok(Number.isNaN(median([])));
  });

  it("tells the spread as part of the median", () => {
    assert.equal(spread([90, 100, 110]), 10);
    assert.equal(spread([100]), 0);
  });

  it("divides round by round, so that a slow round does not count", () => {
    assert.equal(ratioOf([100, 10, 100], [50, 5, 50]), 2);
  });

  it("holds a load that waits to the disk where that is slow, and to the core where it is quick", () => {
    const load = { rate: 4_000, cpuRate: 5_000, open: 64, commitMs: 0.05 };
    assert.equal(ofDiskOrCore(load), 0.8);
    assert.equal(ofDiskOrCore({ ...load, rate: 1_600, commitMs: 20 }), 0.5);
  });

  it("grades by must and goal", () => {
    assert.equal(gradeOf(4), "goal");
    assert.equal(gradeOf(2), "must");
    assert.equal(gradeOf(1.9), "missed");
    assert.equal(judge(twice, new Map()).grade, "none");
  });

  it("reads bounds that must not be passed the other way round", () => {
    const atMost: Check[] = [{ measure: "x peer", goal: 25, atMost: true }];
    assert.equal(gradeOf(20, atMost), "goal");
    assert.equal(gradeOf(50, atMost), "must");
    assert.equal(judge(atMost, new Map([["x peer", 50]])).text, "goal 0.50");
  });

  it("fails the gate on the second miss, and at once on a wrong answer", () => {
    const ok = { id: "a", grade: "must" } as const;
    const miss = { id: "a", grade: "missed" } as const;
    assert.deepEqual(gateFailures([[miss], [ok]]), []);
    assert.deepEqual(gateFailures([[miss], [ok], [miss]]), ["a"]);
    assert.deepEqual(gateFailures([[{ id: "b", grade: "failed" }]]), ["b"]);
  });
});
