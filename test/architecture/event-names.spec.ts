// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import { modules } from "../../src/app/modules.ts";
import { typesOf } from "../../src/eventstore/eventstore.ts";

/**
 * The public names of all events (C8): conditions match on them and stored logs hold them. A name may be
 * added to the file; one that stands there is never changed and never removed.
 */
const frozen = readFileSync(resolve(import.meta.dirname, "../fixtures/event-names.txt"), "utf8")
  .trim()
  .split("\n");

const on = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const names = typesOf(modules(on).flatMap(({ events }) => events));

describe("the names of events", () => {
  it("are these", () => assert.deepEqual(names, frozen));
  it("are unique", () => assert.equal(new Set(names).size, names.length));
  it("are dotted words in lower case, ending in the past tense", () => {
    for (const name of names)
      assert.match(name, /^[a-z_]+(\.[a-z][a-z0-9_]*)*\.([a-z_]+ed|set|sent|reset|done)$/);
  });
});
