import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DomainError } from "../../src/errors.ts";
import { eq, ne } from "../../src/storage/drizzle.ts";
import { insertRow, PendingSequence } from "../../src/storage/row-change.ts";
import type { Fresh } from "./contract.ts";
import { happened, notes, unit } from "./place.ts";

const note = (id: string, body = "text") =>
  insertRow(notes, { instanceId: "one", id, body, sequence: new PendingSequence(0) });

const notStorable = (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual([error.kind, error.reason], ["invalidArgument", "TEXT_NOT_STORABLE"]);
  return true;
};

export function textContract(fresh: () => Promise<Fresh>): void {
  const claim = { op: "hold", scope: "one", kind: "k", holderType: "t", holderId: "h" } as const;

  describe("a text that no database can hold (D76)", () => {
    for (const [what, bad] of [
      ["NUL", "a\u0000b"],
      ["half a surrogate pair", "a\ud800b"],
    ] as const) {
      for (const [where, refused] of [
        ["an id", () => unit({ events: [happened(bad, 1n)] })],
        ["a payload", () => unit({ events: [happened("a", 1n, { payload: { a: [bad] } })] })],
        [
          "a name in a payload",
          () => unit({ events: [happened("a", 1n, { payload: { [bad]: 1 } })] }),
        ],
        ["a row", () => unit({ changes: [note("a", bad)] })],
        ["a claim", () => unit({ claims: [{ ...claim, value: bad }] })],
      ] as const)
        it(`is refused in ${where}: ${what}`, async () => {
          await using store = await fresh();
          await assert.rejects(store.db.commit(refused()), notStorable);
          await store.db.commit(unit({ events: [happened("a", 1n)] }));
        });
      it(`is found nowhere: ${what}`, async () => {
        await using store = await fresh();
        const t = store.db.table(notes);
        await store.db.commit(unit({ changes: [note("a", "a"), note("b", "b")] }));
        const { contains, isAmong } = store.db;
        for (const where of [eq(t.body, bad), contains(t.body, bad), isAmong(t.body, [bad])]) {
          assert.deepEqual(await store.db.read.select().from(t).where(where), []);
        }
        assert.equal((await store.db.read.select().from(t).where(ne(t.body, bad))).length, 2);
      });
    }
  });
}
