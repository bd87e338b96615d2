import { createPublicKey } from "node:crypto";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { kidOf } from "./assertion.ts";
import { isCanonical, seconds } from "./jwt.ts";
import type { Actor, At, Ports } from "./ports.ts";

/** What an ID token of this instance says. */
export type IdToken = {
  /** `jti`; empty where it has none. */
  id: string;
  userId: string;
  /** Empty for that of a machine user. */
  clientId: string;
  /** The session of the user; empty where there was none. */
  sessionId: string;
  audience: readonly string[];
  authTime: Date | undefined;
  amr: readonly string[];
  acr: string | undefined;
  actor: Actor | undefined;
  isExpired: boolean;
};

// Far more than any ID token of ours.
const longest = 16_384;

/**
 * Reads an ID token that this instance has signed with a key that it still publishes, expired or not; whichever domain
 * of the instance was its issuer. Undefined for everything else, other JWTs of ours included.
 */
export async function readIdToken(
  { keys, now }: Pick<Ports, "keys" | "now">,
  at: At,
  jwt: string,
): Promise<IdToken | undefined> {
  if (jwt.length > longest || !isCanonical(jwt)) return undefined;
  const kid = kidOf(jwt);
  const published = (await keys.publicKeys(at)).find((each) => each.kid === kid);
  if (published === undefined) return undefined;
  let payload: Record<string, unknown>;
  try {
    // Access tokens and logout tokens say what they are.
    if (decodeProtectedHeader(jwt).typ !== undefined) return undefined;
    const key = createPublicKey({ key: { ...published }, format: "jwk" });
    const options = { algorithms: [published.alg], requiredClaims: ["sub", "aud", "exp"] };
    // Its time is looked at below: an expired one still names its user.
    ({ payload } = await jwtVerify(jwt, key, { ...options, currentDate: new Date(0) }));
  } catch {
    return undefined;
  }
  const { sub, azp = "", aud, jti, sid, exp, auth_time: authTime, amr, acr, act } = payload;
  if (typeof sub !== "string" || typeof azp !== "string" || typeof exp !== "number") {
    return undefined;
  }
  return {
    id: typeof jti === "string" ? jti : "",
    userId: sub,
    clientId: azp,
    sessionId: typeof sid === "string" ? sid : "",
    audience: [aud].flat().filter((each) => typeof each === "string"),
    authTime: typeof authTime === "number" ? new Date(authTime * 1000) : undefined,
    amr: Array.isArray(amr) ? amr.filter((each) => typeof each === "string") : [],
    acr: typeof acr === "string" ? acr : undefined,
    actor: isActor(act) ? act : undefined,
    isExpired: exp <= seconds(now()),
  };
}

function isActor(value: unknown): value is Actor {
  if (value === null || typeof value !== "object") return false;
  const { iss, sub, act } = value as Record<string, unknown>;
  return typeof iss === "string" && typeof sub === "string" && (act === undefined || isActor(act));
}
