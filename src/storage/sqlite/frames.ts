import type { Socket } from "node:net";
import { deserialize, serialize } from "node:v8";

// Messages on a stream: four bytes that tell the length, then a value as the structured clone algorithm keeps it.
const headBytes = 4;

export function sendFrame(socket: Socket, message: unknown): void {
  const body = serialize(message);
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(body.length);
  socket.cork();
  socket.write(head);
  socket.write(body);
  socket.uncork();
}

/** Gives each message of the stream once it is whole. */
export function onFrame(socket: Socket, listener: (message: unknown) => void): void {
  let more: Buffer[] = [];
  let size = 0;
  let awaited = headBytes;
  socket.on("data", (chunk) => {
    more.push(chunk);
    size += chunk.length;
    if (size < awaited) return;
    let received = more.length === 1 ? chunk : Buffer.concat(more);
    for (;;) {
      awaited = headBytes + (received.length < headBytes ? 0 : received.readUInt32BE());
      if (received.length < headBytes || received.length < awaited) break;
      const body = received.subarray(headBytes, awaited);
      received = received.subarray(awaited);
      listener(deserialize(body));
    }
    more = received.length === 0 ? [] : [received];
    size = received.length;
  });
}
