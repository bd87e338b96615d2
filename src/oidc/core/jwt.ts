import { hash, type KeyObject, sign } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import type { Awaitable } from "../../awaitable.ts";
import type { Signer } from "./key-ports.ts";

export const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/**
 * Signs claims (RFC 7515 section 3.1, RFC 7518, RFC 8037); those that are undefined are left out. RSA signs in another
 * thread, as it takes up to milliseconds; the others take less than handing them over would.
 */
export async function signJwt(
  signer: Signer,
  typ: string | undefined,
  claims: Record<string, unknown>,
): Promise<string> {
  const { kid, alg } = signer;
  const header = typ === undefined ? { alg, kid } : { alg, kid, typ };
  const input = `${encoded(header)}.${encoded(claims)}`;
  const signature = await signatureOf(signer, Buffer.from(input));
  return `${input}.${signature.toString("base64url")}`;
}

function signatureOf({ alg, key }: Signer, input: Buffer): Awaitable<Buffer> {
  // Ed25519 hashes by itself.
  if (alg === "EdDSA") return sign(undefined, input, key);
  if (alg.startsWith("RS")) return signElsewhere(digestOf(alg), input, key);
  // Node gives the encoding that JWTs have when it is asked for it, for more time than the whole signature takes.
  return fixedLength(sign(digestOf(alg), input, key), lengthOf(alg));
}

const lengthOf = (alg: string): number => (alg === "ES512" ? 66 : Number(alg.slice(2)) / 8);

/**
 * An ECDSA signature as JWTs hold it, both numbers with all their digits (RFC 7518 section 3.4), of one as others write it:
 * a SEQUENCE of two INTEGERs in DER (RFC 3279 section 2.2.3).
 */
function fixedLength(der: Buffer, length: number): Buffer {
  const both = Buffer.alloc(2 * length);
  // A SEQUENCE of more than 127 bytes says how long it is in a byte more.
  let at = der[1] === 0x81 ? 3 : 2;
  for (const end of [length, 2 * length]) {
    const digits = der.subarray(at + 2, (at += 2 + der.readUInt8(at + 1)));
    // An INTEGER drops zeros in front, and puts one where the number would look negative.
    const fitting = digits.subarray(Math.max(0, digits.length - length));
    both.set(fitting, end - fitting.length);
  }
  return both;
}

/**
 * Whether each part of a JWT is the one base64url spelling of its bytes (RFC 4648 section 3.5). Decoders forgive more, in
 * the signature too: a text that was changed there would still hold, and be another text.
 */
export const isCanonical = (jwt: string): boolean =>
  jwt.split(".").every((part) => Buffer.from(part, "base64url").toString("base64url") === part);

const inPool = promisify<string, Buffer, KeyObject, Buffer>(sign);
const mostTogether = 64;
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
  const whole = hash(`sha${size}`, token, "buffer");
  return whole.subarray(0, whole.length / 2).toString("base64url");
}
