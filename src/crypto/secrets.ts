import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type DomainError, internal } from "../errors.ts";
import { keyObject } from "./key-object.ts";

/**
 * A key that seals: the master key, a data key of an instance, or one of a user.
 *
 * The id (1 to 255 bytes) is public and stands in what the key has sealed; the key is 32 bytes. Nonces are drawn at
 * random, so one key may seal 2^32 secrets at most (NIST SP 800-38D section 8.3).
 */
export type SealingKey = { id: string; key: Uint8Array };

/** What a secret belongs to. A sealed secret opens only with its context: moved to another row, it is unreadable. */
export type EncryptionContext = {
  instance: string;
  ownerType: string;
  ownerId: string;
  kind: string;
};

const formatVersion = 1;
const keyLength = 32;
const nonceLength = 12;
const tagLength = 16;

/** A fresh random data key. */
export function newSealingKey(id: string): SealingKey {
  return checked({ id, key: draw(keyLength) });
}

/**
 * Encrypts a secret for one context with AES-256-GCM.
 *
 * Format 1: version (1 byte), length of the key id (1 byte), key id, nonce (12 bytes), ciphertext, tag (16 bytes).
 * The bound text is context and key id, each with its length before it, so that no two contexts join to the same text.
 */
export function seal(key: SealingKey, context: EncryptionContext, clear: Uint8Array): Uint8Array {
  checked(key);
  const nonce = draw(nonceLength);
  const cipher = createCipheriv("aes-256-gcm", keyObject(key.key), nonce, {
    authTagLength: tagLength,
  });
  cipher.setAAD(boundText(context, key.id));
  const body = cipher.update(clear);
  // In this mode nothing is left over.
  cipher.final();
  const idLength = Buffer.byteLength(key.id);
  const sealed = Buffer.allocUnsafe(2 + idLength + nonceLength + body.length + tagLength);
  let at = sealed.writeUInt8(formatVersion, 0);
  at = sealed.writeUInt8(idLength, at);
  at += sealed.write(key.id, at);
  for (const part of [nonce, body, cipher.getAuthTag()]) at += part.copy(sealed, at);
  return sealed;
}

/**
 * Decrypts what `seal` made with this key for this context.
 *
 * @throws internal SECRET_FORMAT_UNKNOWN, SECRET_KEY_OTHER (sealed under another key id) and SECRET_UNREADABLE (wrong
 * key, wrong context, or changed bytes); none of them says anything of key or secret.
 */
export function open(key: SealingKey, context: EncryptionContext, sealed: Uint8Array): Uint8Array {
  checked(key);
  const { keyId, nonce, body, tag } = parse(sealed);
  if (keyId !== key.id)
    throw internal("SECRET_KEY_OTHER", "a secret is sealed under another key than the one given", {
      metadata: { key_id: keyId, given_key_id: key.id },
    });
  const decipher = createDecipheriv("aes-256-gcm", keyObject(key.key), nonce, {
    authTagLength: tagLength,
  });
  decipher.setAAD(boundText(context, key.id));
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch (cause) {
    throw internal(
      "SECRET_UNREADABLE",
      "a secret cannot be read: other key, other place or damaged",
      {
        metadata: { key_id: keyId, instance: context.instance, kind: context.kind },
        cause,
      },
    );
  }
}

/** The id of the key that a secret is sealed under: which key to open it with, and which rows a rotation still owes. */
export function sealedUnder(sealed: Uint8Array): string {
  return parse(sealed).keyId;
}

/** Seals a data key under another key: an instance's under the master key, a user's under the instance's. */
export function wrapKey(
  wrapping: SealingKey,
  owner: Omit<EncryptionContext, "kind">,
  key: SealingKey,
): Uint8Array {
  return seal(wrapping, keyContext(owner, key.id), checked(key).key);
}

/** The data key that `wrapKey` sealed for this owner under this id. */
export function unwrapKey(
  wrapping: SealingKey,
  owner: Omit<EncryptionContext, "kind">,
  id: string,
  wrapped: Uint8Array,
): SealingKey {
  return checked({ id, key: open(wrapping, keyContext(owner, id), wrapped) });
}

// One system call fills many draws; what was drawn is wiped from the pool and never drawn again.
const poolLength = 4_096;
let pool = Buffer.alloc(0);
let drawn = 0;

function draw(length: number): Buffer {
  if (drawn + length > pool.length) {
    pool = randomBytes(poolLength);
    drawn = 0;
  }
  const bytes = Buffer.alloc(length);
  pool.copy(bytes, 0, drawn);
  pool.fill(0, drawn, (drawn += length));
  return bytes;
}

const keyContext = (owner: Omit<EncryptionContext, "kind">, id: string): EncryptionContext => ({
  ...owner,
  kind: `data_key:${id}`,
});

function boundText(
  { instance, ownerType, ownerId, kind }: EncryptionContext,
  keyId: string,
): Buffer {
  const parts = ["idsvc/secret", instance, ownerType, ownerId, kind, keyId];
  // A character is three bytes at most.
  let most = 0;
  for (const part of parts) most += 4 + 3 * part.length;
  const bound = Buffer.allocUnsafe(most);
  let at = 0;
  for (const part of parts) {
    const length = bound.write(part, at + 4);
    bound.writeUInt32BE(length, at);
    at += 4 + length;
  }
  return bound.subarray(0, at);
}

function parse(sealed: Uint8Array) {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const [version, idLength] = bytes;
  if (version !== formatVersion || idLength === undefined) throw unknownFormat();
  const nonceAt = 2 + idLength;
  const bodyAt = nonceAt + nonceLength;
  const tagAt = bytes.length - tagLength;
  if (tagAt < bodyAt) throw unknownFormat();
  return {
    keyId: bytes.toString("utf8", 2, nonceAt),
    nonce: bytes.subarray(nonceAt, bodyAt),
    body: bytes.subarray(bodyAt, tagAt),
    tag: bytes.subarray(tagAt),
  };
}

function unknownFormat(): DomainError {
  return internal("SECRET_FORMAT_UNKNOWN", "sealed bytes are cut short or of a newer format");
}

function checked(key: SealingKey): SealingKey {
  const idLength = Buffer.byteLength(key.id, "utf8");
  if (key.key.length === keyLength && idLength >= 1 && idLength <= 255) return key;
  throw internal(
    "SEALING_KEY_INVALID",
    "a sealing key has an id of 1 to 255 bytes and 32 bytes of key",
  );
}
