// Run: shared, store, long
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { roads } from "../fuzz/authority/roads.ts";
import { search } from "../fuzz/authority/spawn.ts";

describe("the search for power (decision 0089)", () => {
  it("2,000 steps of attackers of all roles come to nothing that nobody gave them", async () => {
    const flags = ["--steps", "2000", "--seconds", "600", "--each", "200", "--seed", "20261123"];
    const { code, said } = await search({ flags, without: "" });
    assert.equal(code, 0, said);
    assert.match(said, /^2\d{3} steps in \d+ worlds/m);
  });
});

describe("the search for power proves itself (decision 0089)", () => {
  it("roads that each ruling closes lead nowhere", async () => {
    const { code, said } = await search({ flags: ["--roads"], without: "" });
    assert.equal(code, 0, said);
    assert.equal(said.match(/: leads nowhere$/gm)?.length, roads.length, said);
  });

  for (const { ruling } of roads) {
    it(`without ${ruling} its road leads to what nobody gave`, async () => {
      const { code, said } = await search({ flags: ["--roads"], without: ruling });
      assert.equal(code, 1, said);
      assert.match(said, new RegExp(`^${ruling}: (?:power|${ruling}):? `, "m"));
    });
  }
});
