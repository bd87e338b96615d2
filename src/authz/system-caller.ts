import { createPublicKey, type KeyObject } from "node:crypto";
import type { decodeJwt as DecodeJwt } from "jose";
import { unauthenticated } from "../errors.ts";
import type { Caller } from "./context.ts";
import type { TokenVerifier } from "./ports.ts";

const algorithms = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"];
const longestLifeSeconds = 3600;
const clockToleranceSeconds = 10;

/**
 * Recognises the self-signed tokens of system callers (B5): a JWT whose `iss` and `sub` are the caller's
 * configured name, signed with their configured key, made for this issuer, living at most an hour.
 *
 * @throws UNAUTHENTICATED SYSTEM_TOKEN_INVALID for a token that names a caller and does not hold
 */
export function systemCallers(
  callers: readonly { name: string; publicKey: string }[],
  now: () => Date,
): TokenVerifier {
  const keys = new Map<string, KeyObject>(
    callers.map(({ name, publicKey }) => [name, createPublicKey(publicKey)]),
  );
  const verify = async (token: string, issuer: string): Promise<Caller | undefined> => {
    // Loaded for the first token that could be one: most services never see any.
    const { decodeJwt, jwtVerify } = await import("jose");
    const name = namedBy(token, decodeJwt);
    const key = name === undefined ? undefined : keys.get(name);
    if (name === undefined || key === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms,
        issuer: name,
        subject: name,
        audience: issuer,
        requiredClaims: ["exp", "iat"],
        maxTokenAge: longestLifeSeconds,
        clockTolerance: clockToleranceSeconds,
        currentDate: now(),
      });
      const { iat = 0, exp = Number.POSITIVE_INFINITY, aud } = payload;
      // To be meant for others as well is to be presented to them as well.
      if (Array.isArray(aud) && aud.length !== 1) throw new Error("the token has two audiences");
      if (exp - iat > longestLifeSeconds) throw new Error("the token lives longer than an hour");
    } catch (cause) {
      throw unauthenticated(
        "SYSTEM_TOKEN_INVALID",
        "the token of the system caller does not hold",
        {
          cause,
          headers: { "www-authenticate": 'Bearer error="invalid_token"' },
        },
      );
    }
    return { kind: "system", name };
  };
  return (token, { issuer }) =>
    keys.size === 0 || token.split(".").length !== 3 ? undefined : verify(token, issuer);
}

function namedBy(token: string, decodeJwt: typeof DecodeJwt): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    // No JWT: a token of another kind.
    return undefined;
  }
}
