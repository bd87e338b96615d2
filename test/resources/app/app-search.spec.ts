// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startAppPeer } from "./app-peer.ts";

const service = await startAppPeer();
const { patch, post, addApp, addProject, addOrganization, addMember, addProjectMember } = service;
after(() => service[Symbol.asyncDispose]());

const ids = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);
const search = async (filters: JsonObject[], query = "", token?: string) =>
  bodyOf(await post(`/apps/_search?${query}`, filters, token === undefined ? {} : { token }));

describe("searching apps", () => {
  it("filters by everything, and sorts by what is asked", async () => {
    const domain = `${uniqueName("apps").replace(" ", "-")}.test`;
    const organization = await addOrganization({ domain });
    const project = await addProject(organization);
    const tag = uniqueName("found");
    const made = [
      await addApp({ project_id: project, name: `${tag} b` }),
      await addApp({ project_id: project, name: `${tag} A`, api: {} }),
      await addApp({ name: `${tag} c` }),
    ];
    const [b, a, c] = made.map(({ id }) => id);
    bodyOf(await post(`/apps/${c}/_deactivate`));
    const named = { name: { name: tag, method: "TEXT_FILTER_METHOD_STARTS_WITH" } };
    const rows: [JsonObject[], (string | undefined)[]][] = [
      [[named], [c, a, b]],
      [[named, { state: { state: "EFFECTIVE_STATE_INACTIVE" } }], [c]],
      [
        [named, { state: { state: "EFFECTIVE_STATE_ACTIVE" } }],
        [a, b],
      ],
      [[{ in_ids: { ids: [String(b), String(c)] } }], [c, b]],
      [[{ project_id: project }], [a, b]],
      [[{ client_id: String(made[1]?.clientId) }], [a]],
      [[{ client_id: "404" }], []],
      [[{ organization: { org_id: organization } }], [a, b]],
      [[{ organization: { org_domain: domain } }], [a, b]],
      [[{ organization: { org_domain: "404.test" } }], []],
    ];
    for (const [filters, expected] of rows) {
      const found = await search(filters);
      assert.deepEqual(ids(found), expected, JSON.stringify(filters));
      assert.equal(found.details.total_result, String(expected.length));
    }
    assert.deepEqual(ids(await search([], `ctx.org_id=${organization}`)), [a, b]);

    bodyOf(await patch(`/apps/${b}`, { oidc: { dev_mode: true } }));
    const sorts: [string, (string | undefined)[]][] = [
      ["APP_FIELD_NAME_NAME", [a, b, c]],
      ["APP_FIELD_NAME_CHANGE_DATE", [a, c, b]],
      ["APP_FIELD_NAME_CREATION_DATE", [b, a, c]],
      ["APP_FIELD_NAME_ID", [b, a, c]],
    ];
    for (const [column, expected] of sorts) {
      const found = await search([named], `query.asc=true&sorting_column=${column}`);
      assert.deepEqual([ids(found), found.sorting_column], [expected, column]);
    }
    const page = await search([named], "query.limit=1&query.offset=1");
    assert.deepEqual([ids(page), page.details.end_of_list], [[a], false]);
  });

  it("D42: shows only what the caller may read, and counts only that", async () => {
    const organization = await addOrganization();
    const projectId = await addProject(organization);
    const { id } = await addApp({ project_id: projectId });
    const sibling = await addApp({ project_id: await addProject(organization) });
    const viewer = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    const owner = await addProjectMember(projectId, ["PROJECT_OWNER"]);
    const ofViewer = await search([], "", viewer.token);
    assert.deepEqual([ids(ofViewer), ofViewer.details.total_result], [[sibling.id, id], "2"]);
    const ofOwner = await search([], "", owner.token);
    assert.deepEqual([ids(ofOwner), ofOwner.details.total_result], [[id], "1"]);
  });

  it("is refused with a filter that is none, and with 101 of them", async () => {
    const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
    const none = await post("/apps/_search", [{}]);
    assertRefused(none.refusal, invalid("filters[0].filter"));
    const many = Array.from({ length: 101 }, () => ({ project_id: "1" }));
    assertRefused((await post("/apps/_search", many)).refusal, invalid("filters"));
  });
});
