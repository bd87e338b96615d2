import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";

type Algorithm = "ES256" | "EdDSA" | "RS256";
type Page = { origin: string; crossOrigin?: boolean };

/** What an authenticator and the browser before it may do otherwise than they should. */
export type Manner = {
  /** The model that it says, a UUID; none is all zeros. */
  model?: string;
  page?: Page;
  challenge?: string;
  rpId?: string;
  type?: string;
  isPresent?: boolean;
  isVerified?: boolean;
  signCount?: number;
  /** Of a registration: the RSA key it claims to have. */
  modulus?: Uint8Array;
  /** Of a registration. */
  attestation?: { fmt: string; attStmt: CborMap };
};

/**
 * An authenticator and a browser in software: it makes one credential (WebAuthn Level 3, 6), and answers as
 * `navigator.credentials` does, in the JSON form.
 */
export class Authenticator {
  readonly id = randomBytes(32).toString("base64url");
  readonly #pair: { publicKey: KeyObject; privateKey: KeyObject };
  readonly #algorithm: Algorithm;
  #signCount = 0;

  constructor(algorithm: Algorithm = "ES256") {
    this.#algorithm = algorithm;
    this.#pair = newPair(algorithm);
  }

  /** What `navigator.credentials.create` gives. */
  create(options: JsonObject, manner: Manner = {}): JsonObject {
    const { rp, challenge } = Object(options);
    const clientData = clientDataOf("webauthn.create", challenge, rp.id, manner);
    const { fmt, attStmt } = manner.attestation ?? { fmt: "none", attStmt: new Map() };
    const authData = Buffer.concat([
      this.#authenticatorData(manner.rpId ?? rp.id, 0x40, manner),
      Buffer.from((manner.model ?? "").replaceAll("-", "").padStart(32, "0"), "hex"),
      uint16(32),
      Buffer.from(this.id, "base64url"),
      cbor(
        manner.modulus ? rsaKey(manner.modulus) : coseKey(this.#algorithm, this.#pair.publicKey),
      ),
    ]);
    const object = new Map<string, Cbor>([
      ["fmt", fmt],
      ["attStmt", attStmt],
      ["authData", authData],
    ]);
    return this.#answer(clientData, {
      attestationObject: cbor(object).toString("base64url"),
      transports: ["internal", "hybrid"],
    });
  }

  /** What `navigator.credentials.get` gives. */
  get(options: JsonObject, manner: Manner = {}): JsonObject {
    const { rpId, challenge } = Object(options);
    const clientData = clientDataOf("webauthn.get", challenge, rpId, manner);
    this.#signCount += 1;
    const authData = this.#authenticatorData(manner.rpId ?? rpId, 0, manner);
    const signed = Buffer.concat([authData, createHash("sha256").update(clientData).digest()]);
    const digest = this.#algorithm === "EdDSA" ? null : "sha256";
    const signature = sign(digest, signed, this.#pair.privateKey);
    return this.#answer(clientData, {
      authenticatorData: authData.toString("base64url"),
      signature: signature.toString("base64url"),
    });
  }

  #answer(clientData: Buffer, more: JsonObject): JsonObject {
    const response = { clientDataJSON: clientData.toString("base64url"), ...more };
    return {
      id: this.id,
      rawId: this.id,
      type: "public-key",
      clientExtensionResults: {},
      response,
    };
  }

  #authenticatorData(rpId: string, flags: number, manner: Manner): Buffer {
    const { isPresent = true, isVerified = true, signCount = this.#signCount } = manner;
    return Buffer.concat([
      createHash("sha256").update(rpId).digest(),
      Buffer.from([flags | Number(isPresent) | (Number(isVerified) << 2)]),
      uint32(signCount),
    ]);
  }
}

function clientDataOf(type: string, challenge: string, rpId: string, manner: Manner): Buffer {
  const { origin, crossOrigin = false } = manner.page ?? { origin: `https://${rpId}` };
  const said = { type: manner.type ?? type, challenge: manner.challenge ?? challenge };
  return Buffer.from(JSON.stringify({ ...said, origin, crossOrigin }));
}

function newPair(algorithm: Algorithm) {
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519");
  if (algorithm === "RS256") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

const rsaKey = (modulus: Uint8Array): CborMap =>
  new Map<number, Cbor>([
    [1, 3],
    [3, -257],
    [-1, modulus],
    [-2, Buffer.from([1, 0, 1])],
  ]);

// COSE (RFC 9053): 1 kty, 3 alg, then what the type of key has.
function coseKey(algorithm: Algorithm, key: KeyObject): CborMap {
  const { x = "", y = "", n = "", e = "" } = key.export({ format: "jwk" });
  const bytes = (text: string) => Buffer.from(text, "base64url");
  const common = (kty: number, alg: number): [number, Cbor][] => [
    [1, kty],
    [3, alg],
  ];
  switch (algorithm) {
    case "ES256":
      return new Map<number, Cbor>([...common(2, -7), [-1, 1], [-2, bytes(x)], [-3, bytes(y)]]);
    case "EdDSA":
      return new Map<number, Cbor>([...common(1, -8), [-1, 6], [-2, bytes(x)]]);
    case "RS256":
      return new Map<number, Cbor>([...common(3, -257), [-1, bytes(n)], [-2, bytes(e)]]);
  }
}

type CborMap = Map<string | number, Cbor>;
type Cbor = number | string | Uint8Array | Cbor[] | CborMap;

/** As much of CBOR (RFC 8949) as authenticators write. */
function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  const entries = [...value].flatMap(([key, one]) => [cbor(key), cbor(one)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

function head(major: number, count: number): Buffer {
  const type = major << 5;
  if (count < 24) return Buffer.from([type | count]);
  if (count < 256) return Buffer.from([type | 24, count]);
  return Buffer.concat([Buffer.from([type | 25]), uint16(count)]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
