import type { Socket } from "node:net";

// Messages on a stream: four bytes that tell the length of what follows, four that tell the length of a text, the text in UTF-8, then
// bytes that belong to it.
const headBytes = 8;
const lengthBytes = 4;

export type Frame = { text: string; bytes: Buffer };

export function sendFrame(socket: Socket, text: string, parts: readonly Uint8Array[] = []): void {
  const textBytes = Buffer.byteLength(text);
  let size = headBytes + textBytes;
  for (const { length } of parts) size += length;
  const frame = Buffer.allocUnsafe(size);
  frame.writeUInt32BE(size - lengthBytes);
  frame.writeUInt32BE(textBytes, lengthBytes);
  frame.write(text, headBytes);
  let at = headBytes + textBytes;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  socket.write(frame);
}

/** Gives each message of the stream once it is whole. */
export function onFrame(socket: Socket, listener: (frame: Frame) => void): void {
  let more: Buffer[] = [];
  let size = 0;
  let awaited = headBytes;
  socket.on("data", (chunk) => {
    more.push(chunk);
    size += chunk.length;
    if (size < awaited) return;
    let received = more.length === 1 ? chunk : Buffer.concat(more);
    for (;;) {
      awaited = received.length < headBytes ? headBytes : lengthBytes + received.readUInt32BE();
      if (received.length < awaited) break;
      const begin = headBytes + received.readUInt32BE(lengthBytes);
      listener({
        text: received.toString("utf8", headBytes, begin),
        bytes: received.subarray(begin, awaited),
      });
      received = received.subarray(awaited);
    }
    more = received.length === 0 ? [] : [received];
    size = received.length;
  });
}
