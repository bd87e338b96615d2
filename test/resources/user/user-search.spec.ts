// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

const service = await startPeer();
const { post, addOrganization } = service;
after(() => service[Symbol.asyncDispose]());

describe("searching users, found by fuzzing (decision 0090)", () => {
  it("puts who has no address before who has one, and last in descending order", async () => {
    const here = { organization: { org_id: await addOrganization() } };
    const people: string[] = [];
    for (const address of ["b@example.com", undefined, "a@example.com"]) {
      const contact = address === undefined ? {} : { email: { address, is_verified: true } };
      const wanted = { username: uniqueName("ordered"), data: { given_name: "Ada" }, contact };
      const at = `/users?ctx.org_id=${here.organization.org_id}`;
      people.push(String(bodyOf(await post(at, wanted), 201).details.id));
    }
    const [b, none, a] = people;
    const ordered = async (asc: boolean) => {
      const query = `query.asc=${asc}&sorting_column=USER_FIELD_NAME_EMAIL`;
      const found = bodyOf(await post(`/users/_search?${query}`, [here]));
      return found.result.map(({ details }: { details: { id: string } }) => details.id);
    };
    assert.deepEqual(await ordered(true), [none, a, b]);
    assert.deepEqual(await ordered(false), [b, a, none]);
  });

  it("takes a part of no text for a part of every text, among others too", async () => {
    const part = { email: { name: "", method: "TEXT_FILTER_METHOD_CONTAINS" } };
    const nobody = { in_ids: { ids: [] } };
    const all = Number(bodyOf(await post("/users/_search")).details.total_result);
    const either = bodyOf(await post("/users/_search", [{ or: { filters: [part, nobody] } }]));
    assert.equal(Number(either.details.total_result), all);
  });

  it("refuses more filters than a hundred, and more ids than a database takes", async () => {
    const one = { username: { name: "x" } };
    const many = { or: { filters: Array(99).fill(one) } };
    bodyOf(await post("/users/_search", [many]));
    const more = await post("/users/_search", [many, one]);
    assertRefused(more.refusal, { code: 3, reason: "FILTERS_TOO_MANY", field: "filters[1]" });
    const thousand = { in_ids: { ids: Array.from({ length: 1_000 }, (_, at) => String(at)) } };
    bodyOf(await post("/users/_search", Array(30).fill(thousand)));
    const { refusal } = await post("/users/_search", Array(31).fill(thousand));
    assertRefused(refusal, { code: 3, reason: "FILTER_VALUES_TOO_MANY", field: "filters" });
  });
});

describe("searching memberships, found by fuzzing (decision 0090)", () => {
  it("finds nothing of a role that no text of the store can be", async () => {
    const found = bodyOf(await post("/memberships/_search", [{ role: { role: "\u0000" } }]));
    assert.equal(Number(found.details.total_result ?? 0), 0);
    const owners = bodyOf(await post("/memberships/_search", [{ role: { role: "IAM_OWNER" } }]));
    assert.ok(Number(owners.details.total_result) > 0);
  });
});
