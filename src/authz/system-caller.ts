import { createPublicKey, type KeyObject } from "node:crypto";
import { decodeJwt, jwtVerify } from "jose";
import { unauthenticated } from "../errors.ts";
import type { TokenVerifier } from "./ports.ts";

const algorithms = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"];
const longestLifeSeconds = 3600;
const clockToleranceSeconds = 10;

/**
 * Recognises the self-signed tokens of system callers (decisions B5): a JWT whose `iss` and `sub` are the caller's
 * configured name, signed with his configured key, made for this issuer, living at most an hour.
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
  return async (token, { issuer }) => {
    const name = keys.size === 0 ? undefined : namedBy(token);
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
      const { iat = 0, exp = Number.POSITIVE_INFINITY } = payload;
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
}

function namedBy(token: string): string | undefined {
  if (token.split(".").length !== 3) return undefined;
  try {
    return decodeJwt(token).iss;
  } catch {
    // No JWT: a token of another kind.
    return undefined;
  }
}
