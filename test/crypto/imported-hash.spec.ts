// Run: shared, costly
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkImportedHash, verifyImportedHash } from "../../src/crypto/imported-hash.ts";
import { readImportedHash } from "../../src/crypto/imported-hash/read.ts";
import { DomainError } from "../../src/errors.ts";
import { threadMs } from "../../src/storage/thread-time.ts";
import { processorMs } from "../support/processor-time.ts";
import { vectors } from "./imported-hash-vectors.ts";

const field = "hashed_password.value";

function refuses(encoded: string, reason: string): void {
  const began = threadMs();
  assert.throws(
    () => checkImportedHash(encoded, field),
    (error) => {
      assert.ok(error instanceof DomainError, String(error));
      assert.deepEqual([error.code, error.reason], [3, reason], error.message);
      assert.equal(error.violations[0]?.field, field);
      assert.ok(error.message.length < 300, "it does not repeat the hash");
      return true;
    },
    encoded.slice(0, 80),
  );
  const took = threadMs() - began;
  assert.ok(took < 50, `${took} ms`);
}

describe("verifying a hash of another system (G3)", () => {
  for (const { scheme, password, encoded } of vectors) {
    it(`knows the password of ${encoded.slice(0, 60)}`, async () => {
      checkImportedHash(encoded, field);
      assert.equal(readImportedHash(encoded).scheme, scheme);
      assert.equal(await verifyImportedHash(password, encoded), true);
      assert.equal(await verifyImportedHash(`${password}x`, encoded), false);
      assert.equal(await verifyImportedHash(`${password}\0`, encoded), false);
      assert.equal(await verifyImportedHash(password.toUpperCase() || "X", encoded), false);
      if (password !== "") {
        assert.equal(await verifyImportedHash("", encoded), false);
        assert.equal(await verifyImportedHash(password.slice(0, -1), encoded), false);
      }
    });
  }
  it("D59: bcrypt never matches a password that it would cut at 72 bytes or at NUL", async () => {
    const [full] = vectors.filter(({ password }) => password === "y".repeat(72));
    assert.ok(full);
    const { encoded } = full;
    assert.equal(await verifyImportedHash("y".repeat(72), encoded), true);
    for (const longer of ["y".repeat(73), `${"y".repeat(72)}z`, `${"y".repeat(72)}\0`])
      assert.equal(await verifyImportedHash(longer, encoded), false);
    // 72 characters, and more bytes.
    assert.equal(await verifyImportedHash("ß".repeat(72), encoded), false);
    const [short] = vectors.filter(({ encoded: text }) => text.startsWith("$2b$05$"));
    assert.ok(short);
    for (const cut of [`${short.password}\0`, `${short.password}\0tail`, "\0"])
      assert.equal(await verifyImportedHash(cut, short.encoded), false);
  });
  it("D59: no scheme matches a password of excessive length, whatever it would cost", async () => {
    const began = processorMs();
    for (const { encoded } of vectors.slice(0, 8))
      assert.equal(await verifyImportedHash("x".repeat(1_000_000), encoded), false);
    assert.ok(processorMs() - began < 500);
  });
  it("fails closed on a stored hash that cannot be read", () =>
    assert.rejects(verifyImportedHash("x", "$9$"), (error) => {
      assert.ok(error instanceof DomainError);
      assert.deepEqual([error.kind, error.reason], ["internal", "PASSWORD_HASH_BROKEN"]);
      return true;
    }));
});

describe("taking a hash of another system (D59)", () => {
  for (const encoded of [
    "",
    "$",
    "$$",
    "secret",
    "$9$salt$hash",
    "$0$1$2$3",
    "$sha256$1000$c2FsdA==$aGFzaA==",
    "{SSHA}abcd",
    "$2$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$2x$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7",
    "d41d8cd98f00b204e9800998ecf8427",
    "d41d8cd98f00b204e9800998ecf8427e0",
    "3cb4e732631f47e6eb961f34554b7cde\n",
    "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2\n",
    " $1$saltsalt$NuzA7WTAelpl95xgBGWN60",
  ])
    it(`D59: refuses ${JSON.stringify(encoded)}, which is of no scheme`, () =>
      refuses(encoded, "PASSWORD_HASH_UNKNOWN"));

  for (const encoded of [
    "$2b$5$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$2b$03$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy",
    "$2b$05$",
    "$argon2id$v=19$m=1024,t=2,p=2$$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$",
    "$argon2id$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$C1lonjft!PFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=1024,t=2,p=2$c2FsdA$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=1024,t=0,p=2$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=7,t=1,p=1$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=20$m=1024,t=2,p=2$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2x$v=19$m=1024,t=2,p=2$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=-1,t=2,p=2$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$scrypt$ln=0,r=8,p=1$c2FsdA$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
    "$scrypt$ln=10,r=8,p=1$$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
    "$scrypt$ln=10,r=8,p=1$c2FsdA$abc",
    "$scrypt$ln=10,r=8,p=1$c2FsdA$TeMDDwfxkx3jvETxzGN5IdCCG06h*emi3eSf1zTy9xo",
    "$7$A6....2....$P5CYZutsvS29/djS5gA2sw7JYktE0t4QZXJ3f/srPG1",
    "$pbkdf2-sha256$0$c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$pbkdf2-sha256$1000$$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$pbkdf2-sha256$1000$c2FsdA$",
    "$pbkdf2-sha256$1000$c2FsdA$c2hvcnQ",
    "$pbkdf2-sha256$1000$c2FsdA$QY0y=DgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$pbkdf2-sha256$1000$c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21Xhh§E".replace("§", "~"),
    "$pbkdf2-md5$1000$c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$pbkdf2-constructor$1000$c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$md5salted-suffix$$bzcjX9ygUPsFyIQLl6NJxg==",
    "$md5salted-middle$c2FsdA==$bzcjX9ygUPsFyIQLl6NJxg==",
    "$md5salted-suffix$c2FsdA==$c2hvcnQ=",
    "$1$$NuzA7WTAelpl95xgBGWN60",
    "$1$saltsalts$NuzA7WTAelpl95xgBGWN60",
    "$1$saltsalt$NuzA7WTAelpl95xgBGWN6",
    "$5$$vzxOvVGSAthqKsVBFh1uWPorUBPL5g6mz42rSF1xpk5",
    "$5$rounds=999$salt$vzxOvVGSAthqKsVBFh1uWPorUBPL5g6mz42rSF1xpk5",
    "$6$salt$vzxOvVGSAthqKsVBFh1uWPorUBPL5g6mz42rSF1xpk5",
    "$6$rounds=x$salt$vzxOvVGSAthqKsVBFh1uWPorUBPL5g6mz42rSF1xpk5",
    "$P$4saltsaltm5kzegSSYLpteeiemmHd3/",
    "$P$6saltsaltm5kzegSSYLpteeiemmHd3",
    "$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzL",
    `$6$salt$${"a".repeat(1_000_000)}`,
    "$".repeat(1_000_000),
    `$argon2id$${"A".repeat(1_000_000)}`,
  ])
    it(`D59: refuses ${encoded.slice(0, 70)}, which is misspelled`, () =>
      refuses(encoded, "PASSWORD_HASH_MALFORMED"));

  for (const encoded of [
    "$2b$31$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$2b$16$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2",
    "$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=1024,t=4294967295,p=1$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=524288,t=3,p=1$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$argon2id$v=19$m=1024,t=1,p=100$c2FsdHNhbHQ$C1lonjftuPFcxvy88IyQSAUKETQXgrUY",
    "$scrypt$ln=30,r=8,p=1$c2FsdA$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
    "$scrypt$ln=20,r=8,p=1$c2FsdA$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
    "$scrypt$ln=10,r=4294967295,p=1$c2FsdA$TeMDDwfxkx3jvETxzGN5IdCCG06h/emi3eSf1zTy9xo",
    "$7$zzzzzzzzzzzSodiumChloride$P5CYZutsvS29/djS5gA2sw7JYktE0t4QZXJ3f/srPG1",
    "$pbkdf2-sha256$2147483648$c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$pbkdf2-sha1$4000000$c2FsdA$QY0yDgmQRK6bm2mu.pjoggVw9ktlXOGFtDnof21XhhE",
    "$5$rounds=999999999$salt$vzxOvVGSAthqKsVBFh1uWPorUBPL5g6mz42rSF1xpk5",
    "$P$Zsaltsaltm5kzegSSYLpteeiemmHd3/",
    "$S$Z33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf",
  ])
    it(`D59: refuses ${encoded.slice(0, 70)}, which costs too much`, () =>
      refuses(encoded, "PASSWORD_HASH_TOO_COSTLY"));
});
