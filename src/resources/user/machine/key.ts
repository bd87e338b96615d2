import { createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { invalidField } from "../../../errors.ts";

const generate = promisify(generateKeyPair);
const leastBits = 2048;
const mostBits = 8192;
const leastExponent = 3n;
const curves: ReadonlySet<string | undefined> = new Set(["prime256v1", "secp384r1", "secp521r1"]);
// Nothing else is read: of a private key or a certificate node:crypto would take the public one silently.
const publicPem =
  /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[\s\w+/=]+-----END (RSA )?PUBLIC KEY-----\s*$/;

/**
 * The public key as it is kept: SPKI in PEM form. RSA of 2048 to 8192 bits, EC on P-256, P-384 or P-521, or Ed25519.
 *
 * @throws INVALID_ARGUMENT PUBLIC_KEY_INVALID
 */
export function readPublicKey(pem: string, field: string): string {
  const key = publicPem.test(pem) ? parsed(pem) : undefined;
  if (key === undefined || !isStrong(key)) {
    throw invalidField(
      field,
      "PUBLIC_KEY_INVALID",
      `must be a public key in PEM form: RSA of ${leastBits} to ${mostBits} bits, EC on P-256, P-384 or P-521, or Ed25519`,
    );
  }
  return String(key.export({ type: "spki", format: "pem" }));
}

/** A new RSA key; the private half is PKCS #8 in PEM form. */
export async function newKeyPair(): Promise<{ publicKey: string; privateKey: string }> {
  return generate("rsa", {
    modulusLength: leastBits,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

function parsed(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    // Whatever it is, it is no key; the refusal says what would be one.
    return undefined;
  }
}

function isStrong({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = asymmetricKeyDetails;
  switch (asymmetricKeyType) {
    case "rsa":
      return (
        modulusLength >= leastBits && modulusLength <= mostBits && publicExponent >= leastExponent
      );
    case "ec":
      return curves.has(namedCurve);
    default:
      return asymmetricKeyType === "ed25519";
  }
}
