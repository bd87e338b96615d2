// Run: shared, store
import { describe, it } from "node:test";
import { type Condition, conditionId } from "../../../src/resources/action/execution/condition.ts";
import {
  type ExecutionConfig,
  executionEvents,
} from "../../../src/resources/action/execution/events.ts";
import {
  deleteExecution,
  type Execution,
  execution,
  putExecution,
  type Surroundings,
  withoutInclude,
  withoutTarget,
} from "../../../src/resources/action/execution/execution.ts";
import { given } from "../../support/given.ts";

const { set, removed } = executionEvents;

const service = (name: string): Condition => ({ type: "request", scope: "service", value: name });
const config = (name: string, part: Partial<ExecutionConfig> = {}): ExecutionConfig => ({
  condition: service(name),
  targets: [],
  includes: [],
  ...part,
});
const id = (name: string): string => conditionId(service(name));

/** Executions by the letters that name their services, each with the letters of those it includes. */
function around(includes: Record<string, string>, unknownTargets: string[] = []): Surroundings {
  const included = new Map<string, Execution>();
  const includedBy = new Map<string, string[]>();
  for (const [name, below] of Object.entries(includes)) {
    included.set(id(name), config(name, { includes: [...below].map(id) }));
    for (const each of below)
      includedBy.set(id(each), [...(includedBy.get(id(each)) ?? []), id(name)]);
  }
  return { unknownTargets, included, includedBy };
}
const put =
  (wanted: ExecutionConfig, surroundings = around({})) =>
  (state: Execution) =>
    putExecution(state, wanted, surroundings);

const withTarget = config("a", { targets: ["t1", "t2"] });

describe("putting an execution", () => {
  it("records its condition and both lists, in their order", () => {
    const wanted = config("a", { targets: ["t2", "t1"], includes: [id("b")] });
    given(execution)
      .when(put(wanted, around({ b: "" })))
      .then(set(wanted));
  });
  it("replaces both lists", () => {
    const wanted = config("a", { includes: [id("b")] });
    given(execution, set(withTarget))
      .when(put(wanted, around({ b: "" })))
      .then(set(wanted));
  });
  it("records nothing when it is set so already", () =>
    given(execution, set(withTarget)).when(put(withTarget)).thenNothing());
  it("takes another order of targets for a change: they run in it", () => {
    const turned = config("a", { targets: ["t2", "t1"] });
    given(execution, set(withTarget)).when(put(turned)).then(set(turned));
  });
  it("sets one anew that was removed", () =>
    given(execution, set(withTarget), removed({})).when(put(withTarget)).then(set(withTarget)));
  it("is refused for a target that does not exist, and names it", () =>
    given(execution)
      .when(put(withTarget, around({}, ["t2"])))
      .thenRefused("notFound", "TARGET_NOT_FOUND", { target: "t2" }));
});

describe("including executions", () => {
  const including = (letters: string, name = "a") =>
    config(name, { includes: [...letters].map(id) });

  it("is refused for one that does not exist, and names it", () =>
    given(execution)
      .when(put(including("b"), around({ c: "" })))
      .thenRefused("notFound", "EXECUTION_INCLUDE_NOT_FOUND", { include: id("b") }));
  it("is refused for one on another type of condition", () => {
    const response: Condition = { type: "response", scope: "service", value: "b" };
    const other = { condition: response, targets: [], includes: [] };
    const included = new Map([[conditionId(response), other]]);
    const wanted = config("a", { includes: [conditionId(response)] });
    given(execution)
      .when(put(wanted, { ...around({}), included }))
      .thenRefused("failedPrecondition", "EXECUTION_INCLUDE_OF_OTHER_TYPE");
  });
  it("is allowed between scopes of one type", () => {
    const all: Condition = { type: "request", scope: "all", value: "" };
    const included = new Map([["request", { condition: all, targets: ["t"], includes: [] }]]);
    const wanted = config("a", { includes: ["request"] });
    given(execution)
      .when(put(wanted, { ...around({}), included }))
      .then(set(wanted));
  });
  it("is refused for itself", () =>
    given(execution)
      .when(put(including("a")))
      .thenRefused("failedPrecondition", "EXECUTION_INCLUDE_CYCLE", { include: id("a") }));
  it("is refused for itself also where it exists", () =>
    given(execution, set(withTarget))
      .when(put(including("a"), around({ a: "" })))
      .thenRefused("failedPrecondition", "EXECUTION_INCLUDE_CYCLE"));
  for (const [length, chain] of [
    ["two", { b: "a" }],
    ["three", { b: "c", c: "a" }],
    ["four, which is too deep as well", { b: "c", c: "d", d: "a" }],
  ] as const)
    it(`is refused when it closes a cycle of ${length}`, () =>
      given(execution, set(withTarget))
        .when(put(including("b"), around({ a: "", ...chain })))
        .thenRefused("failedPrecondition", "EXECUTION_INCLUDE_CYCLE"));
  it("is allowed by two ways to the same one: a diamond is no cycle", () => {
    const wanted = including("bc");
    given(execution)
      .when(put(wanted, around({ b: "d", c: "d", d: "" })))
      .then(set(wanted));
  });
  it("is allowed three levels deep", () => {
    const wanted = including("b");
    given(execution)
      .when(put(wanted, around({ b: "c", c: "d", d: "" })))
      .then(set(wanted));
  });
  it("is refused four levels deep", () =>
    given(execution)
      .when(put(including("b"), around({ b: "c", c: "d", d: "e", e: "" })))
      .thenRefused("failedPrecondition", "EXECUTION_INCLUDES_TOO_DEEP", { maximum: "3" }));
  it("is refused when one of several ways is too deep", () =>
    given(execution)
      .when(put(including("xb"), around({ x: "", b: "c", c: "d", d: "e", e: "" })))
      .thenRefused("failedPrecondition", "EXECUTION_INCLUDES_TOO_DEEP"));
  it("counts the levels above, of executions that include this one", () =>
    given(execution, set(withTarget))
      .when(put(including("b"), around({ y: "z", z: "a", a: "", b: "c", c: "" })))
      .thenRefused("failedPrecondition", "EXECUTION_INCLUDES_TOO_DEEP"));
  it("is allowed where the levels above and below make three", () => {
    const wanted = including("b");
    given(execution, set(withTarget))
      .when(put(wanted, around({ y: "z", z: "a", a: "", b: "" })))
      .then(set(wanted));
  });
  it("does not count what this execution itself included before", () => {
    const wanted = including("b");
    given(execution, set(including("c")))
      .when(put(wanted, around({ a: "c", c: "d", d: "e", e: "", b: "" })))
      .then(set(wanted));
  });
});

describe("deleting an execution", () => {
  it("records it", () => given(execution, set(withTarget)).when(deleteExecution).then(removed({})));
  it("is refused for one that is not set", () =>
    given(execution).when(deleteExecution).thenRefused("notFound", "EXECUTION_NOT_FOUND"));
  it("is refused the second time", () =>
    given(execution, set(withTarget), removed({}))
      .when(deleteExecution)
      .thenRefused("notFound", "EXECUTION_NOT_FOUND"));
});

describe("an execution whose target is deleted", () => {
  it("keeps its other targets in their order", () =>
    given(execution, set(config("a", { targets: ["t1", "t2", "t3"] })))
      .when((state) => withoutTarget(state, "t2"))
      .then(set(config("a", { targets: ["t1", "t3"] }))));
  it("stays, empty, when it was the only one", () =>
    given(execution, set(config("a", { targets: ["t1"] })))
      .when((state) => withoutTarget(state, "t1"))
      .then(set(config("a"))));
  it("is as it was when it did not list the target", () =>
    given(execution, set(withTarget))
      .when((state) => withoutTarget(state, "t9"))
      .thenNothing());
});

describe("an execution that includes one that is deleted", () => {
  it("keeps its targets and its other includes", () => {
    const before = config("a", { targets: ["t"], includes: [id("b"), id("c")] });
    given(execution, set(before))
      .when((state) => withoutInclude(state, id("b")))
      .then(set({ ...before, includes: [id("c")] }));
  });
  it("is as it was when it did not include it", () =>
    given(execution, set(withTarget))
      .when((state) => withoutInclude(state, "b"))
      .thenNothing());
});
