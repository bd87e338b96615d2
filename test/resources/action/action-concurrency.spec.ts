// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startActionPeer, uniqueName, url } from "./action-peer.ts";

const action = await startActionPeer();
const { app, get, post, patch, remove, addTarget, setExecution, eventCount } = action;
after(() => action[Symbol.asyncDispose]());

const together = <T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));
const busy = { code: 10, reason: "CONCURRENT_CHANGE" };

describe("changes at the same time", () => {
  it("of one target are each told as done, or as refused with 10; no change is lost", async () => {
    const id = await addTarget();
    const before = await eventCount();
    const answers = await together(20, (index) =>
      patch(`/targets/${id}`, { timeout: `${index + 1}.5s` }),
    );
    const sequences = new Set<string>();
    for (const answer of answers) {
      if (answer.status === 200) sequences.add(bodyOf(answer).details.sequence);
      else {
        assert.equal(answer.status, 409);
        assertRefused(answer.refusal, busy);
      }
    }
    const done = answers.filter(({ status }) => status === 200);
    assert.ok(done.length > 0);
    assert.equal(sequences.size, done.length, "each has a sequence of its own");
    assert.equal(await eventCount(), before + done.length);

    const aggregate = { type: "target", id };
    const log = await app.kernel.events.read({ instanceId: app.made.instance_id, aggregate });
    assert.equal(log.length, 1 + done.length);
    const { target } = bodyOf(await get(`/targets/${id}`));
    const last = log.at(-1);
    assert.ok(last);
    assert.equal(target.details.sequence, String(last.sequence));
    const { timeoutMs } = last.payload as { timeoutMs: number };
    assert.equal(target.target.timeout, `${(timeoutMs / 1000).toFixed(3)}s`);
  });

  it("of different fields of one target all stay", async () => {
    const id = await addTarget();
    const other = "http://localhost:9998/";
    const patches = [
      { timeout: "7s" },
      { rest_request_response: { url: other } },
      { is_async: true },
    ];
    const answers = await together(3, (index) => patch(`/targets/${id}`, patches[index]));
    for (const answer of answers) bodyOf(answer);
    const { name: _, ...stored } = bodyOf(await get(`/targets/${id}`)).target.target;
    const wanted = { timeout: "7s", rest_request_response: { url: other }, is_async: true };
    assert.deepEqual(stored, wanted);
  });

  it("that expect one sequence have one winner, and the others learn what it is now", async () => {
    const id = await addTarget();
    const sequence = bodyOf(await get(`/targets/${id}`)).target.details.sequence as string;
    const path = `/targets/${id}?expected_sequence=${sequence}`;
    const answers = await together(8, () => patch(path, { name: uniqueName() }));
    const [won, ...others] = answers.toSorted((a, b) => a.status - b.status);
    assert.ok(won);
    const now = bodyOf(won).details.sequence;
    for (const { refusal } of others) {
      assertRefused(refusal, { code: 10, reason: "SEQUENCE_MISMATCH" });
      assert.deepEqual(refusal.metadata, { sequence: now });
    }
  });

  it("that create one name have exactly one winner", async () => {
    const name = uniqueName();
    const before = await eventCount();
    const answers = await together(20, (index) => {
      const like = index % 2 === 0 ? name : name.toUpperCase();
      return post("/targets", { name: like, rest_webhook: { url } });
    });
    const won = answers.filter(({ status }) => status === 201);
    assert.equal(won.length, 1);
    for (const { status, refusal } of answers.filter((answer) => !won.includes(answer))) {
      assert.equal(status, 409);
      assertRefused(refusal, { code: 6, reason: "TARGET_NAME_TAKEN" });
    }
    assert.equal(await eventCount(), before + 1);
  });

  it("that set one new execution answer 201 once", async () => {
    const target = await addTarget();
    const condition = { event: { event: "target.changed" } };
    const before = await eventCount();
    const answers = await together(10, () => post("/executions", { condition, targets: [target] }));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    assert.deepEqual(statuses, [...Array<number>(9).fill(200), 201]);
    assert.equal(await eventCount(), before + 1);
  });

  it("that delete a target and list it leave no execution with a target that is gone", async () => {
    for (let round = 0; round < 5; round++) {
      const [kept, gone] = [await addTarget(), await addTarget()];
      const condition = { event: { group: "execution" } };
      const [deleted, ...puts] = await Promise.all([
        remove(`/targets/${gone}`),
        ...Array.from({ length: 4 }, (_, index) =>
          post("/executions", {
            condition,
            targets: index % 2 === 0 ? [kept, gone] : [gone, kept],
          }),
        ),
      ]);
      bodyOf(deleted);
      for (const { status, refusal } of puts) {
        if (refusal?.code === 10) assertRefused(refusal, busy);
        else if (status >= 400) assertRefused(refusal, { code: 5, reason: "TARGET_NOT_FOUND" });
      }
      const { result } = bodyOf(await post("/executions/_search", [{ target: { id: gone } }]));
      assert.deepEqual(result, []);
    }
  });

  it("that include each other make no cycle", async () => {
    const target = await addTarget();
    const [one, two] = [
      { response: { all: true } },
      { response: { method: app.app.endpoints[0]?.rule.path ?? "" } },
    ];
    const first = await setExecution(one, { targets: [target] });
    const second = await setExecution(two, { targets: [target] });
    const answers = await Promise.all([
      post("/executions", { condition: one, targets: [target], includes: [second] }),
      post("/executions", { condition: two, targets: [target], includes: [first] }),
    ]);
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(refused.length, 1);
    assertRefused(refused[0]?.refusal, { code: 9, reason: "EXECUTION_INCLUDE_CYCLE" });
  });
});
