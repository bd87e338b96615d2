import { hash, type KeyObject, sign } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import type { Signer } from "./ports.ts";

export const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/**
 * Signs claims (RFC 7515 section 3.1, RFC 7518, RFC 8037); those that are undefined are left out. RSA signs in another
 * thread, as it takes up to milliseconds; the others take less than handing them over would.
 */
export async function signJwt(
  { kid, alg, key }: Signer,
  typ: string | undefined,
  claims: Record<string, unknown>,
): Promise<string> {
  const header = typ === undefined ? { alg, kid } : { alg, kid, typ };
  const input = `${encoded(header)}.${encoded(claims)}`;
  const signature = alg.startsWith("RS")
    ? await signElsewhere(digestOf(alg), Buffer.from(input), key)
    : // Only ECDSA knows two encodings; Ed25519 hashes by itself.
      sign(alg === "EdDSA" ? undefined : digestOf(alg), Buffer.from(input), {
        ...{ key, dsaEncoding: "ieee-p1363" },
      });
  return `${input}.${signature.toString("base64url")}`;
}

/**
 * Whether each part of a JWT is the one base64url spelling of its bytes (RFC 4648 section 3.5). Decoders forgive more, in
 * the signature too: a text that was changed there would still hold, and be another text.
 */
export const isCanonical = (jwt: string): boolean =>
  jwt.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part);

const inPool = promisify<string, Buffer, KeyObject, Buffer>(sign);
const mostTogether = 16;
let gathering: Promise<Buffer>[] | undefined;

/**
 * Signs in other threads. Signatures that are asked for in one turn are given out together: what is stored with them then
 * shares a flush of the disk, which takes longer than a signature.
 */
async function signElsewhere(digest: string, input: Buffer, key: KeyObject): Promise<Buffer> {
  const signature = inPool(digest, input, key);
  const group = (gathering ??= []);
  group.push(signature);
  if (group.length === mostTogether) gathering = undefined;
  await nextTurn();
  if (gathering === group) gathering = undefined;
  await Promise.allSettled(group);
  return signature;
}

const digestOf = (alg: string): string => `sha${alg.slice(2)}`;
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The left half of the hash of a token, by the algorithm that signs beside it (OpenID Connect Core 1.0 section 3.1.3.6). */
export function halfHash(token: string, alg: string): string {
  // Ed25519 hashes with SHA-512.
  const size = alg === "EdDSA" ? "512" : alg.slice(2);
  const whole = Buffer.from(hash(`sha${size}`, token, "hex"), "hex");
  return whole.subarray(0, whole.length / 2).toString("base64url");
}
