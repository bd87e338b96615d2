import { argon2 } from "./argon2.ts";
import { bcrypt } from "./bcrypt.ts";
import { md5 } from "./md5.ts";
import { md5Crypt } from "./md5-crypt.ts";
import { pbkdf2 } from "./pbkdf2.ts";
import { drupal7, phpass } from "./phpass.ts";
import { HashRefusal, type ImportedHash, type Scheme } from "./scheme.ts";
import { scrypt } from "./scrypt.ts";
import { shaCrypt } from "./sha-crypt.ts";

const schemes: Scheme[] = [
  argon2,
  bcrypt,
  scrypt,
  pbkdf2,
  md5,
  md5Crypt,
  shaCrypt,
  phpass,
  drupal7,
];
const longestHash = 1_024;
// Some schemes take time by the square of the length.
const longestPassword = 1_024;

/**
 * Understands a hash of another system, without working on it.
 * @throws HashRefusal
 */
export function readImportedHash(encoded: string): ImportedHash {
  if (encoded.length > longestHash)
    throw new HashRefusal("PASSWORD_HASH_MALFORMED", `is longer than ${longestHash} characters`);
  // All forms are visible ASCII.
  if (/^[!-~]+$/.test(encoded)) {
    for (const scheme of schemes) {
      const read = scheme(encoded);
      if (read === undefined) continue;
      const { matches } = read;
      return { ...read, matches: (password) => isTypable(password) && matches(password) };
    }
  }
  throw new HashRefusal(
    "PASSWORD_HASH_UNKNOWN",
    "is of no known scheme; known are argon2, bcrypt, scrypt, pbkdf2, md5, md5-crypt, sha-crypt, phpass, drupal7",
  );
}

// NUL ends a password in some of the systems that made these hashes: it never stands for a shorter one.
const isTypable = (password: string): boolean =>
  !password.includes("\0") && Buffer.byteLength(password) <= longestPassword;
