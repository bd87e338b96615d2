// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { knownPermissions } from "../../src/authz/roles.ts";
import { pages } from "../../src/console/routes.ts";
import { allMethods, offeredMethods } from "./parity.ts";
import { unreached } from "./unreached.ts";

describe("the methods of the API in the console", () => {
  const offered = offeredMethods();

  it("are each offered by a page, or stand in the list of those that are not, with a reason", () => {
    const forgotten = allMethods().filter((name) => !offered.has(name) && !(name in unreached));
    assert.deepEqual(forgotten, [], "`node test/console/parity.ts` tells which page offers which");
  });

  it("are those that the pages say they need", () => {
    const names = new Set([...allMethods(), ...knownPermissions]);
    assert.deepEqual(
      pages.filter(({ needs }) => !names.has(needs)).map(({ path }) => path),
      [],
    );
  });

  it("are not in that list where a page offers them, or where there is no such method", () => {
    const methods = new Set(allMethods());
    const wrong = Object.keys(unreached).filter((name) => offered.has(name) || !methods.has(name));
    assert.deepEqual(wrong, []);
  });
});
