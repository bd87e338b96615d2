import { createHmac, hash } from "node:crypto";

const blockBytes = 64;
// As long as a JWT with many claims.
const longestPadded = 4_096;
type Pads = { inner: Buffer; outer: Buffer };

// HMAC is two hashes. Node has a call for one hash, and only an object for the whole, which takes a third longer than both
// and leaves more to collect.
const pads = new WeakMap<Uint8Array, Pads>();

/** HMAC with SHA-256 (RFC 2104), 32 bytes, of a text in UTF-8; for keys that are used again and again. */
export function hmacSha256(key: Uint8Array, message: string): Buffer {
  const length = Buffer.byteLength(message);
  if (length > longestPadded) return createHmac("sha256", key).update(message, "utf8").digest();
  const { inner, outer } = padsOf(key);
  const text = inner.subarray(blockBytes, blockBytes + length);
  text.write(message, "utf8");
  outer.set(hash("sha256", inner.subarray(0, blockBytes + length), "buffer"), blockBytes);
  text.fill(0);
  return hash("sha256", outer, "buffer");
}

function padsOf(key: Uint8Array): Pads {
  let known = pads.get(key);
  if (known === undefined) {
    const short = key.length > blockBytes ? hash("sha256", key, "buffer") : key;
    const padded = (byte: number, room: number) => {
      const bytes = Buffer.alloc(blockBytes + room);
      for (let at = 0; at < blockBytes; at++) bytes[at] = (short[at] ?? 0) ^ byte;
      return bytes;
    };
    known = { inner: padded(0x36, longestPadded), outer: padded(0x5c, 32) };
    pads.set(key, known);
  }
  return known;
}
