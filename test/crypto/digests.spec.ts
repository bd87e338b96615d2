// Run: shared
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import {
  datedToken,
  digestSecret,
  equalInConstantTime,
  randomToken,
  timeIn,
  tokenPrefixes,
} from "../../src/crypto/digests.ts";

const key = Buffer.alloc(32, 7);

describe("making random tokens", () => {
  it("has 256 random bits behind the prefix of its kind", () => {
    const token = randomToken(tokenPrefixes.personalAccessToken);
    assert.match(token, /^idsvc_pat_[A-Za-z0-9_-]{43}$/);
    assert.equal(Buffer.from(token.slice("idsvc_pat_".length), "base64url").length, 32);
  });
  it("is in the order of time where it is dated, and says of others nothing", () => {
    const times = [0, 1, 1_793_000_000_000, 1_793_000_000_001, 9_999_999_999_999];
    const tokens = times.map((ms) => datedToken(tokenPrefixes.accessToken, new Date(ms)));
    for (const token of tokens) assert.match(token, /^idsvc_at_[0-9a-z]{9}[\w-]{43}$/);
    const told = tokens.map(timeIn);
    assert.deepEqual(told.toSorted(), told);
    assert.equal(new Set(told).size, times.length);
    for (const other of ["", randomToken("idsvc_at_"), `${tokens[0]}x`, "a.b.c"]) {
      assert.equal(timeIn(other), "");
    }
  });
  it("never gives the same twice", () =>
    assert.equal(new Set(Array.from({ length: 1000 }, () => randomToken("idsvc_at_"))).size, 1000));
  it("has a prefix for each kind that no other kind starts with", () => {
    const prefixes = Object.values(tokenPrefixes);
    for (const one of prefixes)
      assert.deepEqual(
        prefixes.filter((other) => other.startsWith(one)),
        [one],
      );
  });
});

describe("storing a random secret", () => {
  it("keeps the keyed SHA-256 of it only", () =>
    assert.equal(
      digestSecret(key, "idsvc_at_x"),
      createHmac("sha256", key).update("idsvc_at_x").digest("hex"),
    ));
  it("is HMAC with SHA-256 (RFC 2104) for keys and texts of every length, in any order", () => {
    const keys = [0, 1, 32, 63, 64, 65, 200].map((length) => randomBytes(length));
    const texts = [0, 1, 50, 255, 256, 257, 4_095, 4_096, 4_097, 5_000].flatMap((length) => [
      "x".repeat(length),
      "\u{1F600}\u00e9".repeat(length / 6).padEnd(length, "~"),
      "\ud800".repeat(length / 3),
    ]);
    for (let round = 0; round < 2; round++) {
      for (const text of texts.toReversed().concat(texts)) {
        for (const each of keys) {
          const expected = createHmac("sha256", each).update(text, "utf8").digest("hex");
          assert.equal(digestSecret(each, text), expected);
        }
      }
    }
  });
  it("is another one for another secret and another key", () => {
    const digests = [
      digestSecret(key, "secret"),
      digestSecret(key, "Secret"),
      digestSecret(Buffer.alloc(32, 8), "secret"),
    ];
    assert.equal(new Set(digests).size, digests.length);
  });
  it("compares by value", () => {
    assert.ok(equalInConstantTime(Uint8Array.of(1, 2), Uint8Array.of(1, 2)));
    assert.ok(!equalInConstantTime(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
  });
});
