import { hash } from "node:crypto";
import { SignJWT } from "jose";
import type { Signer } from "./ports.ts";

export const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** Signs claims; those that are undefined are left out. */
export function signJwt(
  { kid, alg, key }: Signer,
  typ: string | undefined,
  claims: Record<string, unknown>,
): Promise<string> {
  const header = typ === undefined ? { alg, kid } : { alg, kid, typ };
  const stated = Object.entries(claims).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(stated)).setProtectedHeader(header).sign(key);
}

/** The left half of the hash of a token, by the algorithm that signs beside it (OpenID Connect Core 1.0 section 3.1.3.6). */
export function halfHash(token: string, alg: string): string {
  // Ed25519 hashes with SHA-512.
  const size = alg === "EdDSA" ? "512" : alg.slice(2);
  const whole = Buffer.from(hash(`sha${size}`, token, "hex"), "hex");
  return whole.subarray(0, whole.length / 2).toString("base64url");
}
