// Loaded before a spec, into its process: loads the sources as the service does, and has the test runner find out more cheaply
// in which test something happens.
//
// The runner follows every promise and timer from its making to its end (`async_hooks`), to know which test an error or an
// `it()` belongs to: a twelfth of the processor time of tests. Node keeps the same with an `AsyncLocalStorage` at no such
// price. Where the runner asks for its hook it is given the storage: a test runs inside its own number, and whatever it begins
// is found by that. Should another version of the runner ask in another way, nothing is replaced.
import asyncHooks from "node:async_hooks";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  await import("../src/resolve.js");
  followTests();
}

function followTests() {
  const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = asyncHooks;
  const { runInAsyncScope } = AsyncResource.prototype;
  const scope = new AsyncLocalStorage();
  /** @type {((id: number, type: string, trigger: number, resource: object) => void) | undefined} */
  let belongs;

  asyncHooks.createHook = (callbacks) => {
    const asker = new Error("who asks").stack?.split("\n")[2];
    if (!asker?.includes("node:internal/test_runner/")) return createHook(callbacks);
    belongs = callbacks.init;
    return { enable: () => undefined, disable: () => undefined };
  };
  asyncHooks.executionAsyncId = () => scope.getStore() ?? executionAsyncId();

  // Tests, suites and hooks are resources that run their functions so.
  AsyncResource.prototype.runInAsyncScope = function (work, self, ...args) {
    if (belongs === undefined || typeof this.createSubtest !== "function") {
      return runInAsyncScope.call(this, work, self, ...args);
    }
    const id = this.asyncId();
    belongs(id, "", this.triggerAsyncId(), this);
    const inside = (...given) => scope.run(id, () => Reflect.apply(work, self, given));
    return runInAsyncScope.call(this, inside, undefined, ...args);
  };
}
