import { createHmac } from "node:crypto";
import { parseOptions } from "@node-rs/argon2";
import { internal } from "../errors.ts";
import { keyObject } from "./key-object.ts";
import { argon2Policy, hashBroken } from "./password-policy.ts";
import { passwordPool } from "./password-pool.ts";

/** A key that is not in the database: without it a stolen table of hashes cannot be guessed at. At least 32 bytes. */
export type Pepper = { keyId: string; key: Uint8Array };

/** What is stored of a password: an argon2id PHC string over the peppered password, and the pepper's key id. */
export type PasswordHash = { phc: string; pepperKeyId: string };

/** `outdated`: right, but made with an older pepper or weaker cost; hash the password anew while it is at hand. */
export type PasswordVerdict = "wrong" | "right" | "outdated";

/**
 * Hashes a password with argon2id (19 MiB, 2 passes, 1 lane) under the pepper; every call has its own salt.
 *
 * The work runs in the password pool, like that of all functions here, in turn with that of other sources.
 * The password is taken in NFC, so that one typed on another keyboard layout or system is still the same.
 * @throws UNAVAILABLE PASSWORD_HASHING_BUSY
 */
export async function hashPassword(
  password: string,
  pepper: Pepper,
  source?: string,
): Promise<PasswordHash> {
  return {
    phc: await hash(password, pepper, source),
    pepperKeyId: pepper.keyId,
  };
}

/**
 * Says whether a password is the stored one. `peppers` are all keys still in use, the current one first.
 *
 * @throws internal PASSWORD_PEPPER_MISSING when the hash was made under a key that is not at hand, and
 * PASSWORD_HASH_BROKEN when the stored string is not argon2id.
 * @throws UNAVAILABLE PASSWORD_HASHING_BUSY
 */
export async function verifyPassword(
  password: string,
  stored: PasswordHash,
  peppers: readonly Pepper[],
  source?: string,
): Promise<PasswordVerdict> {
  const pepper = peppers.find(({ keyId }) => keyId === stored.pepperKeyId);
  if (!pepper)
    throw internal(
      "PASSWORD_PEPPER_MISSING",
      "a password hash names a pepper that is not at hand; restore the key it was made with",
      { metadata: { pepper_key_id: stored.pepperKeyId } },
    );
  const atPolicy = meetsPolicy(stored.phc);
  const work = { op: "verify", phc: stored.phc, password: peppered(password, pepper.key) } as const;
  if (!(await passwordPool.run(work, source))) return "wrong";
  return atPolicy && pepper === peppers[0] ? "right" : "outdated";
}

/** Takes the time of a wrong password, for a user who does not exist or has none: both must answer alike. */
export async function spendPasswordCheck(
  password: string,
  pepper: Pepper,
  source?: string,
): Promise<"wrong"> {
  await hash(password, pepper, source);
  return "wrong";
}

const hash = (password: string, { key }: Pepper, source?: string): Promise<string> =>
  passwordPool.run({ op: "hash", password: peppered(password, key) }, source);

// Base64 because the library verifies text only.
function peppered(password: string, key: Uint8Array): string {
  const text = password.normalize("NFC");
  return createHmac("sha256", keyObject(key)).update(text, "utf8").digest("base64");
}

function meetsPolicy(phc: string): boolean {
  if (!phc.startsWith("$argon2id$")) throw broken();
  try {
    const cost = parseOptions(phc);
    return (
      cost.memoryCost >= argon2Policy.memoryCost &&
      cost.timeCost >= argon2Policy.timeCost &&
      cost.parallelism >= argon2Policy.parallelism &&
      cost.outputLen >= argon2Policy.outputLen
    );
  } catch (cause) {
    throw broken(cause);
  }
}

const broken = (cause?: unknown) => hashBroken("a stored password hash is not argon2id", cause);
