// Run: alone, store, early
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { eq } from "../../src/storage/drizzle.ts";
import { rebuildProjections, verifyProjections } from "../../src/projection/rebuild.ts";
import { targets } from "../../src/resources/action/target/target.ts";
import { executions } from "../../src/resources/action/execution/projection.ts";
import { bodyOf, startActionPeer, uniqueName, url } from "../resources/action/action-peer.ts";
import { engine } from "../support/app.ts";
import { beside } from "../support/beside.ts";
import type { RestAnswer } from "../support/protocols.ts";

const peer = await startActionPeer();
after(() => peer[Symbol.asyncDispose]());
const { kernel } = peer.app;
const tables = kernel.projectionTables;

/** Tables whose rows differ from a fresh fold of the log. */
async function differing(): Promise<string[]> {
  const found = await verifyProjections(kernel, tables);
  return [...found].filter(([, rows]) => rows > 0).map(([table, rows]) => `${table}: ${rows}`);
}
const rebuild = () => rebuildProjections(kernel, tables);

async function tamper(statement: string): Promise<void> {
  const { changes } = await beside(kernel, statement);
  assert.ok(changes > 0, "the statement changes something");
}

async function allRows(): Promise<unknown[]> {
  const dump: unknown[] = [];
  for (const { name } of [...tables, { name: "row_counts" }]) {
    const { rows } = await beside(kernel, `SELECT * FROM "${name}"`);
    dump.push([name, rows.map((row) => JSON.stringify(row)).toSorted()]);
  }
  return dump;
}

/** One of every command there is, more than once. */
async function commands(): Promise<void> {
  const ids: string[] = [];
  for (let at = 0; at < 6; at++) ids.push(await peer.addTarget());
  const [a = "", b = "", c = "", d = ""] = ids;
  await peer.patch(`/targets/${a}`, { name: `patched ${a}`, timeout: "3s", is_async: true });
  await peer.patch(`/targets/${b}`, { rotate_signing_key: true });
  const on = (condition: JsonObject, calls: JsonObject) => peer.setExecution(condition, calls);
  const all = await on({ request: { all: true } }, { targets: [a, b] });
  const event = { event: { group: "target" } };
  await on(
    { request: { service: "idsvc.resources.action.v3alpha.ActionService" } },
    {
      targets: [c],
      includes: [all],
    },
  );
  await on(event, { targets: [d, c] });
  await on(event, { targets: [c, d] });
  await peer.remove(`/targets/${c}`);
  await peer.remove(`/executions/${all}`);
  const features = { oidc_token_exchange: { set: true } };
  await peer.peer.rest("PATCH", "/settings/v3alpha/features", features, { token: peer.app.token });
}

describe("projections", () => {
  it("equal a fresh fold of the log after every kind of command (C2)", async () => {
    await commands();
    assert.deepEqual(await differing(), []);
  });
  it("are the same rows and counts after a rebuild", async () => {
    await commands();
    const before = await allRows();
    await rebuild();
    assert.deepEqual(await allRows(), before);
  });
  it("keep the date of creation of an execution that is put again", async () => {
    const target = await peer.addTarget();
    const condition = { function: "preuserinfo" };
    const id = await peer.setExecution(condition, { targets: [target] });
    const t = kernel.db.table(executions);
    const created = async () => {
      const [row] = await kernel.db.read.select().from(t).where(eq(t.id, id));
      return row?.creationDate;
    };
    const before = await created();
    await setTimeout(5);
    await peer.setExecution(condition, { targets: [target, await peer.addTarget()] });
    assert.deepEqual(await created(), before);
  });
});

describe("verifying projections", () => {
  for (const [what, statement, expected] of [
    [
      "a changed row, on both sides",
      "UPDATE targets SET url = 'http://evil.example' WHERE id = (SELECT max(id) FROM targets)",
      ["targets: 2"],
    ],
    [
      "a row that is gone",
      "DELETE FROM memberships WHERE id = (SELECT min(id) FROM memberships)",
      ["memberships: 1"],
    ],
    [
      "a row that nothing in the log explains",
      `INSERT INTO memberships SELECT instance_id, 'forged', user_id, context_type, context_id,
         organization_id, project_id, '["IAM_OWNER"]', is_accepted, sequence, creation_date, change_date FROM memberships LIMIT 1`,
      ["memberships: 1"],
    ],
  ] as const)
    it(`finds ${what}, and a rebuild repairs it`, async () => {
      await peer.addTarget();
      await tamper(statement);
      assert.deepEqual(await differing(), expected);
      await rebuild();
      assert.deepEqual(await differing(), []);
    });
  it("leaves no trace in the store", async () => {
    await differing();
    const list =
      engine === "sqlite"
        ? "SELECT name FROM sqlite_schema"
        : "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    const { rows } = await beside(kernel, list);
    const names = rows.map(([name]) => String(name));
    assert.ok(names.includes("targets"));
    assert.deepEqual(
      names.filter((name) => name.includes("rebuild")),
      [],
    );
  });
  it("is done while the service writes, and finds nothing", async () => {
    const { found, written } = await whileWriting(() => differing());
    assert.deepEqual(found, []);
    assert.ok(written > 5, `${written} writes went on meanwhile`);
  });
});

// From here on the log is long: what comes before rebuilds everything again and again.
describe("rebuilding projections", () => {
  it("leaves them whole after a log of several thousand events", async () => {
    const id = await peer.addTarget();
    const { instance_id: instanceId } = peer.app.made;
    const by = { instanceId, editorId: "bulk", service: "", clientId: "", requestId: "" };
    for (let round = 0; round < 5; round++) {
      await kernel.events.transact(by, async (tx) => {
        const loaded = await tx.load(targets.aggregate, id);
        const changed = (nth: number) =>
          targets.events["changed"]({ url: `https://example.com/${round}/${nth}` });
        const happened = Array.from({ length: 500 }, (_, nth) => changed(nth));
        tx.record(targets.aggregate, loaded, happened);
      });
    }
    const before = await allRows();
    assert.match(JSON.stringify(before), /example\.com\/4\/499/);
    await rebuild();
    assert.deepEqual(await allRows(), before);
  });
  it("loses nothing that is written meanwhile, and every read is whole (F14)", async () => {
    const { written, ids } = await whileWriting(rebuild);
    assert.ok(written > 5, `${written} writes went on meanwhile`);
    assert.deepEqual(await differing(), []);
    for (const id of ids) assert.equal((await peer.get(`/targets/${id}`)).status, 200);
  });
  it("counts right what is written after it", async () => {
    await rebuild();
    await peer.addTarget();
    const one = async (sql: string): Promise<number> =>
      Number((await beside(kernel, sql)).rows[0]?.[0]);
    const counted = await one("SELECT sum(rows) FROM row_counts WHERE table_name = 'targets'");
    assert.equal(counted, await one("SELECT count(*) FROM targets"));
  });
});

/**
 * Where the machine does much else, locks are waited for longer than callers are told to: nothing was changed then, and they try again. Names
 * are taken once, so what was changed all the same would be refused.
 */
async function untilNotBusy(call: () => Promise<RestAnswer>): Promise<RestAnswer> {
  for (;;) {
    const answer = await call();
    if (answer.refusal?.reason !== "STORE_BUSY") return answer;
  }
}

/** Creates targets, and reads each at once, for as long as the work takes and some rounds more. */
async function whileWriting<T>(work: () => Promise<T>) {
  const ids: string[] = [];
  let going = true;
  const writer = async () => {
    while (going) {
      const target = { name: uniqueName(), rest_webhook: { url } };
      const { details } = bodyOf(await untilNotBusy(() => peer.post("/targets", target)), 201);
      const read = await untilNotBusy(() => peer.get(`/targets/${details.id}`));
      assert.equal(read.status, 200, "read your own write (C2)");
      ids.push(String(details.id));
    }
  };
  const writers = [writer(), writer(), writer()];
  const found = await work();
  while (ids.length <= 5) await peer.get("/targets/none");
  going = false;
  await Promise.all(writers);
  return { found, written: ids.length, ids };
}
