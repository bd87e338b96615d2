import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";

export type Posted = { path: string; headers: Record<string, unknown>; body: string };

/** A service on this machine to which messages are posted. */
export type MessageSink = AsyncDisposable & {
  url: string;
  posts: Posted[];
  /** What it answers from now on: 200 at first. */
  answers(status: number): void;
  /** Waits until so many have come. */
  count(least: number): Promise<void>;
};

export async function startMessageSink(): Promise<MessageSink> {
  let status = 200;
  const posts: Posted[] = [];
  async function take(request: IncomingMessage, response: ServerResponse) {
    const body = await text(request);
    posts.push({ path: request.url ?? "", headers: { ...request.headers }, body });
    response.writeHead(status).end();
  }
  const server = createServer((request, response) => void take(request, response)).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    posts,
    answers(next) {
      status = next;
    },
    async count(least) {
      for (const end = Date.now() + 60_000; posts.length < least; await delay(10)) {
        assert.ok(Date.now() < end, `${posts.length} of ${least} messages came`);
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
