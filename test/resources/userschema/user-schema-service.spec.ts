// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startPeer();
const { app, get, post, patch, remove, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const schema = { type: "object", properties: { badge: { type: "integer" } } };
const create = async (more: JsonObject = {}) => {
  const answer = await post("/user_schemas", { type: uniqueName("type"), schema, ...more });
  return String(bodyOf(answer, 201).details.id);
};
const read = async (id: string) => bodyOf(await get(`/user_schemas/${id}`)).user_schema;
const notFound = { code: 5, reason: "USER_SCHEMA_NOT_FOUND" };
const inactive = { code: 9, reason: "USER_SCHEMA_INACTIVE" };
const builtIn = { code: 9, reason: "USER_SCHEMA_BUILT_IN" };
const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
const owner = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };

describe("creating a user schema", () => {
  it("answers 201; the schema is active, owned by the instance, at revision 1", async () => {
    const type = uniqueName("employee");
    const possible_authenticators = ["AUTHENTICATOR_TYPE_USERNAME", "AUTHENTICATOR_TYPE_PASSWORD"];
    const wanted = { type, schema, possible_authenticators };
    const { details, ...rest } = bodyOf(await post("/user_schemas", wanted), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, owner);
    assert.deepEqual(await read(details.id), {
      details,
      state: "STATE_ACTIVE",
      revision: 1,
      user_schema: wanted,
    });
  });

  const authenticators = (...names: string[]) => ({
    type: "x",
    schema,
    possible_authenticators: names.map((name) => `AUTHENTICATOR_TYPE_${name}`),
  });
  const refused: [string, JsonObject, string][] = [
    ["without a type", { schema }, "user_schema.type"],
    ["with an empty type", { type: "", schema }, "user_schema.type"],
    ["with a type of 201 characters", { type: "t".repeat(201), schema }, "user_schema.type"],
    ["without a schema", { type: "x" }, "user_schema.schema"],
    [
      "with no way in particular",
      authenticators("UNSPECIFIED"),
      "user_schema.possible_authenticators[0]",
    ],
    [
      "with a way given twice",
      authenticators("TOTP", "TOTP"),
      "user_schema.possible_authenticators",
    ],
  ];
  for (const [what, wanted, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post("/user_schemas", wanted);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused with a document that is no schema, naming the place", async () => {
    const wrong = { type: "object", properties: { badge: { type: "whole" } } };
    for (const answer of [
      await post("/user_schemas", { type: "x", schema: wrong }),
      await patch(`/user_schemas/${await create()}`, { schema: wrong }),
    ]) {
      assert.equal(answer.status, 400);
      const field = "user_schema.schema.properties.badge.type";
      assertRefused(answer.refusal, { code: 3, reason: "USER_SCHEMA_INVALID", field });
    }
  });

  it("D41: is refused to who has no such permission on the instance, an owner of an organization among them", async () => {
    const { token } = await addMember(app.made.organization_id, ["ORG_OWNER"]);
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    for (const caller of [{ token }, { token: viewer.token }]) {
      const { status, refusal } = await post("/user_schemas", { type: "x", schema }, caller);
      assert.equal(status, 403);
      assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    }
    bodyOf(await get("/user_schemas/human", { token: viewer.token }));
    const hidden = await get("/user_schemas/human", { token });
    assertRefused(hidden.refusal, { code: 7, reason: "PERMISSION_MISSING" });
  });
});

describe("patching a user schema", () => {
  it("counts a revision for another schema, and none for anything else", async () => {
    const id = await create();
    const type = uniqueName("renamed");
    bodyOf(await patch(`/user_schemas/${id}`, { type }));
    assert.equal((await read(id)).revision, 1);
    const other = { ...schema, required: ["badge"] };
    const { details } = bodyOf(await patch(`/user_schemas/${id}`, { schema: other }));
    const possible_authenticators = ["AUTHENTICATOR_TYPE_PUBLIC_KEY"];
    const expected = { type, schema: other, possible_authenticators: [] as string[] };
    assert.deepEqual(await read(id), {
      details,
      state: "STATE_ACTIVE",
      revision: 2,
      user_schema: expected,
    });
    bodyOf(await patch(`/user_schemas/${id}`, { possible_authenticators }));
    const { revision, user_schema } = await read(id);
    assert.deepEqual([revision, user_schema], [2, { ...expected, possible_authenticators }]);
  });

  it("records nothing when nothing differs, the order of properties included", async () => {
    const id = await create();
    const { details, user_schema } = await read(id);
    const before = await eventCount();
    const turned = { properties: schema.properties, type: schema.type };
    for (const same of [{}, { type: user_schema.type }, { schema: turned }]) {
      assert.deepEqual(bodyOf(await patch(`/user_schemas/${id}`, same)), { details });
    }
    assert.equal(await eventCount(), before);
  });

  it("is refused for an unknown schema", async () => {
    const { status, refusal } = await patch("/user_schemas/404", { type: "x" });
    assert.equal(status, 404);
    assertRefused(refusal, notFound);
  });
});

describe("the state of a user schema", () => {
  it("goes back and forth; an action that finds it there already is refused", async () => {
    const id = await create();
    const act = (action: string) => post(`/user_schemas/${id}/_${action}`);
    assertRefused((await act("reactivate")).refusal, { code: 9, reason: "USER_SCHEMA_ACTIVE" });
    bodyOf(await act("deactivate"));
    assert.equal((await read(id)).state, "STATE_INACTIVE");
    assertRefused((await act("deactivate")).refusal, inactive);
    bodyOf(await act("reactivate"));
    assert.equal((await read(id)).state, "STATE_ACTIVE");
  });

  it("is read-only while inactive, and no user is made by it", async () => {
    const id = await create();
    bodyOf(await post(`/user_schemas/${id}/_deactivate`));
    assertRefused((await patch(`/user_schemas/${id}`, { type: "other" })).refusal, inactive);
    const user = { schema_id: id, username: uniqueName("user"), data: {} };
    assertRefused((await post("/users", user)).refusal, inactive);
  });
});

describe("deleting a user schema", () => {
  it("takes it away", async () => {
    const id = await create();
    bodyOf(await remove(`/user_schemas/${id}`));
    assertRefused((await get(`/user_schemas/${id}`)).refusal, notFound);
    assertRefused((await remove(`/user_schemas/${id}`)).refusal, notFound);
    const user = { schema_id: id, username: uniqueName("user"), data: {} };
    assertRefused((await post("/users", user)).refusal, notFound);
  });

  it("is refused while it has users", async () => {
    const id = await create();
    const user = { schema_id: id, username: uniqueName("user"), data: { badge: 7 } };
    const made = bodyOf(await post("/users", user), 201);
    const { status, refusal } = await remove(`/user_schemas/${id}`);
    assert.equal(status, 400);
    assertRefused(refusal, { code: 9, reason: "USER_SCHEMA_IN_USE" });
    bodyOf(await remove(`/users/${made.details.id}`));
    bodyOf(await remove(`/user_schemas/${id}`));
  });

  it("leaves no user without schema when one is made at the same time", async () => {
    for (let round = 0; round < 10; round++) {
      const id = await create();
      const user = { schema_id: id, username: uniqueName("user"), data: {} };
      const [made, removed] = await Promise.all([
        post("/users", user),
        remove(`/user_schemas/${id}`),
      ]);
      const refused = made.status === 201 ? removed : made;
      const reason = made.status === 201 ? "USER_SCHEMA_IN_USE" : "USER_SCHEMA_NOT_FOUND";
      assertRefused(refused.refusal, { code: made.status === 201 ? 9 : 5, reason });
    }
  });
});

describe("the built-in user schemas", () => {
  for (const id of ["human", "machine"]) {
    it(`are there from the start and cannot be changed: ${id}`, async () => {
      const { details, state, revision, user_schema } = await read(id);
      assert.deepEqual([details.id, details.resource_owner], [id, owner]);
      assert.deepEqual([state, revision, user_schema.type], ["STATE_ACTIVE", 1, id]);
      assert.equal(user_schema.schema.type, "object");
      for (const { status, refusal } of [
        await patch(`/user_schemas/${id}`, { type: "mine" }),
        await post(`/user_schemas/${id}/_deactivate`),
        await post(`/user_schemas/${id}/_reactivate`),
        await remove(`/user_schemas/${id}`),
      ]) {
        assert.equal(status, 400);
        assertRefused(refusal, builtIn);
      }
    });
  }

  it("name the standard claims of people", async () => {
    const { properties } = (await read("human")).user_schema.schema;
    const claims = `given_name family_name middle_name nickname display_name preferred_language gender picture website
      profile birthdate zoneinfo address`;
    assert.deepEqual(Object.keys(properties).sort(), claims.split(/\s+/).sort());
    const address = "formatted street_address locality region postal_code country"
      .split(" ")
      .sort();
    assert.deepEqual(Object.keys(properties.address.properties).sort(), address);
    const machine = (await read("machine")).user_schema.schema.properties;
    assert.deepEqual(Object.keys(machine), ["name", "description", "access_token_type"]);
  });
});

describe("searching user schemas", () => {
  const search = async (filters: JsonObject[] = [], query = "") =>
    bodyOf(await post(`/user_schemas/_search?${query}`, filters));
  const ids = (found: { result: { details: { id: string } }[] }) =>
    found.result.map(({ details }) => details.id);
  const typeFilter = (type: string, method = "EQUALS") => ({
    type_filter: { type, method: `TEXT_FILTER_METHOD_${method}` },
  });
  const byIds = (...wanted: string[]) => ({ in_ids: { ids: wanted } });

  it("pages, sorts and counts built-in and other schemas alike", async () => {
    const [b, k] = [await create({ type: "b found" }), await create({ type: "k found" })];
    const all = byIds("human", "machine", b, k);
    const byType = "query.asc=true&sorting_column=USER_SCHEMA_FIELD_NAME_TYPE";
    assert.deepEqual(ids(await search([all], byType)), [b, "human", k, "machine"]);
    const page = await search([all], `${byType}&query.offset=1&query.limit=2`);
    assert.deepEqual(ids(page), ["human", k]);
    assert.deepEqual([page.details.total_result, page.details.end_of_list], ["4", false]);
    const total = async () => Number((await search([], "query.limit=1")).details.total_result);
    const before = await total();
    await create();
    assert.equal(await total(), before + 1);
    assert.deepEqual(ids(await search([], "query.asc=true&query.limit=2")), ["human", "machine"]);
    bodyOf(await patch(`/user_schemas/${b}`, { schema: { type: "object" } }));
    const sorted = async (column: string) =>
      ids(await search([byIds(b, k)], `sorting_column=USER_SCHEMA_FIELD_NAME_${column}`));
    assert.deepEqual(await sorted("REVISION"), [b, k]);
    assert.deepEqual(await sorted("CHANGE_DATE"), [b, k]);
    assert.deepEqual(await sorted("CREATION_DATE"), [k, b]);
    assert.deepEqual(await sorted("ID"), [k, b]);
    bodyOf(await post(`/user_schemas/${b}/_deactivate`));
    assert.deepEqual(await sorted("STATE"), [b, k]);
  });

  it("filters by type, state and id, and by what is made of them", async () => {
    const tag = uniqueName("Filtered");
    const [on, off] = [await create({ type: `${tag} on` }), await create({ type: `${tag} off` })];
    bodyOf(await post(`/user_schemas/${off}/_deactivate`));
    const tagged = typeFilter(tag, "STARTS_WITH");
    const inState = (state: string) => ({ state_filter: { state: `STATE_${state}` } });
    const found = async (...filters: JsonObject[]) => ids(await search(filters, "query.asc=true"));
    assert.deepEqual(await found(tagged), [on, off]);
    assert.deepEqual(await found(typeFilter(tag.toUpperCase(), "STARTS_WITH")), []);
    const folded = typeFilter(tag.toUpperCase(), "STARTS_WITH_IGNORE_CASE");
    assert.deepEqual(await found(folded), [on, off]);
    assert.deepEqual(await found(tagged, inState("INACTIVE")), [off]);
    assert.deepEqual(await found({ id_filter: { id: on } }), [on]);
    const starts = { id: "hum", method: "TEXT_FILTER_METHOD_STARTS_WITH" };
    assert.deepEqual(await found({ id_filter: starts }), ["human"]);
    assert.deepEqual(await found(typeFilter("human")), ["human"]);
    const either = { or_filter: { queries: [typeFilter("machine"), typeFilter(`${tag} on`)] } };
    assert.deepEqual(await found(either), ["machine", on]);
    const neither = { not_filter: { filter: either } };
    assert.deepEqual(await found(tagged, neither), [off]);
    const both = { and_filter: { queries: [tagged, inState("ACTIVE")] } };
    assert.deepEqual(await found(both), [on]);
    assert.deepEqual(
      await found({ or_filter: { queries: [typeFilter("", "CONTAINS")] } }, tagged),
      [on, off],
    );
  });

  it("refuses filters that are too many or stand too deep in each other", async () => {
    const leaf = typeFilter("x");
    const not = (filter: JsonObject): JsonObject => ({ not_filter: { filter } });
    bodyOf(await post("/user_schemas/_search", [not(not(leaf))]));
    const deep = await post("/user_schemas/_search", [not(not(not(leaf)))]);
    const field = "filters[0].not_filter.filter.not_filter.filter.not_filter.filter";
    assertRefused(deep.refusal, { code: 3, reason: "FILTER_TOO_DEEP", field });
    const many = (count: number) => ({ or_filter: { queries: Array(count).fill(leaf) } });
    bodyOf(await post("/user_schemas/_search", [many(49), many(49)]));
    const more = await post("/user_schemas/_search", [many(50), many(49)]);
    const last = "filters[1].or_filter.queries[48]";
    assertRefused(more.refusal, { code: 3, reason: "FILTERS_TOO_MANY", field: last });
  });

  const refused: [string, JsonObject, string][] = [
    [
      "an empty list to choose from",
      { or_filter: { queries: [] } },
      "filters[0].or_filter.queries",
    ],
    ["no filter to turn round", { not_filter: {} }, "filters[0].not_filter.filter"],
    ["no state", { state_filter: {} }, "filters[0].state_filter.state"],
    ["an empty id", { id_filter: { id: "" } }, "filters[0].id_filter.id"],
    ["an id of 201 characters", { id_filter: { id: "1".repeat(201) } }, "filters[0].id_filter.id"],
    [
      "1001 ids deep inside",
      {
        or_filter: {
          queries: [
            typeFilter("x"),
            { and_filter: { queries: [byIds(...Array(1001).fill("1"))] } },
          ],
        },
      },
      "filters[0].or_filter.queries[1].and_filter.queries[0].in_ids.ids",
    ],
    [
      "a type of 201 characters inside",
      { not_filter: { filter: typeFilter("t".repeat(201)) } },
      "filters[0].not_filter.filter.type_filter.type",
    ],
  ];
  for (const [what, filter, field] of refused) {
    it(`refuses a filter with ${what}`, async () => {
      const { status, refusal } = await post("/user_schemas/_search", [filter]);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
    });
  }
});
