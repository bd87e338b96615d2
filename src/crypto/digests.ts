import { createHmac, randomFillSync, timingSafeEqual } from "node:crypto";
import { keyObject } from "./key-object.ts";

/** What a token starts with: leak scanners find it, and no reader takes one kind for another. */
export const tokenPrefixes = {
  accessToken: "idsvc_at_",
  refreshToken: "idsvc_rt_",
  personalAccessToken: "idsvc_pat_",
  sessionToken: "idsvc_st_",
  clientSecret: "idsvc_cs_",
  authorizationCode: "idsvc_ac_",
  deviceCode: "idsvc_dc_",
  idpIntent: "idsvc_idp_",
  signingKey: "idsvc_sk_",
  verification: "idsvc_vc_",
} as const;

export type TokenPrefix = (typeof tokenPrefixes)[keyof typeof tokenPrefixes];

/** A new secret of 256 random bits: the prefix of its kind, then 43 characters of base64url. */
export const randomToken = (prefix: TokenPrefix): string => prefix + random();

const secretBytes = 32;
const pool = Buffer.alloc(128 * secretBytes);
let used = pool.length;

// Random bytes are drawn for many secrets at once, which is several times as quick. What was given out does not stay here.
function random(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const drawn = pool.subarray(used, (used += secretBytes));
  const text = drawn.toString("base64url");
  drawn.fill(0);
  return text;
}

const timeDigits = 9;
const dated = new RegExp(`^idsvc_[a-z]{2}_([0-9a-z]{${timeDigits}})[\\w-]{43}$`);

/**
 * A new secret that also tells when it was made: the prefix of its kind, nine digits to the base 36 of the milliseconds,
 * then 256 random bits in 43 characters of base64url. Where many are stored the new ones stand together, and share pages.
 */
export const datedToken = (prefix: TokenPrefix, at: Date): string =>
  prefix + at.getTime().toString(36).padStart(timeDigits, "0") + random();

/** The digits by which secrets are in the order in which they were made; nothing of others. */
export const timeIn = (secret: string): string => dated.exec(secret)?.[1] ?? "";

/**
 * The keyed SHA-256 digest, in 64 hexadecimal digits, under which a random secret is stored and found.
 *
 * Only for secrets of full entropy (`randomToken`): whoever lacks the key learns nothing from a stolen table, but a
 * password needs `hashPassword`.
 */
export const digestSecret = (key: Uint8Array, secret: string): string =>
  createHmac("sha256", keyObject(key)).update(secret, "utf8").digest("hex");

/** Compares two values of public length without telling by its duration where they differ. */
export function equalInConstantTime(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
