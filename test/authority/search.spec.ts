import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { search } from "../fuzz/authority/spawn.ts";

const seed = "20261123";

describe("the search for power (authority 4)", () => {
  it("2,000 steps of attackers of all roles come to nothing that nobody gave them", async () => {
    const flags = ["--steps", "2000", "--each", "90", "--seed", seed];
    const { code, said } = await search({ flags, without: "" });
    assert.equal(code, 0, said);
    assert.match(said, /^2\d{3} steps in \d+ worlds/m);
  });

  it("would find what they came to: a weaker one takes over a stronger one without J1", async () => {
    const flags = [
      "--steps",
      "5000",
      "--seed",
      seed,
      "--roles",
      "IAM_USER_MANAGER,ORG_USER_MANAGER",
    ];
    const { code, said } = await search({ flags, without: "J1" });
    assert.equal(code, 1, said);
    assert.match(said, /power: .*assert\.deepEqual\(await replay/s);
  });
});
