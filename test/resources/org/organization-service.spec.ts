// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

const service = await startPeer();
const { app, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const organizationOf = async (id: string) => bodyOf(await get(`/organizations/${id}`)).organization;
const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
const notFound = { code: 5, reason: "ORGANIZATION_NOT_FOUND" };
const taken = { code: 6, reason: "ORGANIZATION_NAME_TAKEN" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const defaultId = app.made.organization_id;
const ids = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);

describe("creating an organization", () => {
  it("answers 201; the organization is active, owned by the instance, with a domain of its name", async () => {
    const name = `Größe & Söhne ${uniqueName()}`;
    const { details, ...rest } = bodyOf(await post("/organizations", { name }), 201);
    assert.deepEqual(rest, {});
    const owner = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };
    assert.deepEqual(details.resource_owner, owner);
    const read = await organizationOf(details.id);
    assert.deepEqual(read, {
      details,
      state: "EFFECTIVE_STATE_ACTIVE",
      organization: {
        name,
        domain: `gro-e-so-hne-${name.split(" ").slice(-2).join("-")}.localhost`,
      },
    });
  });

  it("gives each of many at once a domain, also where their names make the same one", async () => {
    const name = uniqueName("alike");
    const names = [1, 2, 3].map((spaces) => name.replaceAll(" ", " ".repeat(spaces)));
    const answers = await Promise.all(names.map((each) => post("/organizations", { name: each })));
    const made = await Promise.all(
      answers.map((each) => organizationOf(bodyOf(each, 201).details.id)),
    );
    const domains = made.map(({ organization }) => organization.domain);
    assert.equal(new Set(domains).size, 3, domains.join());
  });

  it("takes a domain, in any case, and makes it the primary one", async () => {
    const id = await addOrganization({ domain: "Taken.Example.COM" });
    assert.equal((await organizationOf(id)).organization.domain, "taken.example.com");
  });

  it("gives names that clean to the same domain domains of their own", async () => {
    const tag = uniqueName("same").replace(" ", "");
    const [one, two] = [
      await addOrganization({ name: `${tag} A` }),
      await addOrganization({ name: `${tag}-a` }),
    ];
    const domains = [
      (await organizationOf(one)).organization.domain,
      (await organizationOf(two)).organization.domain,
    ];
    assert.equal(new Set(domains).size, 2);
    assert.equal(domains[0], `${tag}-a.localhost`);
    assert.match(String(domains[1]), new RegExp(`^${tag}-a-\\d+\\.localhost$`));
  });

  const refused: [string, JsonObject, string][] = [
    ["without a name", {}, "organization.name"],
    ["with an empty name", { name: "" }, "organization.name"],
    ["with a name of 201 characters", { name: "n".repeat(201) }, "organization.name"],
    ["with control characters in the name", { name: "a\u0000b" }, "organization.name"],
    ["with a domain that is none", { name: "x", domain: "not a domain" }, "organization.domain"],
    [
      "with a domain of 254 characters",
      { name: "x", domain: `${"a.".repeat(126)}aa` },
      "organization.domain",
    ],
  ];
  for (const [what, organization, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post("/organizations", organization);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("D76: is refused with 409 when the name is taken, in this or a like spelling", async () => {
    const name = `Straße ${uniqueName()}`;
    await addOrganization({ name });
    for (const like of [name, name.toUpperCase(), name.replace("ß", "ss")]) {
      const { status, refusal } = await post("/organizations", { name: like });
      assert.equal(status, 409);
      assertRefused(refusal, taken, like);
    }
  });

  it("is refused to who may not create organizations", async () => {
    const { token } = await addMember(defaultId, ["ORG_OWNER"]);
    const { status, refusal } = await post("/organizations", { name: uniqueName() }, { token });
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });
});

describe("patching an organization", () => {
  it("renames it, frees the old name, and records nothing when nothing differs", async () => {
    const [name, wanted] = [uniqueName(), uniqueName()];
    const id = await addOrganization({ name });
    const { details } = bodyOf(await patch(`/organizations/${id}`, { name: wanted }));
    assert.deepEqual((await organizationOf(id)).details, details);
    await addOrganization({ name });
    const before = await eventCount();
    assert.deepEqual(bodyOf(await patch(`/organizations/${id}`, { name: wanted })), { details });
    assert.deepEqual(bodyOf(await patch(`/organizations/${id}`, {})), { details });
    assert.equal(await eventCount(), before);
  });

  it("is refused for an unknown organization", async () => {
    const { status, refusal } = await patch("/organizations/404", { name: "x" });
    assert.equal(status, 404);
    assertRefused(refusal, notFound);
  });
});

describe("the state of an organization", () => {
  it("goes back and forth; an action that finds it there already is refused", async () => {
    const id = await addOrganization();
    const act = (action: string) => post(`/organizations/${id}/_${action}`);
    assertRefused((await act("activate")).refusal, { code: 9, reason: "ORGANIZATION_ACTIVE" });
    bodyOf(await act("deactivate"));
    assert.equal((await organizationOf(id)).state, "EFFECTIVE_STATE_INACTIVE");
    assertRefused((await act("deactivate")).refusal, { code: 9, reason: "ORGANIZATION_INACTIVE" });
    bodyOf(await act("activate"));
    assert.equal((await organizationOf(id)).state, "EFFECTIVE_STATE_ACTIVE");
  });

  it("stops the tokens of its users at once, and lets them go on once it is active again", async () => {
    const id = await addOrganization();
    const { token } = await addMember(id, ["ORG_OWNER"]);
    bodyOf(await get(`/organizations/${id}`, { token }));
    bodyOf(await post(`/organizations/${id}/_deactivate`));
    const { status, refusal } = await get(`/organizations/${id}`, { token });
    assert.equal(status, 401);
    assertRefused(refusal, { code: 16, reason: "TOKEN_INVALID" });
    bodyOf(await post(`/organizations/${id}/_activate`));
    bodyOf(await get(`/organizations/${id}`, { token }));
  });
});

describe("the default organization", () => {
  it("is the one of the first start, until another is named", async () => {
    const read = async () => bodyOf(await get("/organizations/instance_default")).organization;
    assert.equal((await read()).details.id, defaultId);
    const id = await addOrganization();
    const { details } = bodyOf(await post(`/organizations/${id}/_set_as_instance_default`));
    assert.equal(details.id, id);
    assert.equal((await read()).details.id, id);
    const again = await post(`/organizations/${id}/_set_as_instance_default`);
    assertRefused(again.refusal, { code: 9, reason: "ORGANIZATION_IS_DEFAULT" });
    for (const refused of [
      await remove(`/organizations/${id}`),
      await post(`/organizations/${id}/_deactivate`),
    ]) {
      assertRefused(refused.refusal, { code: 9, reason: "ORGANIZATION_IS_DEFAULT" });
    }
    const { refusal } = await remove(`/organizations/${defaultId}`);
    assertRefused(refusal, { code: 9, reason: "ORGANIZATION_HOLDS_SERVICE" });
    bodyOf(await post(`/organizations/${defaultId}/_set_as_instance_default`));
  });

  it("cannot be an inactive one, and is named by who may write the instance", async () => {
    const id = await addOrganization();
    const { token } = await addMember(id, ["ORG_OWNER"]);
    const { refusal } = await post(`/organizations/${id}/_set_as_instance_default`, undefined, {
      token,
    });
    assertRefused(refusal, missing);
    bodyOf(await post(`/organizations/${id}/_deactivate`));
    const inactive = await post(`/organizations/${id}/_set_as_instance_default`);
    assertRefused(inactive.refusal, { code: 9, reason: "ORGANIZATION_INACTIVE" });
  });
});

describe("deleting an organization", () => {
  it("takes it and its users away at once, and frees its name and domains", async () => {
    const [name, domain] = [uniqueName(), "leaving.example.com"];
    const id = await addOrganization({ name, domain });
    const { token } = await addMember(id, ["ORG_OWNER"]);
    bodyOf(await remove(`/organizations/${id}`));
    assertRefused((await get(`/organizations/${id}`)).refusal, notFound);
    assertRefused((await remove(`/organizations/${id}`)).refusal, notFound);
    const { status } = await get(`/organizations/${id}`, { token });
    assert.equal(status, 401);
    const members = [{ context: { org_id: id } }];
    assertRefused((await post("/memberships/_search", members)).refusal, notFound);
    const all = bodyOf(await post("/memberships/_search"));
    assert.ok(
      all.result.every(
        ({ membership }: { membership: { ctx: { org_id?: string } } }) =>
          membership.ctx.org_id !== id,
      ),
    );
    await addOrganization({ name, domain });
  });
});

describe("searching organizations", () => {
  it("filters by ids, name, state and domain, and sorts by what is asked", async () => {
    const tag = uniqueName("found");
    const made = [
      await addOrganization({ name: `${tag} b`, domain: "b.found.test" }),
      await addOrganization({ name: `${tag} A`, domain: "a.found.test" }),
      await addOrganization({ name: `${tag} c`, domain: "c.found.test" }),
    ];
    bodyOf(await post(`/organizations/${made[2]}/_deactivate`));
    const named = { name: { name: tag, method: "TEXT_FILTER_METHOD_STARTS_WITH" } };
    const search = async (filters: JsonObject[], query = "") =>
      bodyOf(await post(`/organizations/_search?${query}`, filters));
    const byName = await search(
      [named],
      "query.asc=true&sorting_column=ORGANIZATION_FIELD_NAME_NAME",
    );
    assert.deepEqual(ids(byName), [made[1], made[0], made[2]]);
    assert.equal(byName.details.total_result, "3");
    assert.equal(byName.details.end_of_list, true);
    assert.deepEqual(ids(await search([named])), [made[2], made[1], made[0]]);
    const inactive = { state: { state: "EFFECTIVE_STATE_INACTIVE" } };
    assert.deepEqual(ids(await search([named, inactive])), [made[2]]);
    assert.deepEqual(ids(await search([{ in_ids: { ids: [made[0] ?? ""] } }])), [made[0]]);
    const domain = { domain: "FOUND.test", method: "TEXT_FILTER_METHOD_ENDS_WITH" };
    assert.equal((await search([{ domain }])).details.total_result, "3");
    const page = await search([named], "query.limit=1&query.offset=1");
    assert.deepEqual([ids(page), page.details.end_of_list], [[made[1]], false]);
  });

  it("shows only what the caller may read, and counts only that", async () => {
    const id = await addOrganization();
    const { token } = await addMember(id, ["ORG_OWNER_VIEWER"]);
    const found = bodyOf(await post("/organizations/_search", [], { token }));
    assert.deepEqual([ids(found), found.details.total_result], [[id], "1"]);
    const one = bodyOf(await post(`/organizations/_search?ctx.org_id=${id}`));
    assert.deepEqual(ids(one), [id]);
  });

  it("is no context of a caller who has nothing in it: it answers as an absent one (J13)", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const search = (query: string, headers: Record<string, string> = {}) =>
      post(`/users/_search${query}`, [], { token, headers });
    bodyOf(await search(`?ctx.org_id=${mine}`));
    bodyOf(await search("", { "x-idsvc-orgid": mine }));
    for (const id of [other, "404"]) {
      assertRefused((await search(`?ctx.org_id=${id}`)).refusal, notFound);
      assertRefused((await search("", { "x-idsvc-orgid": id })).refusal, notFound);
    }
  });

  it("D41: answers an organization that the caller may not read exactly as an absent one", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const hidden = await get(`/organizations/${other}`, { token });
    const absent = await get("/organizations/404", { token });
    assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    for (const refused of [
      await patch(`/organizations/${other}`, { name: "mine" }, { token }),
      await remove(`/organizations/${other}`, { token }),
      await post(`/organizations/${other}/_deactivate`, undefined, { token }),
    ]) {
      assertRefused(refused.refusal, notFound);
    }
    bodyOf(await patch(`/organizations/${mine}`, { name: uniqueName() }, { token }));
  });

  it("lets who may only read an organization not change it", async () => {
    const id = await addOrganization();
    const { token } = await addMember(id, ["ORG_OWNER_VIEWER", "ORG_SETTINGS_MANAGER"]);
    const { status, refusal } = await remove(`/organizations/${id}`, { token });
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });
});
