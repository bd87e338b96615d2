// Run: shared, costly
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { hash } from "@node-rs/argon2";
import {
  hashPassword,
  spendPasswordCheck,
  verifyPassword,
} from "../../src/crypto/password-hash.ts";
import { DomainError } from "../../src/errors.ts";

const old = { keyId: "p1", key: Buffer.alloc(32, 1) };
const current = { keyId: "p2", key: Buffer.alloc(32, 2) };
const refused = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof DomainError);
  assert.equal(error.kind, "internal");
  assert.equal(error.reason, reason);
  return true;
};

describe("hashing a password", () => {
  it("is argon2id with 19 MiB, 2 passes and 1 lane, and names its pepper", async () => {
    const stored = await hashPassword("correct horse", current);
    assert.match(stored.phc, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.equal(stored.pepperKeyId, "p2");
  });
  it("salts: the same password never hashes to the same text", async () =>
    assert.notDeepEqual(await hashPassword("same", current), await hashPassword("same", current)));
});

describe("verifying a password", () => {
  it("tells right from wrong", async () => {
    const stored = await hashPassword("correct horse", current);
    assert.equal(await verifyPassword("correct horse", stored, [current]), "right");
    assert.equal(await verifyPassword("correct horsf", stored, [current]), "wrong");
    assert.equal(await verifyPassword("", stored, [current]), "wrong");
  });
  it("looks at every character: no cut at 72 bytes, none at NUL", async () => {
    const long = await hashPassword("x".repeat(100), current);
    assert.equal(await verifyPassword("x".repeat(99), long, [current]), "wrong");
    const nul = await hashPassword("a\0b", current);
    assert.equal(await verifyPassword("a\0c", nul, [current]), "wrong");
  });
  it("takes composed and decomposed characters for the same", async () => {
    const stored = await hashPassword("Stra\u00dfe \u00e9", current);
    assert.equal(await verifyPassword("Stra\u00dfe e\u0301", stored, [current]), "right");
  });
  it("needs the pepper: the same password under another key is wrong", async () => {
    const stored = await hashPassword("secret", old);
    const forged = { phc: stored.phc, pepperKeyId: "p2" };
    assert.equal(await verifyPassword("secret", forged, [current]), "wrong");
  });
  it("asks for a new hash after the pepper was rotated", async () => {
    const stored = await hashPassword("secret", old);
    assert.equal(await verifyPassword("secret", stored, [current, old]), "outdated");
    assert.equal(await verifyPassword("wrong", stored, [current, old]), "wrong");
  });
  it("asks for a new hash when the cost is below policy", async () => {
    const stored = await hashPassword("secret", current);
    const peppered = createHmac("sha256", current.key).update("secret").digest("base64");
    for (const cost of [
      { memoryCost: 19_455, timeCost: 2 },
      { memoryCost: 19_456, timeCost: 1 },
      { memoryCost: 19_456, timeCost: 2, outputLen: 31 },
    ]) {
      const weak = { ...stored, phc: await hash(peppered, cost) };
      assert.equal(await verifyPassword("secret", weak, [current]), "outdated", weak.phc);
    }
  });
  it("fails closed when the pepper is lost", async () => {
    const stored = await hashPassword("secret", old);
    await assert.rejects(
      verifyPassword("secret", stored, [current]),
      refused("PASSWORD_PEPPER_MISSING"),
    );
  });
  it("fails closed when the stored text is no argon2id hash", async () => {
    for (const phc of [
      "",
      "secret",
      "$argon2id$",
      "$argon2i$v=19$m=19456,t=2,p=1$YWFhYWFhYWE$YWFhYWFhYWE",
    ])
      await assert.rejects(
        verifyPassword("secret", { phc, pepperKeyId: "p2" }, [current]),
        refused("PASSWORD_HASH_BROKEN"),
      );
  });
  it("spends the same work on a user who does not exist", async () =>
    assert.equal(await spendPasswordCheck("secret", current), "wrong"));
});
