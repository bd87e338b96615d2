// Run: shared
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { beside, folders, holdersOf, staying } from "./holders.ts";

/**
 * What others need. All else goes by deleting its folders and the lines of the composition that name it (decision 0386), which
 * `npm run delete-test` prints.
 */
const needed = [
  "login",
  "resources/instance",
  "resources/org",
  "resources/project",
  "resources/session",
  "resources/user",
];

describe("a slice that can be taken out", () => {
  it("is named by nothing but its own files and the composition", () => {
    const held = folders
      .filter((slice) => !needed.includes(slice))
      .flatMap((slice) =>
        holdersOf(slice).map(({ file, names }) => `${slice}: ${file} imports ${names}`),
      );
    assert.deepEqual(held, []);
  });

  it("is one of at least 28, and what others need does not become more", () => {
    assert.ok(folders.length - needed.length >= 28);
    assert.ok(needed.length <= 6);
  });

  it("is none of those that others need", () => {
    const free = needed.filter((slice) => holdersOf(slice).length === 0);
    assert.deepEqual(free, [], "take them off the list");
    const holders = holdersOf("resources/org").map(({ file }) => file);
    assert.ok(holders.includes("src/resources/domain/handlers.ts"));
    assert.ok(!holders.includes("src/app/deps.ts"));
    const ofSchema = holdersOf("resources/object").map(({ file }) => file);
    assert.ok(ofSchema.includes("proto/idsvc/resources/user/v3alpha/user_requests.proto"));
  });

  it("leaves a file of its schema only where a message of others needs it, and that file nothing else of the slice", () => {
    for (const file of staying) {
      const path = `proto/idsvc/${file}.proto`;
      const folder = dirname(path);
      const { named, namedBy } = beside(path);
      assert.ok(
        namedBy.some((each) => !each.startsWith(folder)),
        path,
      );
      assert.deepEqual(
        named.filter((each) => each.startsWith(folder)),
        [],
      );
    }
  });
});
