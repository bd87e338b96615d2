import { createSecretKey, hkdfSync, randomBytes } from "node:crypto";
import { DomainError } from "../errors.ts";
import { open, type SealingKey, seal, type EncryptionContext } from "./secrets.ts";

const saltLength = 16;
const form = /^[\w-]+$/;

/**
 * Seals what leaves the service and comes back, as text for addresses. Strangers may have as much sealed as they like, which
 * is more than one key of AES-GCM may seal: so each text has a key of its own, derived from this one and a random salt.
 */
export function sealText(key: SealingKey, context: EncryptionContext, clear: Uint8Array): string {
  const salt = randomBytes(saltLength);
  return Buffer.concat([salt, seal(derived(key, salt), context, clear)]).toString("base64url");
}

/** What `sealText` sealed with this key for this context; undefined for every other text. */
export function openText(
  key: SealingKey,
  context: EncryptionContext,
  text: string,
): Uint8Array | undefined {
  const bytes = form.test(text) ? Buffer.from(text, "base64url") : Buffer.alloc(0);
  if (bytes.length <= saltLength) return undefined;
  const salt = bytes.subarray(0, saltLength);
  try {
    return open(derived(key, salt), context, bytes.subarray(saltLength));
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

const derived = ({ key }: SealingKey, salt: Uint8Array): SealingKey => ({
  id: "text",
  // As an object: to learn that bytes are none, Node.js throws and catches an error.
  key: new Uint8Array(hkdfSync("sha256", createSecretKey(key), salt, "idsvc/sealed-text", 32)),
});
