// Run: shared, store
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { modules } from "../../src/app/modules.ts";
import { typesOf } from "../../src/eventstore/eventstore.ts";
import { frozenStreams } from "./frozen-log.ts";
import { fingerprint, replay } from "./frozen-replay.ts";

/**
 * What was stored in each file when it was written. A new shape of an event gets a new file; these stay as they are.
 * The state and the rows in a file are those of today: `node test/projection/freeze.ts` writes them anew when an aggregate
 * or a projection changes its shape, and the difference is for a reader to judge.
 */
const fingerprints: Record<string, string> = JSON.parse(
  readFileSync(join(import.meta.dirname, "../fixtures/event-fingerprints.json"), "utf8"),
);

describe("events of earlier builds", () => {
  for (const [file, stream] of frozenStreams) {
    it(`are never rewritten: ${file}`, () => assert.equal(fingerprint(stream), fingerprints[file]));
    it(`fold to the state and make the rows in the file: ${file}`, async () => {
      const { state, rows, version } = await replay(stream);
      assert.deepEqual({ state, rows }, { state: stream.state, rows: stream.rows });
      assert.equal(version, BigInt(stream.events.length));
    });
  }

  it("are here for every event there is", () => {
    const on = {
      multitenancy_resources_api: true,
      multitenancy_settings: true,
      oidc_token_exchange: true,
    };
    const frozen = new Set(
      [...frozenStreams.values()].flatMap(({ events }) => events.map(({ type }) => type)),
    );
    const missing = typesOf(modules(on).flatMap(({ events }) => events)).filter(
      (type) => !frozen.has(type),
    );
    assert.deepEqual(missing, [], "run `node test/projection/freeze.ts`");
  });
});
