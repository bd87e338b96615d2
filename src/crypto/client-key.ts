import { createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

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

function isStrong({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = asymmetricKeyDetails ?? {};
  switch (asymmetricKeyType) {
    case "rsa":
      return (
        modulusLength >= rsaBits.least &&
        modulusLength <= rsaBits.most &&
        publicExponent >= leastExponent
      );
    case "ec":
      return curves.includes(namedCurve);
    case "ed25519":
      return true;
    default:
      return false;
  }
}
