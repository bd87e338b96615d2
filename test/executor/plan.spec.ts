// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compilePlan, mostTargets } from "../../src/executor/plan.ts";
import type { StoredExecution, StoredTarget } from "../../src/resources/action/index.ts";

const target = (id: string) => [id, { id } as StoredTarget] as const;
const targets = new Map(["a", "b", "c"].map(target));
const execution = (
  id: string,
  own: readonly string[],
  includes: readonly string[] = [],
  creationSequence = 1n,
): StoredExecution => ({ id, targets: own, includes, creationSequence });
const called = (executions: readonly StoredExecution[], id = "request") =>
  compilePlan({ executions, targets })
    .find([id])
    ?.targets.map(({ id: of, via }) => `${of} by ${via}`);

describe("the plan of executions", () => {
  it("calls own targets in their order, then those of each include, doubles too (X3)", () => {
    const stored = [
      execution("request", ["b", "gone", "a"], ["response", "function"]),
      execution("response", ["c"], ["function"]),
      execution("function", ["a"]),
    ];
    const calls = ["b by request", "a by request", "c by response", "a by function"];
    assert.deepEqual(called(stored), [...calls, "a by function"]);
  });
  it("ends where includes are a circle", () => {
    const stored = [
      execution("request", ["a"], ["response"]),
      execution("response", ["b"], ["request"]),
    ];
    assert.deepEqual(called(stored), ["a by request", "b by response"]);
  });
  it("calls no more targets than the most", () => {
    const many = Array.from({ length: mostTargets - 1 }, () => "a");
    const stored = [execution("request", many, ["response"]), execution("response", ["b", "c"])];
    assert.equal(called(stored)?.length, mostTargets);
  });
  it("finds the first candidate that stood before a position of the log (X4)", () => {
    const plan = compilePlan({
      executions: [
        execution("event.user.added", ["a"], [], 9n),
        execution("event", ["b"], [], 4n),
        execution("request", ["c"], [], 2n),
      ],
      targets,
    });
    const candidates = ["event.user.added", "event"];
    assert.equal(plan.find(candidates)?.id, "event.user.added");
    assert.equal(plan.find(candidates, 9n)?.id, "event");
    assert.equal(plan.find(candidates, 4n), undefined);
    assert.equal(plan.eventsFrom, 4n);
  });
});
