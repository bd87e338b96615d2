import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import type { LoadSpec } from "./load/spec.ts";

const headEnd = "\r\n\r\n";

export type LeanClient = Disposable & {
  /** Sends a request and requires success. */
  send(spec: LoadSpec): Promise<void>;
};

/** A client over one connection, which it keeps, one request at a time. It reads no more than status and length: it shares the cores. */
export async function leanClient(port: number): Promise<LeanClient> {
  const socket = net.connect(port, "127.0.0.1").setNoDelay();
  await once(socket, "connect");
  return {
    async send({ method, path, headers, body }) {
      const bytes = Buffer.from(body, "base64");
      const fields = { host: `127.0.0.1:${port}`, "content-length": bytes.length, ...headers };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
      socket.write(
        Buffer.concat([
          Buffer.from([`${method} ${path} HTTP/1.1`, ...lines].join("\r\n") + headEnd),
          bytes,
        ]),
      );
      const { head, rest } = await answerOf(socket);
      assert.match(head, /^HTTP\/1\.1 2/, rest.toString());
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** An answer that says its length. */
async function answerOf(socket: net.Socket): Promise<{ head: string; rest: Buffer }> {
  let read = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    read = Buffer.concat([read, chunk]);
    const at = read.indexOf(headEnd);
    if (at === -1) continue;
    const head = read.toString("latin1", 0, at);
    const rest = read.subarray(at + headEnd.length);
    const [, length] = /^content-length: (\d+)$/im.exec(head) ?? [];
    assert.ok(length !== undefined, head);
    if (rest.length >= Number(length)) return { head, rest };
  }
}
