// Run: shared
// What every relying party checks first, asked of another implementation (jose).
import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { base64url, jwtVerify } from "jose";
import { signJwt } from "../../src/oidc/core/jwt.ts";

type Pair = { publicKey: KeyObject; privateKey: KeyObject };

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const curve = (namedCurve: string): Pair => generateKeyPairSync("ec", { namedCurve });

const algorithms: [alg: string, pair: Pair, signatures: number, bytes: number][] = [
  ["RS256", rsa, 3, 256],
  ["RS384", rsa, 3, 256],
  ["RS512", rsa, 3, 256],
  // So many that some numbers begin with zeros, which DER leaves out, and some look negative to it.
  ["ES256", curve("P-256"), 600, 64],
  ["ES384", curve("P-384"), 300, 96],
  ["ES512", curve("P-521"), 30, 132],
  ["EdDSA", generateKeyPairSync("ed25519"), 3, 64],
];

for (const [alg, { privateKey: key, publicKey }, signatures, bytes] of algorithms) {
  test(`RFC 7518 section 3: ${signatures} signatures by ${alg} hold, and have the length of the algorithm`, async () => {
    for (let n = 0; n < signatures; n++) {
      const jwt = await signJwt({ kid: "k", alg, key }, "at+jwt", { n, left: undefined });
      const { payload, protectedHeader } = await jwtVerify(jwt, publicKey, { algorithms: [alg] });
      assert.deepEqual(payload, { n });
      assert.deepEqual(protectedHeader, { alg, kid: "k", typ: "at+jwt" });
      assert.equal(base64url.decode(jwt.split(".")[2] ?? "").length, bytes);
    }
  });
}

test("RFC 7515 section 4.1: the header says the kind of token, where it has one", async () => {
  const key = curve("P-256");
  const signer = { kid: "k", alg: "ES256", key: key.privateKey };
  for (const typ of [undefined, "logout+jwt", undefined]) {
    const { protectedHeader } = await jwtVerify(await signJwt(signer, typ, {}), key.publicKey);
    assert.deepEqual(protectedHeader, { alg: "ES256", kid: "k", ...(typ && { typ }) });
  }
});
