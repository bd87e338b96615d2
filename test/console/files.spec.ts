// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consoleFiles } from "../../src/console-server/files.ts";

describe("the files of the console", () => {
  it("are built by one at a time, and not again at once where that fails", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    let builds = 0;
    const files = consoleFiles(async () => {
      builds += 1;
      throw new Error("no builder is here");
    });
    for (let page = 0; page < 3; page++) await assert.rejects(files(), /no builder/);
    assert.equal(builds, 1);
    test.mock.timers.tick(29_999);
    await assert.rejects(files());
    assert.equal(builds, 1);
    test.mock.timers.tick(1);
    await assert.rejects(files());
    assert.equal(builds, 2);
  });
});
