// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { forgeB, idsOf, inContext, startIdpPeer } from "./idp-peer.ts";

const service = await startIdpPeer();
const { app, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
const { addIdp, idpOf, instance, search } = service;
after(() => service[Symbol.asyncDispose]());

const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });
const notFound = { code: 5, reason: "IDP_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const { client_secret: _, ...shown } = forgeB;
const builtIn = { scopes: ["openid", "profile", "email"] };
const noOptions = {
  is_linking_allowed: false,
  is_creation_allowed: false,
  is_auto_creation: false,
  is_auto_update: false,
  is_second_factor: false,
  is_email_trusted: false,
  is_phone_trusted: false,
  auto_linking: "AUTO_LINKING_OPTION_UNSPECIFIED",
};

describe("creating an identity provider", () => {
  it("answers 201; it is of the instance, active, and read without its secret", async () => {
    const name = uniqueName("Forge");
    const idp = { name, options: { is_auto_update: true } };
    const { details, ...rest } = bodyOf(await post("/idps/forge_b", { idp, config: forgeB }), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, instance);
    const { change_date: at, ...others } = details;
    assert.deepEqual(await idpOf(details.id), {
      details: { ...others, change_date: at },
      state: "EFFECTIVE_STATE_ACTIVE",
      type: "PROVIDER_TYPE_FORGE_B",
      idp: {
        idp: {
          name,
          state_policy: "STATE_POLICY_INHERIT",
          options: { ...noOptions, is_auto_update: true },
        },
        config: { ...shown, ...builtIn },
      },
    });
  });

  it("belongs to the organization that ctx or the header names", async () => {
    const organization = await addOrganization();
    const headers = { "x-idsvc-orgid": organization };
    const body = { config: forgeB };
    for (const answer of [
      await post(`/idps/forge_b${inContext(organization)}`, body),
      await post("/idps/forge_b", body, { token: app.token, headers }),
    ]) {
      const { details } = bodyOf(answer, 201);
      const owner = { type: "OWNER_TYPE_ORG", id: organization };
      assert.deepEqual(details.resource_owner, owner);
      assert.deepEqual((await idpOf(details.id)).details.resource_owner, owner);
    }
  });

  it("does not fall back to the organization of the caller (B2)", async () => {
    const { token } = await addMember(app.made.organization_id, ["ORG_OWNER"]);
    const { refusal } = await post("/idps/forge_b", { config: forgeB }, { token });
    assertRefused(refusal, missing);
  });

  it("is called as its type where no name is given; names need not be unique", async () => {
    for (const idp of [undefined, {}, { name: "" }]) {
      const body = { config: forgeB, ...(idp && { idp }) };
      const { details } = bodyOf(await post("/idps/forge_b", body), 201);
      assert.equal((await idpOf(details.id)).idp.idp.name, "Forge B");
    }
  });

  const name = (text: string): JsonObject => ({ idp: { name: text }, config: forgeB });
  const config = (more: JsonObject): JsonObject => ({ config: { ...forgeB, ...more } });
  const refused: [string, JsonObject, string][] = [
    ["without a configuration", {}, "idp.config"],
    ["with a name of 201 characters", name("n".repeat(201)), "idp.idp.name"],
    ["with control characters in the name", name("a\u0000b"), "idp.idp.name"],
    ["without a client id", { config: {} }, "idp.config.client_id"],
    [
      "with a client id of 201 characters",
      config({ client_id: "c".repeat(201) }),
      "idp.config.client_id",
    ],
    ["with an empty secret", config({ client_secret: "" }), "idp.config.client_secret"],
    ["with 21 scopes", config({ scopes: Array(21).fill("s") }), "idp.config.scopes"],
    ["with a scope of two words", config({ scopes: ["open id"] }), "idp.config.scopes[0]"],
    ["with an issuer that is no URL", config({ issuer: "forge" }), "idp.config.issuer"],
    [
      "with an issuer that is not http",
      config({ issuer: "ftp://forge.test" }),
      "idp.config.issuer",
    ],
    [
      "with an unknown policy",
      { idp: { state_policy: 9 }, config: forgeB },
      "idp.idp.state_policy",
    ],
    [
      "with an unknown way of linking",
      { idp: { options: { auto_linking: 7 } }, config: forgeB },
      "idp.idp.options.auto_linking",
    ],
  ];
  for (const [what, body, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post("/idps/forge_b", body);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused for an issuer at an address that the service must not call (X13)", async () => {
    const issuer = "http://169.254.169.254";
    const { refusal } = await post("/idps/forge_b", { config: { ...forgeB, issuer } });
    assertRefused(refusal, { code: 3, reason: "TARGET_URL_DENIED", field: "idp.config.issuer" });
  });
});

describe("the context of a call on identity providers", () => {
  const contexts: [string, number, string][] = [
    ["ctx.org_id=1&ctx.instance_id=2", 3, "INVALID_JSON_FIELD"],
    ["ctx.system=false", 3, "CONTEXT_INVALID"],
    ["ctx.system=true", 3, "CONTEXT_INVALID"],
    ["ctx.org_id=", 3, "CONTEXT_INVALID"],
    ["ctx.org_domain=nobody.example", 5, "ORGANIZATION_NOT_FOUND"],
    ["ctx.instance_id=2", 5, "INSTANCE_NOT_FOUND"],
  ];
  for (const [context, code, reason] of contexts) {
    it(`D45: is refused with ${code} for ${context}`, async () => {
      const id = await addIdp();
      for (const answer of [
        await post(`/idps/forge_b?${context}`, { config: forgeB }),
        await get(`/idps/forge_b/${id}?${context}`),
        await post(`/idps/_search?${context}`, []),
      ]) {
        assertRefused(answer.refusal, { code, reason });
      }
    });
  }

  it("may name the instance of the host", async () => {
    const id = await addIdp();
    const own = `?ctx.instance_id=${app.made.instance_id}`;
    assert.equal(bodyOf(await get(`/idps/forge_b/${id}${own}`)).idp.details.id, id);
  });
});

describe("patching an identity provider", () => {
  it("changes what is given, and records nothing when nothing differs", async () => {
    const id = await addIdp(undefined, { options: { is_linking_allowed: true } });
    const name = uniqueName();
    const wanted = {
      idp: { name, options: { is_auto_creation: true } },
      config: { client_id: "other", scopes: ["openid"] },
    };
    const { details } = bodyOf(await patch(`/idps/forge_b/${id}`, wanted));
    const read = await idpOf(id);
    assert.deepEqual(read.details, details);
    const options = { ...noOptions, is_linking_allowed: true, is_auto_creation: true };
    assert.deepEqual(read.idp, {
      idp: { name, state_policy: "STATE_POLICY_INHERIT", options },
      config: { client_id: "other", scopes: ["openid"] },
    });
    const before = await eventCount();
    for (const same of [wanted, {}, { idp: {} }, { config: { scopes: [] } }]) {
      assert.deepEqual(bodyOf(await patch(`/idps/forge_b/${id}`, same)).details, details);
    }
    assert.equal(await eventCount(), before);
  });

  it("takes options away one by one", async () => {
    const options = { is_auto_update: true, auto_linking: "AUTO_LINKING_OPTION_EMAIL" };
    const id = await addIdp(undefined, { options });
    const wanted = { idp: { options: { auto_linking: "AUTO_LINKING_OPTION_UNSPECIFIED" } } };
    bodyOf(await patch(`/idps/forge_b/${id}`, wanted));
    assert.deepEqual((await idpOf(id)).idp.idp.options, { ...noOptions, is_auto_update: true });
  });

  it("D64: of the address needs a new secret, where one is stored", async () => {
    const id = await addIdp();
    const issuer = "http://localhost:9999/evil";
    const { status, refusal } = await patch(`/idps/forge_b/${id}`, { config: { issuer } });
    assert.equal(status, 400);
    assertRefused(refusal, { code: 9, reason: "IDP_SECRET_REQUIRED" });
    assert.deepEqual(refusal.metadata, {
      field: "idp.config.issuer",
      secret: "idp.config.client_secret",
    });
    assert.equal((await idpOf(id)).idp.config.issuer, undefined);
    // The client id is told to the provider that is there already.
    bodyOf(await patch(`/idps/forge_b/${id}`, { config: { client_id: "other" } }));
    bodyOf(await patch(`/idps/forge_b/${id}`, { config: { issuer, client_secret: "new" } }));
    assert.equal((await idpOf(id)).idp.config.issuer, issuer);
    const open = await addIdp(undefined, {}, { client_id: "public" });
    bodyOf(await patch(`/idps/forge_b/${open}`, { config: { issuer } }));
  });

  const refused: [string, JsonObject, string][] = [
    ["to an empty name", { idp: { name: "" } }, "idp.idp.name"],
    ["to an empty client id", { config: { client_id: "" } }, "idp.config.client_id"],
    ["to an unknown policy", { idp: { state_policy: 4 } }, "idp.idp.state_policy"],
  ];
  for (const [what, body, field] of refused) {
    it(`is refused ${what}`, async () => {
      const { refusal } = await patch(`/idps/forge_b/${await addIdp()}`, body);
      assertRefused(refusal, invalid(field));
    });
  }
});

describe("an identity provider that is not there", () => {
  it("is refused for an unknown id, and for the id of another type", async () => {
    const id = await addIdp();
    for (const answer of [
      await get("/idps/forge_b/404"),
      await patch("/idps/forge_b/404", {}),
      await remove("/idps/404"),
      await get(`/idps/oidc/${id}`),
      await patch(`/idps/oidc/${id}`, {}),
    ]) {
      assert.equal(answer.status, 404);
      assertRefused(answer.refusal, notFound);
    }
  });

  it("D48: is gone once it is deleted; one of the same name has neither its id nor its secret", async () => {
    const [organization, name] = [await addOrganization(), uniqueName()];
    const id = await addIdp(undefined, { name });
    bodyOf(await service.setPolicy(id, "DEACTIVATE", organization));
    const { details } = bodyOf(await remove(`/idps/${id}`));
    assert.equal(details.id, id);
    for (const answer of [
      await get(`/idps/forge_b/${id}`),
      await remove(`/idps/${id}`),
      await patch(`/idps/forge_b/${id}${inContext(organization)}`, {
        idp: { state_policy: "STATE_POLICY_ACTIVATE" },
      }),
    ]) {
      assertRefused(answer.refusal, notFound);
    }
    const again = await addIdp(undefined, { name }, { client_id: "idsvc" });
    assert.notEqual(again, id);
    const seen = await idpOf(again, organization);
    assert.equal(seen.state, "EFFECTIVE_STATE_ACTIVE");
    assert.equal(seen.idp.idp.state_policy, "STATE_POLICY_INHERIT");
    // Without a secret of its own it may go elsewhere.
    bodyOf(await patch(`/idps/forge_b/${again}`, { config: { issuer: "http://localhost:9999" } }));
  });
});

describe("searching identity providers", () => {
  it("sorts by name or by creation, and pages", async () => {
    const tag = uniqueName("page");
    const ids: string[] = [];
    for (const letter of ["b", "C", "a"])
      ids.push(await addIdp(undefined, { name: `${tag} ${letter}` }));
    const [b, c, a] = ids;
    const named = [{ name: { name: tag, method: "TEXT_FILTER_METHOD_STARTS_WITH" } }];
    const byName = "?sorting_column=IDP_FIELD_NAME_NAME&query.asc=true";
    assert.deepEqual(idsOf(await search(named)), [a, c, b]);
    const sorted = await search(named, byName);
    assert.deepEqual(idsOf(sorted), [c, a, b]);
    assert.equal(sorted.sorting_column, "IDP_FIELD_NAME_NAME");
    const page = await search(named, `${byName}&query.limit=1&query.offset=1`);
    assert.deepEqual(idsOf(page), [a]);
    const { applied_limit, end_of_list, total_result } = page.details;
    assert.deepEqual([applied_limit, end_of_list, total_result], [1, false, "3"]);
  });

  it("filters by id, name and state; several filters must all match", async () => {
    const name = uniqueName("Filter");
    const [on, off] = [
      await addIdp(undefined, { name }),
      await addIdp(undefined, { name, state_policy: "STATE_POLICY_DEACTIVATE" }),
    ];
    const named = {
      name: { name: name.toUpperCase(), method: "TEXT_FILTER_METHOD_EQUALS_IGNORE_CASE" },
    };
    const state = (which: string) => ({ state: { state: `EFFECTIVE_STATE_${which}` } });
    assert.deepEqual(idsOf(await search([{ id: { id: on } }])), [on]);
    assert.deepEqual(idsOf(await search([named])), [off, on]);
    assert.deepEqual(idsOf(await search([named, state("ACTIVE")])), [on]);
    assert.deepEqual(idsOf(await search([named, state("INACTIVE")])), [off]);
    assert.deepEqual(idsOf(await search([{ id: { id: on } }, state("INACTIVE")])), []);
  });

  it("is refused for a limit above the maximum, an empty filter, an unknown state or column", async () => {
    const limit = await post("/idps/_search?query.limit=1001", []);
    assertRefused(limit.refusal, { code: 3, reason: "LIMIT_EXCEEDED", field: "query.limit" });
    const empty = await post("/idps/_search", [{}]);
    assertRefused(empty.refusal, { code: 3, reason: "VALIDATION_FAILED" });
    const state = await post("/idps/_search", [{ state: { state: 5 } }]);
    assertRefused(state.refusal, { code: 3, reason: "VALIDATION_FAILED" });
    const column = await post("/idps/_search?sorting_column=7", []);
    assertRefused(column.refusal, invalid("sorting_column"));
  });
});
