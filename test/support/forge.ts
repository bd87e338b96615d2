import { createHmac, createPrivateKey, sign } from "node:crypto";

type Part = Record<string, unknown>;

const encode = (part: Part | string): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

/** A JWT put together by hand, so that it can be wrong in any way. RS256 by default, whatever the header says. */
export function forgeJwt(
  header: Part | string,
  claims: Part | string,
  privateKey: string,
  algorithm = "sha256",
): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = sign(algorithm, Buffer.from(input), createPrivateKey(privateKey));
  return `${input}.${signature.toString("base64url")}`;
}

/** A JWT whose signature is an HMAC under whatever text or bytes. */
export function forgeHmac(header: Part, claims: Part, key: string | Uint8Array): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const size = String(header["alg"]).slice(2);
  return `${input}.${createHmac(`sha${size}`, key).update(input).digest("base64url")}`;
}

/** A JWT with a signature of one's own choice. */
export const unsignedJwt = (header: Part, claims: Part, signature = ""): string =>
  `${encode(header)}.${encode(claims)}.${signature}`;
