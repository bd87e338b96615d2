import { invalidField } from "../errors.ts";
import { readImportedHash } from "./imported-hash/read.ts";
import { HashRefusal } from "./imported-hash/scheme.ts";
import { passwordPool } from "./password-pool.ts";
import { hashBroken } from "./password-policy.ts";

/**
 * Makes sure that a hash which another system made can be verified here, at a bearable cost: two seconds at most.
 *
 * | Scheme | Form |
 * |---|---|
 * | argon2i, argon2d, argon2id | PHC string |
 * | bcrypt | `$2a$`, `$2b$`, `$2y$` |
 * | scrypt | `$scrypt$ln=..,r=..,p=..$salt$hash`, the same with `$7$`, and `$7$` of crypt(3) |
 * | PBKDF2 with SHA-1, -224, -256, -384, -512 | `$pbkdf2-sha256$iterations$salt$hash` |
 * | MD5 | 32 hexadecimal digits, `$md5salted-prefix$salt$hash`, `$md5salted-suffix$salt$hash` |
 * | MD5-crypt | `$1$`, `$apr1$` |
 * | SHA-crypt | `$5$`, `$6$` |
 * | phpass, Drupal 7 | `$P$`, `$H$`; `$S$` |
 *
 * Nothing is computed, so that any text is judged at once (D59). Source: G3.
 * @throws INVALID_ARGUMENT PASSWORD_HASH_UNKNOWN, PASSWORD_HASH_MALFORMED, PASSWORD_HASH_TOO_COSTLY
 */
export function checkImportedHash(encoded: string, field: string): void {
  try {
    readImportedHash(encoded);
  } catch (error) {
    if (error instanceof HashRefusal) throw invalidField(field, error.reason, error.message);
    throw error;
  }
}

/**
 * Whether a password is the one of an imported hash, byte by byte as it was typed; the work runs in the password pool.
 * Hash a right one anew (`hashPassword`) while it is at hand.
 *
 * @throws INTERNAL PASSWORD_HASH_BROKEN for a hash that `checkImportedHash` refuses
 * @throws UNAVAILABLE PASSWORD_HASHING_BUSY
 */
export async function verifyImportedHash(
  password: string,
  encoded: string,
  source?: string,
): Promise<boolean> {
  try {
    readImportedHash(encoded);
  } catch (cause) {
    throw hashBroken("a stored password hash cannot be read", cause);
  }
  return passwordPool.run({ op: "verifyImported", password, encoded }, source);
}
