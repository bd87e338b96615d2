import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from "jose";
import { isCanonical } from "./jwt.ts";

/** The algorithms that assertions may be signed with, by the kind of key. */
const algorithms: Record<string, readonly string[]> = {
  rsa: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
  ed25519: ["EdDSA"],
};
export const assertionAlgorithms: readonly string[] = Object.values(algorithms).flat();

const longestAssertion = 16_384;
const longestKid = 200;
const toleranceSeconds = 10;
const longestLifeSeconds = 60 * 60;

/**
 * What a verified assertion says. Without a `jti` of its own it goes by a digest of what is signed: of an ECDSA signature
 * anybody can make another one that holds.
 */
export type Assertion = {
  issuer: string | undefined;
  subject: string;
  jti: string | undefined;
  digest: string;
  expiresAt: Date;
};

/** What is wrong with an assertion: for the log, as answers do not tell it. */
export type Unproven = { unproven: string };

export const unproven = (why: string): Unproven => ({ unproven: `the assertion: ${why}` });
const tooLong = "it is valid for longer than an hour";

/** The subject that an assertion names, unverified. */
export function subjectOfAssertion(jwt: string): string | undefined {
  if (jwt.length > longestAssertion) return undefined;
  try {
    const { sub } = decodeJwt(jwt);
    return typeof sub === "string" && sub !== "" ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** The id of the key that an assertion names in its header, where it can be one. */
export function kidOf(jwt: string): string | undefined {
  if (jwt.length > longestAssertion) return undefined;
  try {
    const { kid } = decodeProtectedHeader(jwt);
    const isOne = typeof kid === "string" && /^[\x21-\x7e]+$/.test(kid) && kid.length <= longestKid;
    return isOne ? kid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a JWT that somebody else signed about themselves (RFC 7523 section 3): by the key that its `kid` names among
 * those of the one it is of, and by no other, whatever its header holds. Its audience is one of ours, and nobody else's;
 * it ends within an hour, and its times may be 10 seconds off.
 * @returns what is wrong with it, for the log alone
 */
export async function verifyAssertion(
  jwt: string,
  by: {
    /** A public key in PEM form. */
    keyOf: (kid: string) => Promise<string | undefined>;
    /** Is told of the key once its signature and all else has held. */
    used: (kid: string) => void;
    audiences: readonly string[];
    now: Date;
  },
): Promise<Assertion | Unproven> {
  const kid = kidOf(jwt);
  const pem = kid === undefined ? undefined : await by.keyOf(kid);
  if (kid === undefined || pem === undefined) return unproven("no key of the client has its kid");
  if (!isCanonical(jwt)) return unproven("it is no JWT in base64url");
  const key = keyObject(pem);
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const fitting = algorithms[asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? ""];
  if (fitting === undefined) return unproven("no algorithm goes with the key");
  let payload: Record<string, unknown>;
  try {
    const options = {
      algorithms: [...fitting],
      audience: [...by.audiences],
      currentDate: by.now,
      clockTolerance: toleranceSeconds,
      requiredClaims: ["exp", "sub", "aud"],
    };
    ({ payload } = await jwtVerify(jwt, key, options));
  } catch (error) {
    // Texts of the library name claims, and no values.
    return unproven(error instanceof errors.JOSEError ? error.message : "it is no JWT");
  }
  const { iss, sub, aud, exp, iat, jti } = payload;
  const now = by.now.getTime() / 1000;
  // To be meant for others as well is to be presented to them as well.
  if (Array.isArray(aud) && aud.length !== 1) return unproven("it is for several audiences");
  if (typeof sub !== "string" || sub === "" || typeof exp !== "number") {
    return unproven("it lacks sub or exp");
  }
  if (exp > now + longestLifeSeconds + toleranceSeconds) return unproven(tooLong);
  if (iat !== undefined) {
    if (typeof iat !== "number" || iat > now + toleranceSeconds) {
      return unproven("its iat is no time, or lies ahead");
    }
    if (exp - iat > longestLifeSeconds + toleranceSeconds) return unproven(tooLong);
  }
  if (jti !== undefined && (typeof jti !== "string" || jti === "")) {
    return unproven("its jti is no text");
  }
  by.used(kid);
  return {
    issuer: typeof iss === "string" ? iss : undefined,
    subject: sub,
    jti,
    digest: createHash("sha256")
      .update(jwt.slice(0, jwt.lastIndexOf(".")))
      .digest("base64url"),
    // It must be remembered for as long as it is taken.
    expiresAt: new Date((exp + toleranceSeconds + 1) * 1000),
  };
}

// A key is taken apart once for all assertions of its client.
const keys = new Map<string, KeyObject>();
const mostKeys = 1000;

function keyObject(pem: string): KeyObject {
  let key = keys.get(pem);
  if (key === undefined) {
    if (keys.size >= mostKeys) keys.clear();
    keys.set(pem, (key = createPublicKey(pem)));
  }
  return key;
}
