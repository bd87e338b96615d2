// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { addCaller } from "../support/app.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { human, importPeer, newName } from "./import-peer.ts";

let ahead = 0;
let peer: ResourcePeer;
let imports: ReturnType<typeof importPeer>;
before(async () => {
  peer = await startPeer({ now: () => new Date(Date.now() + ahead) });
  imports = importPeer(peer);
});
after(() => peer[Symbol.asyncDispose]());

const path = "/import/_search";
const list = async (request: JsonObject = {}) => bodyOf(await imports.call("POST", path, request));
const idsOf = ({ result }: { result?: { id: string }[] }) => (result ?? []).map(({ id }) => id);

/** Imports one after the other, each at an instant of its own; the last one has a record that is refused. */
async function bringThree(): Promise<string[]> {
  const ids: string[] = [];
  for (const nth of [0, 1, 2]) {
    ahead += 1_000;
    const name = newName("listed");
    const people = [
      human(`${name}-a`),
      ...(nth === 2 ? [human(`${name}-b`, { userName: "" })] : []),
    ];
    const org = { orgId: name, org: { name }, humanUsers: people };
    const { job } = await imports.bring([org], nth === 1 ? "?dryRun=true" : "");
    ids.push(String(job.id));
  }
  return ids;
}

describe("the list of imports", () => {
  it("is empty at first", async () => {
    assert.deepEqual((await list()).result ?? [], []);
  });

  it("has each with its state and its counts, the latest first, page by page", async () => {
    const [first = "", second = "", third = ""] = await bringThree();
    const all = await list();
    assert.deepEqual(idsOf(all), [third, second, first]);
    assert.equal(all.details.totalResult, "3");
    for (const id of [first, second, third]) {
      const { job } = bodyOf(await imports.call("GET", `/import/${id}`));
      const shown = all.result.find((each: { id: string }) => each.id === id);
      assert.deepEqual(shown, job);
    }
    const [refusing, trial] = all.result;
    assert.deepEqual([refusing.created, refusing.refused, refusing.total], ["2", "1", "3"]);
    assert.equal(trial.dryRun, true);

    assert.deepEqual(idsOf(await list({ query: { asc: true } })), [first, second, third]);
    const page = await list({ query: { limit: 2, skipTotal: true } });
    assert.deepEqual(idsOf(page), [third, second]);
    const { next } = page.details;
    const rest = await list({ query: { limit: 2, skipTotal: true, after: next } });
    assert.deepEqual(idsOf(rest), [first]);
    assert.equal(rest.details.next ?? "", "");
  });

  it("is kept to one state", async () => {
    const of = async (state: string) =>
      (await list({ filters: [{ state: { state } }] })).result ?? [];
    assert.ok((await of("IMPORT_STATE_COMPLETED")).length >= 3);
    assert.deepEqual(await of("IMPORT_STATE_PAUSED"), []);
    for (const state of ["IMPORT_STATE_UNSPECIFIED", "77"]) {
      const filters = [{ state: { state: state === "77" ? 77 : state } }];
      const { refusal } = await imports.call("POST", path, { filters });
      const field = "filters[0].state.state";
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    }
  });

  it("refuses a cursor that was made up", async () => {
    const { refusal } = await imports.call("POST", path, { query: { after: "made-up" } });
    assertRefused(refusal, { code: 3, reason: "CURSOR_INVALID", field: "query.after" });
  });

  it("is for who administers the instance", async () => {
    const owner = await peer.addMember(await peer.addOrganization(), ["ORG_OWNER"]);
    const viewer = await addCaller(peer.app, ["IAM_OWNER_VIEWER"]);
    for (const { token } of [owner, viewer]) {
      const { status, refusal } = await imports.call("POST", path, {}, { token });
      assert.equal(status, 403);
      assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    }
  });
});
