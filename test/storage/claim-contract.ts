import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ClaimChange, ClaimTaken } from "../../src/storage/database.ts";
import { claims } from "../../src/storage/kernel-tables.ts";
import type { Fresh } from "./contract.ts";
import { happened, logOf, unit } from "./place.ts";

type Part = Partial<ClaimChange>;
const claim = (op: ClaimChange["op"], holderId: string, part: Part): ClaimChange => ({
  op,
  scope: "one",
  kind: "name",
  holderType: "note",
  holderId,
  ...part,
});
const hold = (holderId: string, value: string, part: Part = {}) =>
  claim("hold", holderId, { value, ...part });
const add = (holderId: string, value: string, part: Part = {}) =>
  claim("add", holderId, { value, ...part });
const release = (holderId: string, part: Part = {}) => claim("release", holderId, part);

const taken = (error: unknown) => error instanceof ClaimTaken && error.kind === "name";

/** Uniqueness claims (C4, F12): one holder a value. */
export function claimContract(fresh: () => Promise<Fresh>): void {
  const commit = ({ db }: Fresh, ...changes: ClaimChange[]) => db.commit(unit({ claims: changes }));
  const held = async ({ db }: Fresh): Promise<string[]> => {
    const t = db.table(claims);
    const rows = await db.read.select().from(t).orderBy(t.scope, t.kind, t.value);
    return rows.map(({ scope, kind, value, holderId }) => `${scope}/${kind}/${value}=${holderId}`);
  };

  describe("claiming a value", () => {
    it("is refused while another object holds it, and the whole unit with it", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"));
      const second = unit({ claims: [hold("b", "x")], events: [happened("b", 1n)] });
      await assert.rejects(store.db.commit(second), taken);
      assert.deepEqual(await held(store), ["one/name/x=a"]);
      assert.deepEqual(await logOf(store.db), []);
    });
    it("is no news for the one who holds it", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"));
      await commit(store, hold("a", "x"));
      assert.deepEqual(await held(store), ["one/name/x=a"]);
    });
    it("by hold lets go of what the object held of the kind", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"), hold("a", "other", { kind: "domain" }));
      await commit(store, hold("a", "y"));
      await commit(store, hold("b", "x"));
      assert.deepEqual(await held(store), ["one/domain/other=a", "one/name/x=b", "one/name/y=a"]);
    });
    it("by add keeps what the object holds of the kind", async () => {
      await using store = await fresh();
      await commit(store, add("a", "x"), add("a", "y"));
      assert.deepEqual(await held(store), ["one/name/x=a", "one/name/y=a"]);
      await assert.rejects(commit(store, add("b", "y")), taken);
    });
    it("is refused for an object of another type with the same id", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"));
      await assert.rejects(commit(store, hold("a", "x", { holderType: "other" })), taken);
    });
    it("compares values byte by byte: folding them is the event's business", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"), hold("b", "X"), hold("c", "x "));
      assert.equal((await held(store)).length, 3);
    });
    it("counts within its scope: another instance is free, the system is one", async () => {
      await using store = await fresh();
      await commit(
        store,
        hold("a", "x"),
        hold("b", "x", { scope: "two" }),
        hold("c", "x", { scope: "" }),
      );
      assert.deepEqual(await held(store), ["/name/x=c", "one/name/x=a", "two/name/x=b"]);
      const elsewhere = unit({ instanceId: "two", claims: [hold("d", "x", { scope: "" })] });
      await assert.rejects(store.db.commit(elsewhere), taken);
    });
  });

  describe("releasing a claim", () => {
    it("without a value frees all that the object holds of the kind", async () => {
      await using store = await fresh();
      await commit(store, add("a", "x"), add("a", "y"), add("a", "z", { kind: "domain" }));
      await commit(store, release("a"));
      assert.deepEqual(await held(store), ["one/domain/z=a"]);
    });
    it("with a value frees that one", async () => {
      await using store = await fresh();
      await commit(store, add("a", "x"), add("a", "y"));
      await commit(store, release("a", { value: "x" }));
      assert.deepEqual(await held(store), ["one/name/y=a"]);
    });
    it("frees nothing that another object holds", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"));
      await commit(store, release("b", { value: "x" }), release("b"));
      assert.deepEqual(await held(store), ["one/name/x=a"]);
    });
    it("frees nothing that an object of the same id holds in another scope", async () => {
      await using store = await fresh();
      for (const scope of ["one", "two"]) await commit(store, hold("a", "x", { scope }));
      await commit(store, hold("a", "y", { scope: "one" }));
      assert.deepEqual(await held(store), ["one/name/y=a", "two/name/x=a"]);
      await commit(store, release("a", { scope: "one" }));
      assert.deepEqual(await held(store), ["two/name/x=a"]);
    });
    it("and taking it by another object go together in one unit", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"));
      await commit(store, release("a"), hold("b", "x"));
      assert.deepEqual(await held(store), ["one/name/x=b"]);
    });
    it("is undone when the unit fails, so that the holder keeps it", async () => {
      await using store = await fresh();
      await commit(store, hold("a", "x"), hold("b", "y"));
      await assert.rejects(commit(store, release("a"), hold("c", "y")), taken);
      assert.deepEqual(await held(store), ["one/name/x=a", "one/name/y=b"]);
    });
  });

  describe("racing for a claim", () => {
    it("has exactly one winner among units that are committed together", async () => {
      await using store = await fresh();
      const racers = ["a", "b", "c", "d"].map((id) =>
        store.db.commit(unit({ claims: [hold(id, "x")], events: [happened(id, 1n)] })),
      );
      const outcomes = await Promise.allSettled(racers);
      const losers = outcomes.filter((outcome) => outcome.status === "rejected");
      assert.equal(losers.length, 3);
      for (const { reason } of losers) assert.ok(taken(reason));
      const [winner] = await logOf(store.db);
      assert.deepEqual(await held(store), [`one/name/x=${winner?.id}`]);
      assert.equal((await logOf(store.db)).length, 1);
    });
    it("has one holder a value at any time, through takes, moves and releases", async () => {
      await using store = await fresh();
      const values = ["x", "y", "z"];
      const rounds = Array.from({ length: 200 }, (_, at) => {
        const holder = `h${at % 7}`;
        const value = values[(at * 5) % 3] ?? "";
        return at % 4 === 3 ? release(holder) : hold(holder, value);
      });
      const holds = new Map<string, string>();
      const outcomes = await Promise.allSettled(rounds.map((change) => commit(store, change)));
      // Units that arrive together are committed in the order of their arrival.
      rounds.forEach((change, at) => {
        const { op, holderId, value = "" } = change;
        const winner = holds.get(value);
        const free = op === "release" || winner === undefined || winner === holderId;
        assert.equal(outcomes[at]?.status, free ? "fulfilled" : "rejected");
        if (!free) return;
        for (const [each, by] of holds) if (by === holderId) holds.delete(each);
        if (op === "hold") holds.set(value, holderId);
      });
      assert.deepEqual(
        await held(store),
        [...holds].map(([value, holder]) => `one/name/${value}=${holder}`).sort(),
      );
    });
  });
}
