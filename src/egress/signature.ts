import { createHmac, createSecretKey } from "node:crypto";

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">` (X6). */
export function signatureOf(key: Uint8Array, body: string, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  // Of a key that is bytes, Node finds out by exceptions that it is no object.
  const mac = createHmac("sha256", createSecretKey(key)).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${mac}`;
}
