// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { idpReader } from "../../../src/resources/idp/index.ts";
import { linkIdp } from "../../../src/resources/user/index.ts";
import { featureReader } from "../../../src/settings/feature/index.ts";
import { until } from "../../executor/executor-peer.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { idsOf, inContext, startIdpPeer } from "./idp-peer.ts";

const service = await startIdpPeer();
const { app, deps, get, instance, instanceId, patch, post, remove } = service;
const { addIdp, addMember, addOrganization, eventCount, idpOf, search, setPolicy } = service;
after(() => service[Symbol.asyncDispose]());

const notFound = { code: 5, reason: "IDP_NOT_FOUND" };
const noOrganization = { code: 5, reason: "ORGANIZATION_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const state = (isActive: boolean) => `EFFECTIVE_STATE_${isActive ? "ACTIVE" : "INACTIVE"}`;
const on = {
  multitenancy_resources_api: true,
  multitenancy_settings: true,
  oidc_token_exchange: true,
};
const reader = idpReader(deps.db, featureReader(deps.db, on));
const policies = ["INHERIT", "ACTIVATE", "DEACTIVATE"] as const;

/** What a login of the context is told of a provider. */
async function atLogin(organization: string | undefined, id: string) {
  await deps.db.catchUp();
  const offered = await reader.list(instanceId, organization);
  return {
    state: await reader.effectiveState(instanceId, organization, id),
    isOffered: offered.some((each) => each.id === id),
  };
}

describe("an identity provider of the instance, in an organization", () => {
  for (const above of policies) {
    for (const own of policies) {
      const parentIsActive = above !== "DEACTIVATE";
      const isActive = own === "INHERIT" ? parentIsActive : own === "ACTIVATE";
      it(`D63: that says ${own} where the instance says ${above} is ${state(isActive)}, in search, get and login alike`, async () => {
        const organization = await addOrganization();
        const id = await addIdp(undefined, { state_policy: `STATE_POLICY_${above}` });
        bodyOf(await setPolicy(id, own, organization));
        const seen = await idpOf(id, organization);
        assert.equal(seen.state, state(isActive));
        assert.equal(seen.idp.idp.state_policy, `STATE_POLICY_${own}`);
        assert.deepEqual(seen.parent, { parent: instance, state: state(parentIsActive) });
        const { config: _, ...common } = seen.idp;
        const found = await search([{ id: { id } }], inContext(organization));
        assert.deepEqual(found.result, [{ ...seen, idp: common.idp }]);
        const by = [{ id: { id } }, { state: { state: state(isActive) } }];
        assert.deepEqual(idsOf(await search(by, inContext(organization))), [id]);
        const told = { state: isActive ? "active" : "inactive", isOffered: isActive };
        assert.deepEqual(await atLogin(organization, id), told);
        assert.equal((await idpOf(id)).state, state(parentIsActive));
        assert.equal((await idpOf(id)).parent, undefined);
      });
    }
  }

  it("is inherited, active, in every organization that says nothing", async () => {
    const [organization, id] = [await addOrganization(), await addIdp()];
    const seen = await idpOf(id, organization);
    assert.equal(seen.idp.idp.state_policy, "STATE_POLICY_INHERIT");
    assert.equal(seen.state, "EFFECTIVE_STATE_ACTIVE");
    assert.deepEqual(seen.details, (await idpOf(id)).details);
  });

  it("takes its name, options and configuration from the instance alone (E3)", async () => {
    const [organization, id] = [await addOrganization(), await addIdp()];
    const before = await eventCount();
    const refused: [JsonObject, string][] = [
      [{ idp: { name: "other" } }, "idp.idp.name"],
      [{ idp: { options: {} } }, "idp.idp.options"],
      [{ config: { client_id: "other" } }, "idp.config"],
      [{ idp: { state_policy: "STATE_POLICY_ACTIVATE" }, config: {} }, "idp.config"],
    ];
    for (const [body, field] of refused) {
      const { status, refusal } = await patch(
        `/idps/forge_b/${id}${inContext(organization)}`,
        body,
      );
      assert.equal(status, 400);
      assertRefused(refusal, { code: 9, reason: "INHERITED_READ_ONLY" });
      assert.deepEqual(refusal.metadata, { field });
    }
    assert.equal(await eventCount(), before);
    const headers = { "x-idsvc-orgid": organization };
    const byHeader = await patch(
      `/idps/forge_b/${id}`,
      { idp: { name: "x" } },
      { token: app.token, headers },
    );
    assertRefused(byHeader.refusal, { code: 9, reason: "INHERITED_READ_ONLY" });
  });

  it("records a policy once, and tells of the last event that shaped it", async () => {
    const [organization, id] = [await addOrganization(), await addIdp()];
    const { details } = bodyOf(await setPolicy(id, "DEACTIVATE", organization));
    assert.equal(details.id, id);
    assert.deepEqual(details.resource_owner, instance);
    assert.deepEqual((await idpOf(id, organization)).details, details);
    const before = await eventCount();
    const same = [
      await setPolicy(id, "DEACTIVATE", organization),
      await patch(`/idps/forge_b/${id}${inContext(organization)}`, {}),
    ];
    for (const answer of same) assert.deepEqual(bodyOf(answer).details, details);
    assert.equal(await eventCount(), before);
    const renamed = bodyOf(await patch(`/idps/forge_b/${id}`, { idp: { name: "renamed" } }));
    assert.deepEqual((await idpOf(id, organization)).details, renamed.details);
  });

  it("is not deleted from there: 403", async () => {
    const [organization, id] = [await addOrganization(), await addIdp()];
    const { status, refusal } = await remove(`/idps/${id}${inContext(organization)}`);
    assert.equal(status, 403);
    assertRefused(refusal, { code: 7, reason: "INHERITED_NOT_DELETABLE" });
    assert.equal((await idpOf(id)).details.id, id);
  });

  it("is changed by no decision of a neighbour", async () => {
    const [one, two, id] = [await addOrganization(), await addOrganization(), await addIdp()];
    bodyOf(await setPolicy(id, "DEACTIVATE", one));
    assert.equal((await idpOf(id, two)).state, "EFFECTIVE_STATE_ACTIVE");
    assert.equal((await idpOf(id)).state, "EFFECTIVE_STATE_ACTIVE");
  });

  it("D63: is off for every login while its feature is off, and as before when it is on again", async () => {
    const [organization, id] = [await addOrganization(), await addIdp()];
    await service.setFeature(false);
    const { refusal } = await get(`/idps/forge_b/${id}`);
    assertRefused(refusal, { code: 9, reason: "FEATURE_DISABLED" });
    assert.deepEqual(await atLogin(organization, id), { state: "inactive", isOffered: false });
    await service.setFeature(true);
    assert.deepEqual(await atLogin(organization, id), { state: "active", isOffered: true });
  });

  it("D63: is off for every login once it is deleted", async () => {
    const [organization, id] = [await addOrganization(), await addIdp()];
    bodyOf(await remove(`/idps/${id}`));
    assert.deepEqual(await atLogin(organization, id), { state: undefined, isOffered: false });
    assert.equal(await reader.provider(instanceId, id), undefined);
  });
});

describe("an identity provider of an organization", () => {
  it("is nobody else's: not in other organizations, and not inherited by the instance", async () => {
    const [own, other] = [await addOrganization(), await addOrganization()];
    const id = await addIdp(own);
    for (const answer of [
      await get(`/idps/forge_b/${id}${inContext(other)}`),
      await setPolicy(id, "ACTIVATE", other),
      await remove(`/idps/${id}${inContext(other)}`),
      await post(`/idps/${id}/_preview_state_policy${inContext(other)}`, {
        state_policy: "STATE_POLICY_DEACTIVATE",
      }),
    ]) {
      assertRefused(answer.refusal, notFound);
    }
    assert.deepEqual(idsOf(await search([{ id: { id } }], inContext(other))), []);
    assert.deepEqual(idsOf(await search([{ id: { id } }], inContext(own))), [id]);
    assert.deepEqual(await atLogin(other, id), { state: undefined, isOffered: false });
    assert.deepEqual(await atLogin(undefined, id), { state: undefined, isOffered: false });
    assert.deepEqual(await atLogin(own, id), { state: "active", isOffered: true });
  });

  it("goes with it: 404 at once, and soon with all that was kept of it", async () => {
    const organization = await addOrganization();
    const [own, inherited] = [await addIdp(organization), await addIdp()];
    bodyOf(await setPolicy(inherited, "DEACTIVATE", organization));
    bodyOf(await remove(`/organizations/${organization}`));
    assertRefused((await get(`/idps/forge_b/${own}`)).refusal, notFound);
    assertRefused((await setPolicy(own, "ACTIVATE")).refusal, notFound);
    assert.deepEqual(idsOf(await search([{ id: { id: own } }])), []);
    const removed = () =>
      app.kernel.events.read({
        instanceId,
        aggregate: { type: "idp", id: own },
        types: ["org.idp.removed"],
      });
    await until("the provider goes", async () => (await removed()).length === 1);
    assert.equal((await idpOf(inherited)).state, "EFFECTIVE_STATE_ACTIVE");
    await deps.db.catchUp();
    assert.equal(await reader.provider(instanceId, own), undefined);
  });
});

describe("who may see and change identity providers (B3, B4)", () => {
  it("lets an owner of an organization see what it has and inherits, and decide for it alone", async () => {
    const [own, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(own, ["ORG_OWNER"]);
    const [mine, foreign, shared] = [await addIdp(own), await addIdp(other), await addIdp()];
    const all = (found: Awaited<ReturnType<typeof search>>) =>
      idsOf(found)
        .filter((id) => [mine, foreign, shared].includes(id))
        .toSorted();
    const wide = "query.limit=1000";
    assert.deepEqual(all(await search([], `?${wide}`, token)), [mine]);
    const inOwn = await search([], `${inContext(own)}&${wide}`, token);
    assert.deepEqual(all(inOwn), [mine, shared].toSorted());
    assert.equal(inOwn.details.total_result, String(inOwn.result.length));
    bodyOf(await patch(`/idps/forge_b/${mine}`, { idp: { name: "own" } }, { token }));
    const deactivate = { idp: { state_policy: "STATE_POLICY_DEACTIVATE" } };
    bodyOf(await patch(`/idps/forge_b/${shared}${inContext(own)}`, deactivate, { token }));
    // What they may not read is, for them, not there.
    for (const id of [foreign, shared]) {
      assertRefused((await get(`/idps/forge_b/${id}`, { token })).refusal, notFound);
      assertRefused((await patch(`/idps/forge_b/${id}`, deactivate, { token })).refusal, notFound);
      assertRefused((await remove(`/idps/${id}`, { token })).refusal, notFound);
    }
    const elsewhere = await get(`/idps/forge_b/${shared}${inContext(other)}`, { token });
    assertRefused(elsewhere.refusal, noOrganization);
    const searched = await post(`/idps/_search${inContext(other)}`, [], { token });
    assertRefused(searched.refusal, noOrganization);
  });

  it("refuses a viewer with 403 what they may read and not change", async () => {
    const own = await addOrganization();
    const { token } = await addMember(own, ["ORG_OWNER_VIEWER", "ORG_USER_MANAGER"]);
    const id = await addIdp(own);
    bodyOf(await get(`/idps/forge_b/${id}`, { token }));
    const viewer = await addMember(own, ["ORG_OWNER_VIEWER"]);
    assertRefused((await patch(`/idps/forge_b/${id}`, {}, viewer)).refusal, missing);
    // Somebody who may write elsewhere gets in, and is then refused on the object.
    const writer = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const membership = {
      ctx: { org_id: own },
      user_id: writer.userId,
      roles: ["ORG_OWNER_VIEWER"],
    };
    bodyOf(await post("/memberships", membership), 201);
    for (const answer of [
      await patch(`/idps/forge_b/${id}`, {}, writer),
      await remove(`/idps/${id}`, writer),
      await post(
        `/idps/${id}/_preview_state_policy`,
        { state_policy: "STATE_POLICY_ACTIVATE" },
        writer,
      ),
    ]) {
      assert.equal(answer.status, 403);
      assertRefused(answer.refusal, missing);
    }
  });

  it("gives IAM_ORG_MANAGER those of organizations, and not those of the instance itself", async () => {
    const manager = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const [organization, shared] = [await addOrganization(), await addIdp()];
    const own = await addIdp(organization);
    bodyOf(await patch(`/idps/forge_b/${own}`, { idp: { name: "managed" } }, manager));
    bodyOf(await get(`/idps/forge_b/${shared}${inContext(organization)}`, manager));
    assertRefused((await get(`/idps/forge_b/${shared}`, manager)).refusal, notFound);
    const body = { config: { client_id: "x" } };
    assertRefused((await post("/idps/forge_b", body, manager)).refusal, missing);
    const found = await search([{ id: { id: shared } }], "", manager.token);
    assert.deepEqual(idsOf(found), []);
  });
});

describe("listing what organizations decided", () => {
  const decided = async (id: string, query = "", options: { token?: string } = {}) =>
    bodyOf(await get(`/idps/${id}/state_policies${query}`, options));
  type Decision = { organization_id: string; state: string };
  const shown = ({ result }: { result: Decision[] }) =>
    result.map((each) => [each.organization_id, each.state]);

  it("tells those who decided for themselves, page by page, and what they decided", async () => {
    const id = await addIdp();
    const organizations = [
      await addOrganization(),
      await addOrganization(),
      await addOrganization(),
    ].toSorted();
    const [first = "", second = "", third = ""] = organizations;
    bodyOf(await setPolicy(id, "ACTIVATE", first));
    bodyOf(await setPolicy(id, "DEACTIVATE", second));
    bodyOf(await setPolicy(id, "ACTIVATE", third));
    const page = await decided(id, "?query.limit=2&query.asc=true");
    assert.deepEqual(shown(page), [
      [first, "EFFECTIVE_STATE_ACTIVE"],
      [second, "EFFECTIVE_STATE_INACTIVE"],
    ]);
    assert.equal(page.details.total_result, "3");
    assert.equal(page.details.end_of_list, false);
    const { next } = page.details;
    const rest = await decided(id, `?query.limit=2&query.asc=true&query.after=${next}`);
    assert.deepEqual(shown(rest), [[third, "EFFECTIVE_STATE_ACTIVE"]]);
    assert.equal(rest.details.end_of_list, true);
    bodyOf(await setPolicy(id, "INHERIT", third));
    bodyOf(await remove(`/organizations/${first}`));
    const left = await decided(id);
    assert.deepEqual(shown(left), [[second, "EFFECTIVE_STATE_INACTIVE"]]);
    assert.equal(left.details.total_result, "1");
  });

  it("is for who may read the provider in the instance, and refuses what names another list", async () => {
    const [id, other] = [await addIdp(), await addIdp()];
    const [organization, second] = [await addOrganization(), await addOrganization()];
    bodyOf(await setPolicy(id, "DEACTIVATE", organization));
    bodyOf(await setPolicy(id, "DEACTIVATE", second));
    const owner = await addMember(organization, ["ORG_OWNER"]);
    assertRefused((await get(`/idps/${id}/state_policies`, owner)).refusal, notFound);
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const { details } = await decided(id, "?query.limit=1", viewer);
    const elsewhere = `/idps/${other}/state_policies?query.after=${details.next}`;
    const invalid = { code: 3, reason: "CURSOR_INVALID" };
    assertRefused((await get(elsewhere, viewer)).refusal, invalid);
    const both = `/idps/${id}/state_policies?query.offset=1&query.after=${details.next}`;
    assertRefused((await get(both, viewer)).refusal, { code: 3, reason: "OFFSET_WITH_CURSOR" });
    const own = await addIdp(organization);
    assert.deepEqual(shown(await decided(own, "", owner)), []);
  });
});

describe("previewing a state policy", () => {
  /** A person of an organization with an account at the provider. */
  async function addLinked(organization: string, idpId: string): Promise<string> {
    const person = {
      username: uniqueName("linked").replace(" ", "-"),
      data: { given_name: "Ada", family_name: "King" },
    };
    const made = bodyOf(await post(`/users${inContext(organization)}`, person), 201);
    const userId = String(made.details.id);
    const by = { instanceId, editorId: "test", service: "test", clientId: "", requestId: "test" };
    await deps.events.transact(by, (tx) =>
      linkIdp(tx, userId, { idpId, externalUserId: userId, username: "ada" }),
    );
    return userId;
  }

  const preview = (id: string, policy: string, organization?: string) =>
    post(`/idps/${id}/_preview_state_policy${inContext(organization)}`, {
      state_policy: `STATE_POLICY_${policy}`,
    });

  it("counts the organizations and apps whose state would change, and changes nothing", async () => {
    const id = await addIdp();
    const [follows, decides] = [await addOrganization(), await addOrganization()];
    bodyOf(await setPolicy(id, "ACTIVATE", decides));
    const headers = { "x-idsvc-orgid": follows };
    const options = { token: app.token, headers };
    const project = bodyOf(await post("/projects", { name: "previewed" }, options), 201).details.id;
    const made = await post("/apps", { project_id: project, name: "app", api: {} }, options);
    const client = bodyOf(made, 201).details.id;
    const [linked, unaffected] = [await addLinked(follows, id), await addLinked(decides, id)];
    const before = await eventCount();
    const told = bodyOf(await preview(id, "DEACTIVATE"));
    assert.equal(told.state_before, "EFFECTIVE_STATE_ACTIVE");
    assert.equal(told.state_after, "EFFECTIVE_STATE_INACTIVE");
    assert.ok(told.organizations.ids.includes(follows));
    assert.ok(!told.organizations.ids.includes(decides));
    assert.equal(told.organizations.total, String(told.organizations.ids.length));
    assert.ok(told.apps.ids.includes(client));
    assert.deepEqual(told.users, { total: "1", ids: [linked] });
    const there = bodyOf(await preview(id, "DEACTIVATE", decides));
    assert.deepEqual(there.users, { total: "1", ids: [unaffected] });
    assert.equal(await eventCount(), before);
    assert.equal((await idpOf(id)).state, "EFFECTIVE_STATE_ACTIVE");
  });

  it("tells of one organization in its context, and of nobody where the state stays", async () => {
    const [id, organization] = [await addIdp(), await addOrganization()];
    const one = bodyOf(await preview(id, "DEACTIVATE", organization));
    assert.deepEqual(one.organizations, { total: "1", ids: [organization] });
    const same = bodyOf(await preview(id, "ACTIVATE", organization));
    assert.equal(same.state_after, same.state_before);
    const nobody = { total: "0", ids: [] };
    assert.deepEqual([same.organizations, same.users, same.apps], [nobody, nobody, nobody]);
    bodyOf(await setPolicy(id, "DEACTIVATE"));
    bodyOf(await setPolicy(id, "ACTIVATE", organization));
    const inherits = bodyOf(await preview(id, "INHERIT", organization));
    assert.equal(inherits.state_after, "EFFECTIVE_STATE_INACTIVE");
  });

  it("is refused without a policy, for an unknown one and for an unknown provider", async () => {
    const id = await addIdp();
    const field = "preview.state_policy";
    const none = await post(`/idps/${id}/_preview_state_policy`, {});
    assertRefused(none.refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    const odd = await post(`/idps/${id}/_preview_state_policy`, { state_policy: 8 });
    assertRefused(odd.refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    assertRefused((await preview("404", "INHERIT")).refusal, notFound);
  });
});
