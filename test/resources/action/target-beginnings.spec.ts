// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { caseFold } from "../../../src/storage/case-fold.ts";
import { bodyOf, startActionPeer } from "./action-peer.ts";

const action = await startActionPeer();
after(() => action[Symbol.asyncDispose]());
const { post, addTarget } = action;

// Letters that fold to more or to other letters, that join with the mark after them, and that need two code units.
const names = [
  "audit",
  "Audit 1",
  "auditor",
  "audi",
  "STRASSE",
  "straßen",
  "Straße 2",
  "ΣΊΣΥΦΟΣ",
  "σίσυφος 2",
  "e\u0301tat",
  "etat",
  "état 2",
  "İstanbul",
  "istanbul",
  "ﬁne",
  "fine print",
  "~",
  "~~",
  "🚀 launch",
  "🚀🚀",
  "\u{1f681}",
  "監査 ターゲット",
  "監察",
  "<script>; -- %_\\'",
  "%",
  "_",
];
for (const name of names) await addTarget({ name });
const begins = new Set(
  names.flatMap((name) => [...name].map((_, at) => [...name].slice(0, at + 1).join(""))),
);

async function found(name: string, method: string): Promise<string[]> {
  const filter = { name: { name, method: `TEXT_FILTER_METHOD_STARTS_WITH${method}` } };
  const { result, details } = bodyOf(await post("/targets/_search?query.limit=1000", [filter]));
  assert.equal(Number(details.total_result), result.length);
  return result.map(({ target }: { target: { name: string } }) => target.name).sort();
}

describe("the beginning of a name", () => {
  it("finds what begins with these very characters", async () => {
    for (const begin of begins) {
      const expected = names.filter((name) => name.startsWith(begin)).sort();
      assert.deepEqual(await found(begin, ""), expected, JSON.stringify(begin));
    }
  });
  it("finds what begins alike, whatever the case", async () => {
    for (const begin of begins) {
      const expected = names.filter((name) => caseFold(name).startsWith(caseFold(begin))).sort();
      assert.deepEqual(await found(begin, "_IGNORE_CASE"), expected, JSON.stringify(begin));
    }
  });
});
