// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it, mock } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { createDeferral, type Defer } from "../../src/api/deferral.ts";

/** What `performance.now` says: a call takes as long as it moves it, however busy the machine is. */
let clock = 0;

const long = async () => {
  clock += 5;
};
const quick = async () => {};

/** What comes first: the call, or what arrives right after it. */
async function firstOf(defer: Defer): Promise<string | undefined> {
  const order: string[] = [];
  const call = defer(async () => void order.push("call"));
  const arrived = Promise.resolve().then(() => order.push("arrived"));
  await Promise.all([call, arrived]);
  return order[0];
}

describe("calls of one endpoint", () => {
  before(() => mock.method(performance, "now", () => clock));
  after(() => mock.restoreAll());

  it("begin at once where none was made before, or one took long", async () => {
    const defer = createDeferral();
    assert.equal(await firstOf(defer), "call");
    await defer(long);
    assert.equal(await firstOf(defer), "call");
  });

  it("begin after what has arrived where the last two took long, until one is quick", async () => {
    const defer = createDeferral();
    await defer(long);
    await defer(long);
    assert.equal(await firstOf(defer), "arrived");
    assert.equal(await firstOf(defer), "call");
  });

  it("are answered after what has arrived where they took long, and at once where they did not", async () => {
    const defer = createDeferral();
    const order: string[] = [];
    const call = async (run: () => Promise<void>, name: string) => {
      await defer(async () => {
        await run();
        setImmediate(() => order.push("arrived"));
      });
      order.push(name);
    };
    await call(quick, "quick");
    assert.deepEqual(order, ["quick"]);
    await nextIteration();
    order.length = 0;
    await call(long, "long");
    assert.deepEqual(order, ["arrived", "long"]);
  });

  it("tell of a failure, and begin as before", async () => {
    const defer = createDeferral();
    await defer(long);
    await assert.rejects(
      defer(() => Promise.reject(new Error("refused"))),
      /refused/,
    );
    assert.equal(await firstOf(defer), "call");
  });

  it("of another endpoint are as quick as ever", async () => {
    const [slow, other] = [createDeferral(), createDeferral()];
    await slow(long);
    await slow(long);
    assert.equal(await firstOf(other), "call");
  });
});
