import { createLocalJWKSet, type JSONWebKeySet, errors, type JWTPayload, jwtVerify } from "jose";
import { type Documents, lookAgainMs } from "./documents.ts";
import { answerInvalid, tokenInvalid } from "./refusals.ts";

// Only what proves who signed: no `none`, nothing with a shared secret.
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const toleranceSeconds = 60;
const oldestSeconds = 60 * 60;

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
      throw answerInvalid(tokenInvalid(whyNot(error)), error);
    }
    throw error;
  }
}

/** The claim that does not hold, else the code of the library. */
function whyNot(error: errors.JOSEError | TypeError): string {
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim;
  return error instanceof errors.JOSEError ? error.code : "no key set";
}
