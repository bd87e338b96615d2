import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from "jose";
import { isCanonical } from "../jwt.ts";
import type { Keys } from "../key-ports.ts";
import type { At } from "../ports.ts";

/** What an ID token says that was sent back to us: its user, their session, and whom it was made for. */
export type Hint = { userId: string; sessionId: string | undefined; clientId: string | undefined };

const longest = 16_384;
const decoder = new TextDecoder();

/** For the log: what an app may take for a hint. */
export const hintIgnored = "the id_token_hint is no ID token of this instance: it was ignored";

/** Whether a text has the form of a JWT, of whomever: a header, and claims unless it is encrypted, as JSON objects. */
export function isJwt(token: string): boolean {
  if (token.length > longest) return false;
  const parts = token.split(".");
  // RFC 7515 section 3.1, RFC 7516 section 3.1.
  if (parts.length !== 3 && parts.length !== 5) return false;
  return (
    objectIn(parts[0]) !== undefined && (parts.length === 5 || objectIn(parts[1]) !== undefined)
  );
}

/** The JSON object in a part of a JWT, proven by nothing. */
export function objectIn(part = ""): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads an ID token that this instance issued, also one that has expired: it is a hint and opens nothing (OpenID Connect
 * Core 1.0 section 3.1.2.2). Undefined for everything else, access tokens and logout tokens included.
 */
export async function readIdTokenHint(
  keys: Keys,
  at: At,
  token: string | undefined,
): Promise<Hint | undefined> {
  if (token === undefined || token.length > longest || !isCanonical(token)) return undefined;
  try {
    const { kid, alg, typ = "JWT" } = decodeProtectedHeader(token);
    if (typ !== "JWT") return undefined;
    const key = (await keys.publicKeys(at)).find((each) => each.kid === kid && each.alg === alg);
    if (key === undefined) return undefined;
    const { payload } = await compactVerify(token, await importJWK(key as JWK, key.alg), {
      algorithms: [key.alg],
    });
    const claims: Record<string, unknown> = JSON.parse(decoder.decode(payload));
    const { iss } = claims;
    if (typeof iss !== "string" || !(await keys.isIssuer(at, iss))) return undefined;
    return hintOf(claims);
  } catch {
    return undefined;
  }
}

function hintOf(claims: Record<string, unknown>): Hint | undefined {
  const { sub, sid, azp, aud } = claims;
  if (typeof sub !== "string" || "events" in claims) return undefined;
  const audience = Array.isArray(aud) ? aud[0] : aud;
  const client = azp ?? audience;
  return {
    userId: sub,
    sessionId: typeof sid === "string" ? sid : undefined,
    clientId: typeof client === "string" ? client : undefined,
  };
}
