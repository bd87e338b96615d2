// Run: shared
import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { createGathering } from "../../src/storage/gathering.ts";

describe("a batch of units", () => {
  it("waits while it has less than three quarters of the units of the last one, 2 ms at most (decision 0397)", (context) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    context.after(() => mock.timers.reset());
    const send = mock.fn();
    const gathering = createGathering(send);
    assert.equal(gathering.waits(1), false);
    gathering.sent(20);
    assert.equal(gathering.waits(14), true);
    assert.equal(gathering.waits(15), false);
    mock.timers.tick(1);
    assert.equal(send.mock.callCount(), 0);
    mock.timers.tick(1);
    assert.equal(send.mock.callCount(), 1);
    assert.equal(gathering.waits(1), false);
  });

  it("is not sent by the time of one that went before it", (context) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    context.after(() => mock.timers.reset());
    const send = mock.fn();
    const gathering = createGathering(send);
    gathering.sent(20);
    assert.equal(gathering.waits(1), true);
    mock.timers.tick(1);
    gathering.sent(18);
    mock.timers.tick(2);
    assert.equal(send.mock.callCount(), 0);
    assert.equal(gathering.waits(1), true);
  });
});
