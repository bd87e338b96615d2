import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alreadyExists } from "../../src/errors.ts";
import type { Transaction } from "../../src/eventstore/transaction.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import { addList, by, type Fresh, list, listEvents, owner, titles } from "./place.ts";

const { added, "line.added": lineAdded } = listEvents;

/** Parts of a decision that may be refused alone, and decisions that are only rehearsed. */
export function attemptsContract(fresh: (now?: () => Date) => Promise<Fresh>): void {
  async function begin(tx: Transaction, id: string, title = id): Promise<void> {
    const loaded = await tx.load(list, id);
    tx.record(list, loaded, [added({ title })], owner);
  }
  const refusal = (part: Promise<unknown>): Promise<string> =>
    part.then(
      () => "",
      (error: unknown) => String(Reflect.get(Object(error), "reason")),
    );

  describe("a part of a decision that may be refused alone", () => {
    it("leaves nothing of itself when it throws, and the rest is written", async () => {
      await using store = await fresh();
      await store.events.transact(by(), async (tx) => {
        await begin(tx, "a");
        const told = await refusal(
          tx.attempt(async () => {
            tx.record(list, await tx.load(list, "a"), [lineAdded({ line: "milk" })]);
            await begin(tx, "b");
            tx.write(
              insertRow(titles, { instanceId: "one", id: "of the part", title: "x", sequence: 1n }),
            );
            // What the part took for so does not bind the unit, either.
            tx.expectRows(titles, { id: "of the part" }, 7);
            throw alreadyExists("REFUSED", "refused");
          }),
        );
        assert.equal(told, "REFUSED");
        assert.deepEqual((await tx.load(list, "a")).state, { title: "a", lines: [] });
        assert.equal((await tx.load(list, "b")).state, undefined);
        await begin(tx, "b", "Bread");
      });
      const log = await store.events.read({ instanceId: "one" });
      assert.deepEqual(
        log.map(({ type, aggregateId, payload }) => [type, aggregateId, payload]),
        [
          ["list.added", "a", { title: "a" }],
          ["list.added", "b", { title: "Bread" }],
        ],
      );
      const rows = await store.db.read.select().from(store.db.table(titles));
      assert.deepEqual(rows.map(({ id }) => id).toSorted(), ["a", "b"]);
    });

    it("is refused what the store, or the unit before it, has taken", async () => {
      await using store = await fresh();
      await addList(store, "stored", "Groceries");
      await store.events.transact(by(), async (tx) => {
        const attempt = (id: string, title: string) =>
          refusal(tx.attempt(() => begin(tx, id, title)));
        assert.equal(await attempt("a", "Groceries"), "LIST_TITLE_TAKEN");
        assert.equal(await attempt("b", "Books"), "");
        assert.equal(await attempt("c", "Books"), "LIST_TITLE_TAKEN");
        assert.equal(await attempt("c", "Records"), "");
      });
      const log = await store.events.read({ instanceId: "one" });
      assert.deepEqual(
        log.map(({ aggregateId }) => aggregateId),
        ["stored", "b", "c"],
      );
    });

    it("in haste is refused what the unit has taken; the store refuses the unit whole", async () => {
      await using store = await fresh();
      await addList(store, "stored", "Groceries");
      const hasty = (wanted: Record<string, string>, judge: boolean) =>
        store.events.transact(by(), async (tx) => {
          const told: string[] = [];
          for (const [id, title] of Object.entries(wanted)) {
            told.push(await refusal(tx.attempt(() => begin(tx, id, title), undefined, true)));
          }
          if (judge) await tx.requireClaims();
          return told;
        });
      assert.deepEqual(await hasty({ a: "Books", b: "Books" }, true), ["", "LIST_TITLE_TAKEN"]);
      for (const judge of [true, false]) {
        await assert.rejects(hasty({ c: "Records", d: "Groceries" }, judge), {
          kind: "alreadyExists",
          reason: "LIST_TITLE_TAKEN",
        });
      }
      const log = await store.events.read({ instanceId: "one" });
      assert.deepEqual(
        log.map(({ aggregateId }) => aggregateId),
        ["stored", "a"],
      );
    });

    it("has no parts of its own", async () => {
      await using store = await fresh();
      const nested = store.events.transact(by(), (tx) =>
        tx.attempt(() => tx.attempt(async () => 1)),
      );
      await assert.rejects(nested, /no parts of its own/);
    });
  });

  describe("loading many objects at once", () => {
    it("gives each as it is, also those that are not, and holds the unit to it", async () => {
      await using store = await fresh();
      await addList(store, "a", "Groceries");
      await store.events.transact(by(), async (tx) => {
        tx.record(list, await tx.load(list, "a"), [lineAdded({ line: "milk" })]);
      });
      await addList(store, "b", "Books");
      const all = await store.events.loadAll(list, "one", ["a", "b", "404"]);
      assert.deepEqual(
        all.map(({ id, state, version }) => [id, state, version]),
        [
          ["a", { title: "Groceries", lines: ["milk"] }, 2n],
          ["b", { title: "Books", lines: [] }, 1n],
          ["404", undefined, 0n],
        ],
      );
      let tries = 0;
      await store.events.transact(by(), async (tx) => {
        tries += 1;
        await tx.loadAll(list, ["a", "b"]);
        const a = await tx.load(list, "a");
        assert.equal(a.version, tries === 1 ? 2n : 3n);
        if (tries === 1) {
          await store.events.transact(by(), async (other) => {
            other.record(list, await other.load(list, "a"), [lineAdded({ line: "bread" })]);
          });
        }
        tx.record(list, await tx.load(list, "b"), [lineAdded({ line: "one" })]);
      });
      assert.equal(tries, 2);
    });
  });

  describe("a decision that is only rehearsed", () => {
    it("tells what would become of it, and writes nothing", async () => {
      await using store = await fresh();
      const lines = await store.events.rehearse(by(), async (tx) => {
        await begin(tx, "a");
        const loaded = await tx.load(list, "a");
        tx.record(list, loaded, [lineAdded({ line: "milk" })]);
        return loaded.state?.lines;
      });
      assert.deepEqual(lines, ["milk"]);
      assert.deepEqual(await store.events.read({ instanceId: "one" }), []);
    });
  });
}
