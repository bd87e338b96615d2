import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alreadyExists } from "../../src/errors.ts";
import { beginSeries, type Holders, holdersOf } from "../../src/eventstore/series.ts";
import type { Transaction } from "../../src/eventstore/transaction.ts";
import type { ClaimChange } from "../../src/storage/database.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import { addList, by, type Fresh, list, listEvents, owner, titles } from "./place.ts";

const { added, "line.added": lineAdded } = listEvents;

/** Series of decisions of which each may be refused alone, and decisions that are only rehearsed. */
export function seriesContract(fresh: (now?: () => Date) => Promise<Fresh>): void {
  async function begin(tx: Transaction, id: string, title = id): Promise<void> {
    const loaded = await tx.load(list, id);
    tx.record(list, loaded, [added({ title })], owner);
  }
  const refusal = (part: Promise<unknown>): Promise<string> =>
    part.then(
      () => "",
      (error: unknown) => String(Reflect.get(Object(error), "reason")),
    );

  describe("a series of decisions that are committed as one", () => {
    it("keeps nothing of one that throws, and writes the rest", async () => {
      await using store = await fresh();
      await store.events.transact(by(), async (tx) => {
        const series = beginSeries(tx);
        await series.add((member) => begin(member, "a"));
        const told = await refusal(
          series.add(async (member) => {
            member.record(list, await member.load(list, "a"), [lineAdded({ line: "milk" })]);
            await begin(member, "b");
            member.write(
              insertRow(titles, { instanceId: "one", id: "refused", title: "x", sequence: 1n }),
            );
            // What it took for so does not bind the others, either.
            member.expectRows(titles, { id: "refused" }, 7);
            throw alreadyExists("REFUSED", "refused");
          }),
        );
        assert.equal(told, "REFUSED");
        assert.deepEqual((await tx.load(list, "a")).state, { title: "a", lines: [] });
        assert.equal((await tx.load(list, "b")).state, undefined);
        await series.add((member) => begin(member, "b", "Bread"));
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

    it("lets each see, add to and tell of what those before it have made", async () => {
      await using store = await fresh();
      const written = await store.events.transact(by(), async (tx) => {
        const series = beginSeries(tx);
        await series.add((member) => begin(member, "a"));
        return series.add(async (member) => {
          const loaded = await member.load(list, "a");
          assert.deepEqual(loaded.state, { title: "a", lines: [] });
          member.record(list, loaded, [lineAdded({ line: "milk" })]);
          assert.deepEqual([...(await member.usedIds([list.type], ["a", "b"]))], ["a"]);
          return member.written(loaded);
        });
      });
      const { id, sequence } = written();
      assert.deepEqual([id, sequence], ["a", 2n]);
      const { state, version } = await store.events.load(list, "one", "a");
      assert.deepEqual([state, version], [{ title: "a", lines: ["milk"] }, 2n]);
    });

    it("decides anew when an id that it took for free is used, or a row that it took for absent is there", async () => {
      await using store = await fresh();
      const seen: string[][] = [];
      await store.events.transact(by(), async (tx) => {
        const used = await tx.usedIds([list.type], ["a", "b", "c"]);
        seen.push([...used]);
        if (seen.length === 1) await addList(store, "b");
        tx.record(list, await tx.load(list, "c"), [added({ title: "c" })], owner);
      });
      assert.deepEqual(seen, [[], ["b"]]);
      let decisions = 0;
      await store.events.transact(by(), async (tx) => {
        if (++decisions === 1) {
          tx.expectNone(titles, { instanceId: "one" }, "id", ["x", "y"]);
          await addList(store, "y");
        }
        tx.record(list, await tx.load(list, "c"), [lineAdded({ line: "c" })]);
      });
      assert.equal(decisions, 2);
    });

    it("asks for what is written last once all else is put together, of each that stands", async () => {
      await using store = await fresh();
      const asked: string[] = [];
      const last = (id: string) => async () => {
        asked.push(id);
        return [insertRow(titles, { instanceId: "one", id, title: id, sequence: 1n })];
      };
      await store.events.transact(by(), async (tx) => {
        const series = beginSeries(tx);
        await series.add(async (member) => member.writeLast(last("kept")));
        await refusal(
          series.add(async (member) => {
            member.writeLast(last("refused"));
            throw alreadyExists("REFUSED", "refused");
          }),
        );
        tx.writeLast(last("own"));
        await begin(tx, "a");
        assert.deepEqual(asked, []);
      });
      assert.deepEqual(asked, ["kept", "own"]);
      const rows = await store.db.read.select().from(store.db.table(titles));
      assert.deepEqual(rows.map(({ id }) => id).toSorted(), ["a", "kept", "own"]);
    });

    it("writes nothing where what is written last cannot be told", async () => {
      await using store = await fresh();
      const failing = store.events.transact(by(), async (tx) => {
        await begin(tx, "a");
        tx.writeLast(() => Promise.reject(alreadyExists("BEFORE_FAILED", "it failed")));
      });
      assert.equal(await refusal(failing), "BEFORE_FAILED");
      assert.equal((await store.db.heads()).size, 0);
    });

    it("refuses one what another, or who is known to hold it in the store, has taken", async () => {
      await using store = await fresh();
      await addList(store, "stored", "Groceries");
      const wanted: ClaimChange[] = [];
      const take = (all: [id: string, title: string][], stored?: Holders) =>
        store.events.transact(by(), async (tx) => {
          const series = beginSeries(tx, stored);
          const told: string[] = [];
          for (const [id, title] of all) {
            told.push(await refusal(series.add((member) => begin(member, id, title))));
          }
          wanted.push(...series.claimed);
          return told;
        });
      const all: [string, string][] = [
        ["a", "Groceries"],
        ["b", "Books"],
        ["c", "Books"],
        ["c", "Records"],
      ];
      await assert.rejects(take(all), { kind: "alreadyExists", reason: "LIST_TITLE_TAKEN" });
      assert.deepEqual(await take(all, await holdersOf(store.db, wanted)), [
        "LIST_TITLE_TAKEN",
        "",
        "LIST_TITLE_TAKEN",
        "",
      ]);
      const log = await store.events.read({ instanceId: "one" });
      assert.deepEqual(
        log.map(({ aggregateId }) => aggregateId),
        ["stored", "b", "c"],
      );
    });

    it("is judged by the store where it is not committed", async () => {
      await using store = await fresh();
      await addList(store, "stored", "Groceries");
      const rehearsed = store.events.rehearse(by(), async (tx) => {
        const series = beginSeries(tx);
        await series.add((member) => begin(member, "a", "Groceries"));
        series.judge(await holdersOf(store.db, series.claimed));
      });
      await assert.rejects(rehearsed, { kind: "alreadyExists", reason: "LIST_TITLE_TAKEN" });
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
