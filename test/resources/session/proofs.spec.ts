// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { levelsOf, methodsOf, type Proofs } from "../../../src/resources/session/proofs.ts";

const at = new Date(0);
const nothing: Proofs = {
  password: undefined,
  key: undefined,
  isUserVerified: false,
  otp: undefined,
  email: undefined,
  mailbox: undefined,
  recoveryCode: undefined,
  provider: undefined,
  twoFactorProvider: undefined,
  trustedSince: undefined,
};
const amrOf = (proofs: Partial<Proofs>) => methodsOf({ ...nothing, ...proofs });

describe("amr (RFC 8176)", () => {
  it("tells of a passkey that verified its user that it is two factors", () => {
    assert.deepEqual(amrOf({ key: at, isUserVerified: true }), ["hwk", "user", "mfa"]);
    assert.deepEqual(amrOf({ key: at }), ["hwk"]);
  });
  it("tells two factors of two kinds of proof, of which a password and a provider are one", () => {
    assert.deepEqual(amrOf({ password: at, otp: at }), ["pwd", "otp", "mfa"]);
    assert.deepEqual(amrOf({ password: at, provider: at }), ["pwd", "ext"]);
    assert.deepEqual(amrOf({ provider: at, otp: at }), ["ext", "otp", "mfa"]);
    assert.deepEqual(amrOf({ provider: at, twoFactorProvider: at }), ["ext", "mfa"]);
  });
  it("tells one mailbox as one factor, whatever its codes were for, and two beside anything else (L9)", () => {
    assert.deepEqual(amrOf({ email: at, mailbox: at }), ["otp"]);
    assert.deepEqual(amrOf({ email: at, mailbox: new Date(1_000) }), ["otp"]);
    assert.deepEqual(amrOf({ password: at, email: at, mailbox: at }), ["pwd", "otp", "mfa"]);
    assert.deepEqual(amrOf({ email: at, mailbox: at, otp: at }), ["otp", "mfa"]);
    assert.deepEqual(amrOf({ email: at, mailbox: at, key: at }), ["otp", "hwk", "mfa"]);
    assert.deepEqual(amrOf({ password: at, mailbox: at }), ["pwd", "otp", "mfa"]);
  });
  it("proves by a mailbox alone the weakest strength, which no other asks for", () => {
    const proofs = { ...nothing, email: at, mailbox: at };
    assert.deepEqual(levelsOf(proofs), ["email"]);
    assert.deepEqual(levelsOf({ ...proofs, otp: at }), ["mfa", "password", "provider", "email"]);
  });
});
