// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import {
  newSealingKey,
  open,
  type EncryptionContext,
  seal,
  sealedUnder,
  unwrapKey,
  wrapKey,
} from "../../src/crypto/secrets.ts";
import { DomainError } from "../../src/errors.ts";

const key = newSealingKey("k1");
const place: EncryptionContext = {
  instance: "1",
  ownerType: "idp",
  ownerId: "2",
  kind: "client_secret",
};
const clear = Buffer.from("MARKER-very-secret");
const refused = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof DomainError);
  assert.equal(error.kind, "internal");
  assert.equal(error.reason, reason);
  const shown = inspect(error, { depth: 10 }) + JSON.stringify(error);
  assert.ok(!shown.includes("MARKER"));
  assert.ok(!shown.includes(Buffer.from(key.key).toString("base64")));
  assert.ok(!shown.includes(Buffer.from(key.key).toString("hex")));
  return true;
};

describe("sealing a secret", () => {
  it("opens with its key in its place", () =>
    assert.deepEqual(Buffer.from(open(key, place, seal(key, place, clear))), clear));
  it("seals the empty secret too", () =>
    assert.equal(open(key, place, seal(key, place, new Uint8Array())).length, 0));
  it("shows nothing of the secret", () =>
    assert.ok(!Buffer.from(seal(key, place, clear)).includes("MARKER")));
  it("never seals the same secret to the same bytes: each has a nonce of its own", () => {
    const nonces = Array.from({ length: 1000 }, () =>
      Buffer.from(seal(key, place, clear)).toString("hex", 4, 16),
    );
    assert.equal(new Set(nonces).size, 1000);
  });
  it("names the key it is sealed under", () =>
    assert.equal(sealedUnder(seal(key, place, clear)), "k1"));
  it("refuses keys that are not 32 bytes or have no id", () => {
    for (const wrong of [
      { id: "k", key: Buffer.alloc(16) },
      { id: "", key: Buffer.alloc(32) },
      { id: "k".repeat(256), key: Buffer.alloc(32) },
    ])
      assert.throws(() => seal(wrong, place, clear), refused("SEALING_KEY_INVALID"));
  });
});

describe("opening a secret", () => {
  it("is refused in any other place", () => {
    const sealed = seal(key, place, clear);
    for (const other of [
      { ...place, instance: "9" },
      { ...place, ownerType: "smtp" },
      { ...place, ownerId: "3" },
      { ...place, kind: "key" },
    ])
      assert.throws(() => open(key, other, sealed), refused("SECRET_UNREADABLE"));
  });
  it("is refused when the same letters are split at another point", () => {
    const sealed = seal(key, { ...place, ownerType: "a|b", ownerId: "c" }, clear);
    assert.throws(
      () => open(key, { ...place, ownerType: "a", ownerId: "b|c" }, sealed),
      refused("SECRET_UNREADABLE"),
    );
  });
  it("is refused with another key of the same id", () =>
    assert.throws(
      () => open(newSealingKey("k1"), place, seal(key, place, clear)),
      refused("SECRET_UNREADABLE"),
    ));
  it("is refused with a key of another id", () =>
    assert.throws(
      () => open(newSealingKey("k2"), place, seal(key, place, clear)),
      refused("SECRET_KEY_OTHER"),
    ));
  it("is refused when any byte of it was changed", () => {
    const sealed = Buffer.from(seal(key, place, clear));
    for (let at = 0; at < sealed.length; at++) {
      const damaged = Buffer.from(sealed);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      assert.throws(() => open(key, place, damaged), DomainError, `byte ${at}`);
    }
  });
  it("is refused when it was cut at any point", () => {
    const sealed = seal(key, place, clear);
    for (let length = 0; length < sealed.length; length++)
      assert.throws(
        () => open(key, place, sealed.subarray(0, length)),
        DomainError,
        `${length} bytes`,
      );
  });
  it("is refused when its format is newer", () =>
    assert.throws(
      () => open(key, place, Uint8Array.of(2, ...seal(key, place, clear).subarray(1))),
      refused("SECRET_FORMAT_UNKNOWN"),
    ));
});

describe("wrapping a data key", () => {
  const master = newSealingKey("master");
  const instance = { instance: "1", ownerType: "instance", ownerId: "1" };
  const user = { instance: "1", ownerType: "user", ownerId: "7" };

  it("gives back the key that opens what it sealed", () => {
    const wrapped = wrapKey(master, instance, key);
    assert.ok(!Buffer.from(wrapped).includes(Buffer.from(key.key)));
    const unwrapped = unwrapKey(master, instance, "k1", wrapped);
    assert.deepEqual(Buffer.from(open(unwrapped, place, seal(key, place, clear))), clear);
  });
  it("works the same for a user's key under the instance's key", () => {
    const ofUser = newSealingKey("u7");
    assert.deepEqual(unwrapKey(key, user, "u7", wrapKey(key, user, ofUser)), ofUser);
  });
  it("is refused for another owner, another id or another master key", () => {
    const wrapped = wrapKey(master, instance, key);
    assert.throws(() => unwrapKey(master, user, "k1", wrapped), refused("SECRET_UNREADABLE"));
    assert.throws(() => unwrapKey(master, instance, "k2", wrapped), refused("SECRET_UNREADABLE"));
    assert.throws(
      () => unwrapKey(newSealingKey("master"), instance, "k1", wrapped),
      refused("SECRET_UNREADABLE"),
    );
  });
});
