// Run: shared
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { describe, it } from "node:test";
import { newClientKeys, readClientKey } from "../../src/crypto/client-key.ts";

const spki = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength });
const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).publicKey;
const { publicKey, privateKey } = rsa(2048);

describe("a new pair of client keys", () => {
  it("signs with the one what the other verifies, and is RSA of 2048 bits", async () => {
    const made = await newClientKeys();
    const key = createPublicKey(made.publicKey);
    assert.deepEqual(
      [key.asymmetricKeyType, key.asymmetricKeyDetails?.modulusLength],
      ["rsa", 2048],
    );
    const message = Buffer.from("m");
    assert.ok(verify("sha256", message, key, sign("sha256", message, made.privateKey)));
    assert.match(made.privateKey, /^-----BEGIN PRIVATE KEY-----/);
    assert.equal(readClientKey(made.publicKey), made.publicKey);
  });
});

const base64url = (value: bigint) => {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex").toString("base64url");
};
const rsaOf = (n: bigint, e = 65_537n) =>
  createPublicKey({ key: { kty: "RSA", n: base64url(n), e: base64url(e) }, format: "jwk" });
const modulus = BigInt(
  `0x${Buffer.from(String(publicKey.export({ format: "jwk" }).n), "base64url").toString("hex")}`,
);

describe("D92: reading a client key (J18)", () => {
  const good: [string, KeyObject][] = [
    ["RSA of 2048 bits", publicKey],
    ["RSA of 4096 bits", rsa(4096).publicKey],
    ["P-256", ec("P-256")],
    ["P-384", ec("P-384")],
    ["P-521", ec("P-521")],
    ["Ed25519", generateKeyPairSync("ed25519").publicKey],
  ];
  for (const [what, key] of good) {
    it(`takes ${what}`, () => assert.equal(readClientKey(spki(key)), spki(key)));
  }

  it("gives PKCS#1 back as SPKI", () => {
    const pkcs1 = publicKey.export({ type: "pkcs1", format: "pem" }).toString();
    assert.match(pkcs1, /BEGIN RSA PUBLIC KEY/);
    assert.equal(readClientKey(pkcs1), spki(publicKey));
  });

  const bad: [string, string][] = [
    ["RSA of 1024 bits", spki(rsa(1024).publicKey)],
    ["another curve", spki(ec("secp256k1"))],
    ["X25519, which cannot sign", spki(generateKeyPairSync("x25519").publicKey)],
    ["RSA bound to PSS", spki(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).publicKey)],
    ["a private key", privateKey.export({ type: "pkcs8", format: "pem" }).toString()],
    ["a private key of PKCS#1", privateKey.export({ type: "pkcs1", format: "pem" }).toString()],
    ["a key that is cut short", spki(publicKey).slice(0, 200)],
    ["RSA with an even modulus", spki(rsaOf((1n << 2047n) + 2n))],
    ["RSA with a modulus that three divides", spki(rsaOf(3n * ((1n << 2047n) + 1n)))],
    ["RSA with an even exponent", spki(rsaOf(modulus, 65_536n))],
    ["text", "key"],
    ["nothing", ""],
  ];
  for (const [what, pem] of bad) {
    it(`refuses ${what}`, () => assert.equal(readClientKey(pem), undefined));
  }
});
