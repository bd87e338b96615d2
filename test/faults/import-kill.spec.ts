// Run: alone, long
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { importAndKill } from "./import-kill.ts";
import { newStore } from "./store.ts";

describe("an import whose server is killed (F29)", () => {
  it("goes on, brings everybody once, and comes to what its dry run foresaw", async () => {
    await using store = await newStore();
    const { violations } = await importAndKill(store, { users: 1_500, kills: 1 });
    assert.deepEqual(violations, []);
  });
});
