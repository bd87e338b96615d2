import { createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

// A modulus with a factor as small as these was made by a broken generator, or to be factored.
const smallPrimes = [3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n, 43n, 47n, 53n];
const rsaBits = { made: 2048, least: 2048, most: 8192 };
const leastExponent = 3n;
const curves: readonly (string | undefined)[] = ["prime256v1", "secp384r1", "secp521r1"];
// Nothing else is read: of a private key or a certificate node:crypto would take the public one silently.
const publicPem =
  /^\s*-----BEGIN (RSA )?PUBLIC KEY-----[\s\w+/=]+-----END (RSA )?PUBLIC KEY-----\s*$/;

/** What is taken, in words for refusals. */
export const clientKeyKinds = `RSA of ${rsaBits.least} to ${rsaBits.most} bits, P-256, P-384, P-521 or Ed25519`;

/** A new pair of RSA keys of 2048 bits to sign assertions with; PEM in the forms PKCS#8 and SPKI. Made off the main thread. */
export async function newClientKeys(): Promise<{ privateKey: string; publicKey: string }> {
  const keys = await promisify(generateKeyPair)("rsa", { modulusLength: rsaBits.made });
  return {
    privateKey: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: keys.publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

/**
 * Reads a public key that assertions may be verified with: RSA of 2048 to 8192 bits, P-256, P-384, P-521 or Ed25519, as
 * PEM of `BEGIN PUBLIC KEY` or `BEGIN RSA PUBLIC KEY`. Gives it back as SPKI; undefined for everything else.
 */
export function readClientKey(pem: string): string | undefined {
  if (!publicPem.test(pem)) return undefined;
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    return undefined;
  }
  return isStrong(key) ? key.export({ type: "spki", format: "pem" }).toString() : undefined;
}

function isStrong(key: KeyObject): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = asymmetricKeyDetails ?? {};
  switch (asymmetricKeyType) {
    case "rsa":
      return (
        modulusLength >= rsaBits.least &&
        modulusLength <= rsaBits.most &&
        publicExponent >= leastExponent &&
        publicExponent % 2n === 1n &&
        isSoundModulus(key)
      );
    case "ec":
      return curves.includes(namedCurve);
    case "ed25519":
      return true;
    default:
      return false;
  }
}

/** Whether the modulus is a product of two large primes, as far as that can be seen: odd, and without a small factor. */
function isSoundModulus(key: KeyObject): boolean {
  const { n = "" } = key.export({ format: "jwk" });
  const modulus = BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`);
  return modulus % 2n === 1n && smallPrimes.every((prime) => modulus % prime !== 0n);
}
