import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { unavailable } from "../errors.ts";

/** What a signing key is made from; the algorithm of RFC 7518 or RFC 8037 follows from it. */
export type SigningKeyConfig =
  | { type: "rsa"; bits: 2048 | 3072 | 4096; hasher: "SHA256" | "SHA384" | "SHA512" }
  | { type: "ecdsa"; curve: "P256" | "P384" | "P521" }
  | { type: "ed25519" };

export const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** The public members of a JWK (RFC 7517), without the ones that say what it is for. */
export type PublicJwk =
  | { kty: "RSA"; n: string; e: string }
  | { kty: "EC"; crv: string; x: string; y: string }
  | { kty: "OKP"; crv: string; x: string };

/** `privateKey` is PKCS#8 in DER: it must be sealed before it is stored. */
export type SigningKey = {
  config: SigningKeyConfig;
  publicKey: PublicJwk;
  privateKey: Uint8Array;
};

const rsaAlgorithms = { SHA256: "RS256", SHA384: "RS384", SHA512: "RS512" } as const;
const ecAlgorithms = { P256: "ES256", P384: "ES384", P521: "ES512" } as const;
const curves = { P256: "P-256", P384: "P-384", P521: "P-521" } as const;
const mostWaiting = 16;

export function algorithmOf(config: SigningKeyConfig): SigningAlgorithm {
  switch (config.type) {
    case "rsa":
      return rsaAlgorithms[config.hasher];
    case "ecdsa":
      return ecAlgorithms[config.curve];
    case "ed25519":
      return "EdDSA";
  }
}

/** The smallest key of an algorithm. */
export function configOf(algorithm: SigningAlgorithm): SigningKeyConfig {
  for (const hasher of ["SHA256", "SHA384", "SHA512"] as const) {
    if (rsaAlgorithms[hasher] === algorithm) return { type: "rsa", bits: 2048, hasher };
  }
  for (const curve of ["P256", "P384", "P521"] as const) {
    if (ecAlgorithms[curve] === algorithm) return { type: "ecdsa", curve };
  }
  return { type: "ed25519" };
}

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Makes a key off the main thread, one at a time: a large RSA key takes a core for seconds, and the threads of the
 * process have other work.
 * @throws UNAVAILABLE KEY_MAKER_BUSY when 16 others wait
 */
export async function newSigningKey(config: SigningKeyConfig): Promise<SigningKey> {
  if (waiting >= mostWaiting) {
    throw unavailable("KEY_MAKER_BUSY", "too many keys are being made: try again", {
      retryAfterSeconds: 5,
    });
  }
  waiting += 1;
  const made = last.then(() => generate(config));
  last = made.catch(() => undefined);
  try {
    const { publicKey, privateKey } = await made;
    return {
      config,
      publicKey: publicMembers(publicKey),
      privateKey: privateKey.export({ type: "pkcs8", format: "der" }),
    };
  } finally {
    waiting -= 1;
  }
}

/** The key to sign with, from what `newSigningKey` gave. */
export const readSigningKey = (der: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(der), type: "pkcs8", format: "der" });

function generate(config: SigningKeyConfig) {
  const make = promisify(generateKeyPair);
  switch (config.type) {
    case "rsa":
      return make("rsa", { modulusLength: config.bits });
    case "ecdsa":
      return make("ec", { namedCurve: curves[config.curve] });
    case "ed25519":
      return make("ed25519");
  }
}

/** Named one by one: nothing that a library adds to a JWK gets out by itself. */
function publicMembers(key: KeyObject): PublicJwk {
  const { kty, crv = "", n = "", e = "", x = "", y = "" } = key.export({ format: "jwk" });
  if (kty === "RSA") return { kty, n, e };
  if (kty === "EC") return { kty, crv, x, y };
  return { kty: "OKP", crv, x };
}
