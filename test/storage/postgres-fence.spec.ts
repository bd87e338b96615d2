// Run: alone, early
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DomainError } from "../../src/errors.ts";
import { eq } from "../../src/storage/drizzle.ts";
import { leases } from "../../src/storage/kernel-tables.ts";
import { insertRow, putRow, updateRows } from "../../src/storage/row-change.ts";
import { notes, unit } from "./place.ts";
import { backendIn, holding, locked, twoReplicas } from "./two-replicas.ts";

const note = (body: string) => putRow(notes, { instanceId: "one", id: "a", body, sequence: 1n });
const where = { name: "work", holder: "a", token: 1n };
const fence = { kind: "rows", table: leases, where, count: 1 } as const;

/**
 * Somebody takes the lease while a unit with its fence waits for a note that is locked. Which of the two are refused, as who waits for two
 * seconds is: a busy machine may take longer to have them both wait.
 */
async function takenMeanwhile({ place, one, two }: Awaited<ReturnType<typeof twoReplicas>>) {
  let refused = 0;
  const orRefused = (error: unknown) => {
    assert.ok(error instanceof DomainError, String(error));
    assert.equal(error.reason, "STORE_BUSY");
    refused += 1;
  };
  const isOver = () => refused > 0;
  const held = await holding(place, "UPDATE notes SET body = body");
  const fenced = one.commit(unit({ expect: [fence], changes: [note("fenced")] })).catch(orRefused);
  await backendIn(place, locked, { isOver });
  const taken = updateRows(leases, { name: "work" }, { token: 2n });
  const taking = two.commit(unit({ instanceId: "", changes: [taken] })).catch(orRefused);
  // Who takes waits for the unit, which waits for the note: the unit comes first.
  await backendIn(place, locked, { backends: 2, isOver });
  await held[Symbol.asyncDispose]();
  await Promise.all([fenced, taking]);
  return refused;
}

describe("a fence over instances", () => {
  it("holds against one who takes the lease while a fenced unit is being committed (F14)", async () => {
    for (let refused = 1, round = 0; refused > 0; round++) {
      assert.ok(round < 20, "each time one of the two was refused");
      await using pair = await twoReplicas();
      const lease = { ...where, expires: new Date(0) };
      await pair.one.commit(unit({ changes: [insertRow(leases, lease), note("x")] }));
      refused = await takenMeanwhile(pair);
      if (refused > 0) continue;
      const t = pair.two.table(notes);
      const rows = await pair.two.read.select().from(t).where(eq(t.id, "a"));
      assert.deepEqual(
        rows.map(({ body }) => body),
        ["fenced"],
      );
    }
  });
});
