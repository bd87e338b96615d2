// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { yieldToEventLoop } from "../src/yielder.ts";

/** Counts iterations of the event loop until it is stopped. */
function countIterations(): { now(): number; stop(): void } {
  let iterations = 0;
  let next = setImmediate(function count() {
    iterations += 1;
    next = setImmediate(count);
  });
  return { now: () => iterations, stop: () => clearImmediate(next) };
}

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe("callers that yield to the event loop together", () => {
  /** In which iteration each of so many callers goes on that then works for so long. */
  async function iterationsOf(count: number, ms: number): Promise<Map<number, number>> {
    const iterations = countIterations();
    const began = new Map<number, number>();
    const parts = Array.from({ length: count }, async (_, part) => {
      await yieldToEventLoop();
      began.set(part, iterations.now());
      work(ms);
    });
    await Promise.all(parts);
    iterations.stop();
    return began;
  }

  it("go on in an iteration each where each takes longer than they share, in their order", async () => {
    const began = await iterationsOf(4, 2);
    assert.deepEqual([...began.keys()], [0, 1, 2, 3]);
    assert.equal(new Set(began.values()).size, 4);
  });

  it("go on several in an iteration where many wait, in their order", async () => {
    const count = 64;
    const began = await iterationsOf(count, 0.3);
    assert.deepEqual([...began.keys()], Array.from({ length: count }).keys().toArray());
    assert.ok(new Set(began.values()).size < count);
  });

  it("go on after what has arrived", async () => {
    const order: string[] = [];
    const part = yieldToEventLoop().then(() => order.push("part"));
    await Promise.resolve().then(() => order.push("arrived"));
    await part;
    assert.deepEqual(order, ["arrived", "part"]);
  });

  it("go on after what arrives while the event that began the work is handled", async () => {
    const order: string[] = [];
    const sockets: Socket[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const handle = async () => {
      // Sent at once: the kernel has it before the event of the first has been handled.
      sockets[1]?.write("second");
      await yieldToEventLoop();
      order.push("part");
      resolve();
    };
    const server = createServer((socket) => {
      socket.on("data", (data) => {
        order.push(String(data));
        if (String(data) === "first") void handle();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    for (const _ of [1, 2]) {
      const socket = connect(port, "127.0.0.1").setNoDelay();
      await Promise.all([once(socket, "connect"), once(server, "connection")]);
      sockets.push(socket);
    }
    sockets[0]?.write("first");
    await promise;
    for (const socket of sockets) socket.destroy();
    server.close();
    assert.deepEqual(order, ["first", "second", "part"]);
  });
});
