// Run: shared
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { endCoalesced } from "../../src/api/response-coalescing.ts";

describe("responses that are ended together", () => {
  it("each end outside of the context of any request, also where more wait than are kept waiting", async () => {
    const request = new AsyncLocalStorage<number>();
    for (const count of [2, 70]) {
      const waiting: ServerResponse[] = [];
      const contexts: unknown[] = [];
      const server = createServer((_, response) => {
        response.on("finish", () => contexts.push(request.getStore()));
        waiting.push(response);
        if (waiting.length < count) return;
        for (const [at, each] of waiting.entries()) {
          request.run(at, endCoalesced, {
            response: each,
            body: "answer",
            isAscii: true,
            isLate: false,
          });
        }
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      const { port } = server.address() as AddressInfo;
      const all = Array.from({ length: count }, async () =>
        (await fetch(`http://127.0.0.1:${port}`)).text(),
      );
      assert.deepEqual(new Set(await Promise.all(all)), new Set(["answer"]));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      assert.deepEqual(new Set(contexts), new Set([undefined]));
      assert.equal(contexts.length, count);
    }
  });

  it("end in their order, the late ones last", async () => {
    const ended: string[] = [];
    const late = { long: true, quick: false, longer: true, another: false };
    for (const [name, isLate] of Object.entries(late)) {
      const response = { destroyed: false, end: () => ended.push(name) };
      const ending = { body: name, isAscii: true, isLate };
      endCoalesced({ ...ending, response: response as unknown as ServerResponse });
    }
    await nextIteration();
    await nextIteration();
    assert.deepEqual(ended, ["quick", "another", "long", "longer"]);
  });
});
