// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { guarded } from "../../src/api/guarded-stream.ts";

/** A stream whose one message comes when it is told to. */
function oneMessage() {
  const { promise, resolve } = Promise.withResolvers<IteratorResult<string, undefined>>();
  let isClosed = false;
  const iterator: AsyncIterator<string> = {
    next: () => promise,
    return: async () => {
      isClosed = true;
      return { done: true as const, value: undefined };
    },
  };
  return {
    messages: { [Symbol.asyncIterator]: () => iterator },
    /** @param meanwhile runs once the message has come and before its reader goes on */
    send(meanwhile: () => void) {
      void promise.then(meanwhile);
      resolve({ done: false, value: "a message" });
    },
    isClosed: () => isClosed,
  };
}

describe("a guarded stream", () => {
  for (const [what, end] of [
    ["whose process is to end", "stopping"],
    ["whose client has gone", "gone"],
  ] as const) {
    it(`${what} sends nothing that arrives at that moment, and is closed`, async () => {
      const stream = oneMessage();
      const signals = { stopping: new AbortController(), gone: new AbortController() };
      const sent: string[] = [];
      const reading = (async () => {
        const guard = {
          recheck: async () => undefined,
          stopping: signals.stopping.signal,
          gone: signals.gone.signal,
        };
        for await (const message of guarded<string>(stream.messages, guard)) sent.push(message);
      })();
      stream.send(() => signals[end].abort());
      if (end === "stopping") await assert.rejects(reading, { reason: "SERVICE_STOPPING" });
      else await reading;
      assert.deepEqual(sent, []);
      assert.ok(stream.isClosed());
    });
  }
});
