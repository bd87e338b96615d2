// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { grouped } from "../../src/storage/postgres/groups.ts";
import {
  deleteRows,
  insertRow,
  joined,
  PendingSequence,
  putRow,
  type RowChange,
  updateRows,
} from "../../src/storage/row-change.ts";
import { int64, table, text } from "../../src/storage/table.ts";

const columns = { instanceId: text(), id: text(), kind: text(), state: text(), sequence: int64() };
const things = table("things", columns, { key: ["instanceId", "id"], cachedBy: "kind" });
const others = table("others", columns, { key: ["instanceId", "id"] });

const at = (id: string) => ({ instanceId: "one", id });
const row = (id: string, index = 0) => ({
  ...at(id),
  kind: "a",
  state: "new",
  sequence: new PendingSequence(index),
});
const old = (id: string) => updateRows(things, at(id), { state: "old" });
/** What is left, as `op id:state`. */
const told = (changes: readonly RowChange[]) =>
  changes.map((change) => {
    const by = "where" in change ? change.where : change.values;
    const state = "values" in change ? String(change.values["state"]) : "";
    return `${change.op} ${String(by["id"])}:${state}`;
  });

describe("joined row changes", () => {
  it("write a row that is made and then changed once, as it is in the end", () => {
    const changes = joined([
      insertRow(things, row("x")),
      updateRows(things, at("x"), { state: "mid", sequence: new PendingSequence(1) }),
      insertRow(things, row("y")),
      updateRows(things, at("x"), { state: "old", sequence: new PendingSequence(2) }),
    ]);
    assert.deepEqual(told(changes), ["insert x:old", "insert y:new"]);
    const [first] = changes;
    assert.deepEqual(
      first && "values" in first && first.values["sequence"],
      new PendingSequence(2),
    );
  });

  it("join changes of a row that was put, unless they change what it keeps", () => {
    assert.deepEqual(told(joined([putRow(things, row("x")), old("x")])), ["put x:old"]);
    const keeping = [putRow(things, row("x"), ["state"]), old("x")];
    assert.deepEqual(told(joined(keeping)), ["put x:new", "update x:old"]);
  });

  const apart: Record<string, RowChange[]> = {
    "what may touch several rows stands between": [
      insertRow(things, row("x")),
      updateRows(things, { instanceId: "one" }, { state: "mid" }),
      old("x"),
    ],
    "the row was deleted between": [
      insertRow(things, row("x")),
      deleteRows(things, at("x")),
      old("x"),
    ],
    "the key changes": [insertRow(things, row("x")), updateRows(things, at("x"), { id: "z" })],
    "what cached reads go by changes": [
      insertRow(things, row("x")),
      updateRows(things, at("x"), { kind: "b" }),
    ],
    "it is a row of another table": [
      insertRow(things, row("x")),
      updateRows(others, at("x"), { state: "old" }),
    ],
  };
  for (const [why, changes] of Object.entries(apart)) {
    it(`stay as they are where ${why}`, () => assert.deepEqual(joined(changes), changes));
  }
});

describe("row changes in groups", () => {
  const groupsOf = (...changes: RowChange[]) => grouped(changes).map((group) => told(group));

  it("go together where they make rows of one shape, whatever comes between in other tables", () => {
    const groups = groupsOf(
      insertRow(things, row("x")),
      insertRow(others, row("x")),
      putRow(things, row("y")),
      insertRow(things, row("z")),
    );
    assert.deepEqual(groups, [["insert x:new", "insert z:new"], ["insert x:new"], ["put y:new"]]);
  });

  it("go together where they change rows alike, each another one", () => {
    assert.deepEqual(groupsOf(old("x"), old("y")), [["update x:old", "update y:old"]]);
    assert.deepEqual(groupsOf(deleteRows(things, at("x")), deleteRows(things, at("y"))), [
      ["delete x:", "delete y:"],
    ]);
  });

  const apart: Record<string, RowChange[]> = {
    "about one row": [putRow(things, row("x")), putRow(things, row("x"))],
    "of a row and of what made it": [
      insertRow(things, row("x")),
      old("x"),
      insertRow(things, row("y")),
    ],
    "of one row twice": [old("x"), updateRows(things, at("x"), { state: "mid" })],
    "that move rows into each other's condition": [
      updateRows(things, { state: "old" }, { state: "mid" }),
      updateRows(things, { state: "new" }, { state: "old" }),
    ],
    "with other columns": [
      insertRow(things, row("x")),
      insertRow(things, { ...row("y"), sequence: 5n }),
    ],
  };
  for (const [which, changes] of Object.entries(apart)) {
    it(`stay in their order ${which}`, () =>
      assert.deepEqual(
        grouped(changes),
        changes.map((change) => [change]),
      ));
  }
});
