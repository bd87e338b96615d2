import { createLocalJWKSet, type JSONWebKeySet, errors, type JWTPayload, jwtVerify } from "jose";
import type { Documents } from "./documents.ts";
import { answerInvalid } from "./refusals.ts";

// Only what proves who signed: no `none`, nothing with a shared secret.
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
const toleranceSeconds = 60;
const oldestSeconds = 60 * 60;
// A key that is not known yet is looked for, but not by every forged token.
const lookAgainMs = 10_000;

/**
 * Proves that a token is signed by a key of the issuer, for the audience, and is of now: `exp` and `iat` are there, it is
 * at most an hour old, clocks may differ by a minute.
 *
 * @throws FAILED_PRECONDITION IDP_ANSWER_INVALID, UNAVAILABLE IDP_UNAVAILABLE
 */
export async function proveToken(
  { documents, now }: { documents: Documents; now: () => Date },
  token: string,
  wanted: { keysUrl: string; issuer: string; audience?: string },
): Promise<JWTPayload> {
  const { keysUrl, issuer, audience } = wanted;
  const verify = async (notBefore?: number) => {
    const keys = (await documents.json(keysUrl, notBefore)) as unknown as JSONWebKeySet;
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms,
      issuer,
      ...(audience === undefined ? {} : { audience }),
      currentDate: now(),
      clockTolerance: toleranceSeconds,
      maxTokenAge: oldestSeconds,
      requiredClaims: ["exp", "iat", "sub"],
    });
    return payload;
  };
  try {
    return await verify().catch((error: unknown) => {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return verify(now().getTime() - lookAgainMs);
    });
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) {
      const code = error instanceof errors.JOSEError ? error.code : "no key set";
      throw answerInvalid(`its token is not valid (${code})`, error);
    }
    throw error;
  }
}
