// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTextSealer } from "../../src/crypto/sealed-text.ts";
import { newSealingKey } from "../../src/crypto/secrets.ts";

const texts = createTextSealer();
const key = newSealingKey("k1");
const context = { instance: "1", ownerType: "instance", ownerId: "1", kind: "text:test" };
const clear = Buffer.from("MARKER-what-goes-out");
const opened = (text: string, { by = texts, using = key, as = context } = {}) => {
  const bytes = by.open(using, as, text);
  return bytes && Buffer.from(bytes).toString();
};
const saltOf = (text: string) => Buffer.from(text, "base64url").subarray(0, 16).toString("hex");

describe("a sealed text", () => {
  it("opens with its key for its context, and is fit for addresses", () => {
    const text = texts.seal(key, context, clear);
    assert.equal(opened(text), String(clear));
    assert.match(text, /^[\w-]+$/);
    assert.ok(!Buffer.from(text, "base64url").includes("MARKER"));
  });

  it("opens in another process, which derives its key anew", () => {
    const others = createTextSealer();
    const text = texts.seal(key, context, clear);
    assert.equal(opened(text, { by: others }), String(clear));
    // The other way round as well, whatever this process has sealed since.
    const other = others.seal(key, context, clear);
    assert.notEqual(saltOf(other), saltOf(text));
    assert.equal(opened(other), String(clear));
  });

  it("is another one each time", () =>
    assert.notEqual(texts.seal(key, context, clear), texts.seal(key, context, clear)));

  it("is nothing with another key, for another context or when a byte is changed", () => {
    const text = texts.seal(key, context, clear);
    assert.equal(opened(text, { using: newSealingKey("k1") }), undefined);
    assert.equal(opened(text, { as: { ...context, kind: "text:other" } }), undefined);
    const bytes = Buffer.from(text, "base64url");
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ 1;
      assert.equal(opened(changed.toString("base64url")), undefined, `byte ${at}`);
      assert.equal(opened(bytes.subarray(0, at).toString("base64url")), undefined, `cut at ${at}`);
    }
    assert.equal(opened(`${text}=`), undefined);
    assert.equal(opened(""), undefined);
  });

  it("shares its derived key with 65,535 others at most", () => {
    const fresh = newSealingKey("k2");
    const salts = new Map<string, number>();
    for (let made = 0; made < 65_536 + 1; made++) {
      const salt = saltOf(texts.seal(fresh, context, clear));
      salts.set(salt, (salts.get(salt) ?? 0) + 1);
    }
    assert.deepEqual([...salts.values()], [65_536, 1]);
  });
});
