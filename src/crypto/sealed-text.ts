import { createSecretKey, hkdfSync, randomBytes } from "node:crypto";
import { DomainError } from "../errors.ts";
import { open, type SealingKey, seal, type EncryptionContext } from "./secrets.ts";

const saltLength = 16;
const form = /^[\w-]+$/;

/**
 * So many texts are sealed with one derived key: strangers may have as much sealed as they like, which is more than one key of AES-GCM
 * may seal with random nonces (2^32, NIST SP 800-38D section 8.3).
 */
const mostTexts = 65_536;

type DerivedKey = { salt: Uint8Array; key: SealingKey; textsLeft: number };

export type TextSealer = {
  /** Seals what leaves the service and comes back, as text for addresses. */
  seal(key: SealingKey, context: EncryptionContext, clear: Uint8Array): string;
  /** What was sealed with this key for this context, by whichever sealer; undefined for every other text. */
  open(key: SealingKey, context: EncryptionContext, text: string): Uint8Array | undefined;
};

/** Seals texts with keys that are derived from the given ones and a random salt, which each text begins with. */
export function createTextSealer(): TextSealer {
  const current = new WeakMap<SealingKey, DerivedKey>();

  function currentOf(key: SealingKey): DerivedKey {
    const existing = current.get(key);
    if (existing !== undefined && existing.textsLeft > 0) return existing;
    const salt = randomBytes(saltLength);
    const derivedKey = { salt, key: derived(key, salt), textsLeft: mostTexts };
    current.set(key, derivedKey);
    return derivedKey;
  }

  function withSalt(key: SealingKey, salt: Buffer): SealingKey {
    const existing = current.get(key);
    return existing !== undefined && salt.equals(existing.salt) ? existing.key : derived(key, salt);
  }

  return {
    seal(key, context, clear) {
      const derivedKey = currentOf(key);
      derivedKey.textsLeft -= 1;
      const sealed = seal(derivedKey.key, context, clear);
      return Buffer.concat([derivedKey.salt, sealed]).toString("base64url");
    },
    open(key, context, text) {
      const bytes = form.test(text) ? Buffer.from(text, "base64url") : Buffer.alloc(0);
      if (bytes.length <= saltLength) return undefined;
      const salt = bytes.subarray(0, saltLength);
      try {
        return open(withSalt(key, salt), context, bytes.subarray(saltLength));
      } catch (error) {
        if (error instanceof DomainError) return undefined;
        throw error;
      }
    },
  };
}

const derived = ({ key }: SealingKey, salt: Uint8Array): SealingKey => ({
  id: "text",
  // As an object: to learn that bytes are none, Node.js throws and catches an error.
  key: new Uint8Array(hkdfSync("sha256", createSecretKey(key), salt, "idsvc/sealed-text", 32)),
});
