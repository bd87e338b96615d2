import { hash, timingSafeEqual } from "node:crypto";

/** Whether a text can be a challenge of the method S256 (RFC 7636 section 4.2): a SHA-256 hash in base64url. */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/**
 * Whether a verifier proves a challenge (RFC 7636 section 4.6). None is needed where no challenge was sent, and none may
 * come then: somebody has taken the challenge away.
 */
export function provesChallenge(
  challenge: string | undefined,
  verifier: string | undefined,
): boolean {
  if (challenge === undefined || verifier === undefined) return challenge === verifier;
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const proven = Buffer.from(hash("sha256", verifier, "base64url"));
  const wanted = Buffer.from(challenge);
  return proven.length === wanted.length && timingSafeEqual(proven, wanted);
}
