// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recent } from "../../src/storage/recent.ts";

describe("what is remembered of late", () => {
  it("finds what was stored or asked for among the last half of its capacity", () => {
    const known = recent<number>(20);
    for (let at = 0; at < 1_000; at++) {
      known.store(`key ${at}`, at);
      for (let back = 0; back < 10 && back <= at; back++) {
        assert.equal(known.find(`key ${at - back}`), at - back);
      }
    }
  });

  it("forgets what nobody asks for, and what it is told to", () => {
    const known = recent<number>(20);
    known.store("asked for", 1);
    known.store("left alone", 2);
    known.store("forgotten", 3);
    known.forget("forgotten");
    for (let at = 0; at < 100; at++) {
      known.store(`key ${at}`, at);
      assert.equal(known.find("asked for"), 1);
    }
    assert.equal(known.find("left alone"), undefined);
    assert.equal(known.find("forgotten"), undefined);
  });
});
