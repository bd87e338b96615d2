import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";

const name = "operator";

/** A system caller as the configuration knows them, and the tokens that they sign themselves (B5). */
export function systemCaller() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = String(publicKey.export({ type: "spki", format: "pem" }));
  return {
    env: { IDSVC_SYSTEM_CALLERS: JSON.stringify({ [name]: pem }) },
    tokenFor: (issuer: string | string[], now = new Date(), lifeMs = 300_000): Promise<string> =>
      new SignJWT()
        .setProtectedHeader({ alg: "ES256" })
        .setIssuer(name)
        .setSubject(name)
        .setAudience(issuer)
        .setIssuedAt(now)
        .setExpirationTime(new Date(now.getTime() + lifeMs))
        .sign(privateKey),
  };
}
