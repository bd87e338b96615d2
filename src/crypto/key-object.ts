import { createSecretKey, type KeyObject } from "node:crypto";

const made = new WeakMap<Uint8Array, KeyObject>();

/**
 * A secret key as Node wants it, made once. Of a key that is bytes it finds out anew for each use, by exceptions that it
 * throws and catches, that it is no object: that takes five times as long as an HMAC.
 */
export function keyObject(key: Uint8Array): KeyObject {
  let known = made.get(key);
  if (known === undefined) {
    known = createSecretKey(key);
    made.set(key, known);
  }
  return known;
}
