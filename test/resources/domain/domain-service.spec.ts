// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { EgressError } from "../../../src/egress/error.ts";
import type { NameResolver } from "../../../src/egress/resolver.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

/** What the DNS says, name by name; a name that is nowhere has no records and no address. */
const texts = new Map<string, string[]>();
const addresses = new Map<string, string[]>();
const lookups: string[] = [];
const broken = new Set<string>();
const resolver: NameResolver = {
  async addresses(name) {
    lookups.push(name);
    const found = addresses.get(name);
    if (found === undefined) throw new EgressError("dns", name, "ENOTFOUND");
    return found;
  },
  async texts(name) {
    lookups.push(name);
    if (broken.has(name)) throw new EgressError("dns", name, "ESERVFAIL");
    return texts.get(name) ?? [];
  },
};

const service = await startPeer({ resolver });
const { app, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const dns = "DOMAIN_VALIDATION_TYPE_DNS";
const http = "DOMAIN_VALIDATION_TYPE_HTTP";
const notFound = { code: 5, reason: "DOMAIN_NOT_FOUND" };
const unproven = { code: 9, reason: "DOMAIN_NOT_PROVEN" };
const taken = { code: 6, reason: "ORGANIZATION_DOMAIN_TAKEN" };
const verified = { code: 9, reason: "DOMAIN_VERIFIED" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const invalid = (field: string) => ({ code: 3, reason: "VALIDATION_FAILED", field });

const newName = () => `${uniqueName("d").replace(" ", "")}.example.com`;
const ofContext = (id: string | undefined) => (id === undefined ? "" : `?ctx.org_id=${id}`);
const create = (organizationId: string | undefined, domain: JsonObject, token = app.token) =>
  post(`/domains${ofContext(organizationId)}`, domain, { token });
const added = async (organizationId: string | undefined, domain: JsonObject = {}) => {
  const name = newName();
  const made = bodyOf(await create(organizationId, { name, ...domain }), 201);
  return { ...made, id: String(made.details.id), name };
};
const domainOf = async (id: string) => bodyOf(await get(`/domains/${id}`)).domain;
const act = (id: string, action: string, token = app.token) =>
  post(`/domains/${id}/_${action}`, undefined, { token });
const idsOf = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);

describe("adding a domain to an organization", () => {
  it("answers 201; without a validation type it counts at once, and is not proven", async () => {
    const organizationId = await addOrganization();
    const name = newName();
    const { details, ...rest } = bodyOf(
      await create(organizationId, { name: name.toUpperCase() }),
      201,
    );
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_ORG", id: organizationId });
    assert.deepEqual(await domainOf(details.id), {
      details,
      domain: {
        name,
        is_verified: true,
        is_proven: false,
        is_primary: false,
        validation_type: "DOMAIN_VALIDATION_TYPE_UNSPECIFIED",
      },
    });
  });

  it("says where to put which token when it is to be proven", async () => {
    const organizationId = await addOrganization();
    const one = await added(organizationId, { validation_type: dns });
    assert.deepEqual(Object.keys(one.validation).sort(), ["record", "token"]);
    assert.equal(one.validation.record, `_idsvc-challenge.${one.name}`);
    const other = await added(organizationId, { validation_type: http });
    const { token, url } = other.validation;
    assert.equal(url, `https://${other.name}/.well-known/idsvc-challenge/${token}.txt`);
    assert.match(token, /^[\w-]{32}$/);
    assert.notEqual(token, one.validation.token);
    const { domain } = await domainOf(one.id);
    assert.deepEqual([domain.is_verified, domain.validation_type], [false, dns]);
  });

  const refused: [string, JsonObject, string][] = [
    ["without a name", {}, "domain.name"],
    ["with a name that is none", { name: "not a domain" }, "domain.name"],
    ["with an address", { name: "127.0.0.1" }, "domain.name"],
    ["with a path", { name: "example.com/x" }, "domain.name"],
    ["with a port", { name: "example.com:80" }, "domain.name"],
    ["with a dot at the end", { name: "example.com." }, "domain.name"],
    ["with 254 characters", { name: `${"a.".repeat(126)}aa` }, "domain.name"],
    ["with letters that no host name has", { name: "b\u00fccher.example" }, "domain.name"],
    ["with an unknown type", { name: "x.test", validation_type: 99 }, "domain.validation_type"],
  ];
  for (const [what, domain, field] of refused) {
    it(`is refused ${what}`, async () => {
      const organizationId = await addOrganization();
      const before = await eventCount();
      const { status, refusal } = await create(organizationId, domain);
      assert.equal(status, 400);
      assertRefused(refusal, invalid(field));
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused where the domain is there already, or is proven by another organization", async () => {
    const [one, other] = [await addOrganization(), await addOrganization()];
    const { name, id, validation } = await added(one, { validation_type: dns });
    texts.set(`_idsvc-challenge.${name}`, [validation.token]);
    bodyOf(await act(id, "validate"));
    assertRefused((await create(one, { name })).refusal, { code: 9, reason: "DOMAIN_PRESENT" });
    const { status, refusal } = await create(other, { name: name.toUpperCase() });
    assert.equal(status, 409);
    assertRefused(refusal, taken);
  });

  it("is refused to who may not write the organization", async () => {
    const organizationId = await addOrganization();
    const { token } = await addMember(organizationId, ["ORG_OWNER_VIEWER"]);
    const { status, refusal } = await create(organizationId, { name: newName() }, token);
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });

  it("is refused in the system, and in an organization that is not there", async () => {
    const unknown = await create("404", { name: newName() });
    assertRefused(unknown.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    const { refusal } = await post("/domains?ctx.system=true", { name: newName() });
    assertRefused(refusal, { code: 3, reason: "CONTEXT_INVALID", field: "ctx.system" });
  });
});

describe("proving a domain", () => {
  it("finds the token among the TXT records, once; the token is forgotten then", async () => {
    const { id, name, validation } = await added(await addOrganization(), { validation_type: dns });
    texts.set(`_idsvc-challenge.${name}`, ["v=spf1 -all", ` ${validation.token} `]);
    const { details } = bodyOf(await act(id, "validate"));
    const read = await domainOf(id);
    assert.deepEqual([read.domain.is_verified, read.details], [true, details]);
    assertRefused((await act(id, "validate")).refusal, verified);
    assertRefused((await patch(`/domains/${id}`, { validation_type: dns })).refusal, verified);
    const { instance_id: instanceId } = app.made;
    const token = { ownerType: "domain", ownerId: id, kind: "validation_token", id: "1" };
    assert.equal(await app.kernel.secrets.open({ instanceId, ...token }), undefined);
  });

  it("is refused while the token is not there, or another one is, and says where it was looked for", async () => {
    const organizationId = await addOrganization();
    const { id, name, validation } = await added(organizationId, { validation_type: dns });
    for (const records of [undefined, ["another"], [`${validation.token}x`], [""]]) {
      if (records !== undefined) texts.set(`_idsvc-challenge.${name}`, records);
      const { status, refusal } = await act(id, "validate");
      assert.equal(status, 400);
      assertRefused(refusal, unproven);
      assert.equal(refusal.metadata["found"], "absent");
      assert.match(refusal.message, new RegExp(`_idsvc-challenge\\.${name}`));
      assert.ok(!refusal.message.includes(validation.token));
    }
    const [failed] = await app.kernel.events.read({
      instanceId: app.made.instance_id,
      types: ["org.domain.verification.failed"],
      aggregate: { type: "org", id: organizationId },
    });
    assert.deepEqual(failed?.payload, { domain: name, domainId: id });
    assert.equal((await domainOf(id)).domain.is_verified, false);
  });

  it("says apart what could not be read", async () => {
    const { id, name } = await added(await addOrganization(), { validation_type: dns });
    broken.add(`_idsvc-challenge.${name}`);
    const { refusal } = await act(id, "validate");
    assertRefused(refusal, unproven);
    assert.equal(refusal.metadata["found"], "unreachable");
  });

  it("never leaves for an address that the service must not call (SSRF)", async () => {
    const { id, name } = await added(await addOrganization(), { validation_type: http });
    for (const address of ["10.0.0.1", "169.254.169.254", "192.168.0.1", "fd00::1"]) {
      addresses.set(name, [address]);
      const { refusal } = await act(id, "validate");
      assertRefused(refusal, unproven, address);
      assert.equal(refusal.metadata["found"], "unreachable");
    }
    assert.ok(lookups.includes(name));
  });

  it("goes by a new token after a patch; the one before no longer counts", async () => {
    const organizationId = await addOrganization();
    const { id, name, validation } = await added(organizationId, { validation_type: http });
    const changed = bodyOf(await patch(`/domains/${id}`, { validation_type: dns }));
    assert.notEqual(changed.validation.token, validation.token);
    assert.equal(changed.validation.record, `_idsvc-challenge.${name}`);
    assert.equal((await domainOf(id)).domain.validation_type, dns);
    texts.set(`_idsvc-challenge.${name}`, [validation.token]);
    assertRefused((await act(id, "validate")).refusal, unproven);
    texts.set(`_idsvc-challenge.${name}`, [changed.validation.token]);
    bodyOf(await act(id, "validate"));
    const without = await patch(`/domains/${id}`, {});
    assertRefused(without.refusal, invalid("domain.validation_type"));
  });

  it("is won by the first of two organizations that claim it", async () => {
    const [one, other] = [await addOrganization(), await addOrganization()];
    const name = newName();
    const claims = [];
    for (const id of [one, other]) {
      claims.push(bodyOf(await create(id, { name, validation_type: dns }), 201));
    }
    texts.set(
      `_idsvc-challenge.${name}`,
      claims.map(({ validation }) => validation.token),
    );
    const [first, second] = claims.map(({ details }) => details.id);
    bodyOf(await act(first, "validate"));
    const { status, refusal } = await act(second, "validate");
    assert.equal(status, 409);
    assertRefused(refusal, taken);
    assert.equal((await domainOf(second)).domain.is_verified, false);
    bodyOf(await remove(`/domains/${first}`));
    bodyOf(await act(second, "validate"));
  });
});

describe("the primary domain of an organization", () => {
  it("is the generated one at first, and any verified one that is chosen", async () => {
    const organizationId = await addOrganization();
    const filters = [{ organization: { org_id: organizationId } }];
    const [generated] = bodyOf(await post("/domains/_search", filters)).result;
    const { domain } = bodyOf(await get(`/organizations/${organizationId}`)).organization
      .organization;
    const { name, is_verified, is_primary } = generated.domain;
    assert.deepEqual([name, is_verified, is_primary], [domain, true, true]);
    const refused = await act(generated.details.id, "set_as_primary");
    assertRefused(refused.refusal, { code: 9, reason: "DOMAIN_PRIMARY" });

    const chosen = await added(organizationId);
    bodyOf(await act(chosen.id, "set_as_primary"));
    assert.equal((await domainOf(chosen.id)).domain.is_primary, true);
    assert.equal((await domainOf(generated.details.id)).domain.is_primary, false);
    const { organization } = bodyOf(await get(`/organizations/${organizationId}`)).organization;
    assert.equal(organization.domain, chosen.name);
  });

  it("cannot be an unproven one, and cannot be deleted", async () => {
    const organizationId = await addOrganization();
    const waiting = await added(organizationId, { validation_type: dns });
    const early = await act(waiting.id, "set_as_primary");
    assertRefused(early.refusal, { code: 9, reason: "DOMAIN_UNVERIFIED" });
    const primary = await added(organizationId);
    bodyOf(await act(primary.id, "set_as_primary"));
    const { status, refusal } = await remove(`/domains/${primary.id}`);
    assert.equal(status, 400);
    assertRefused(refusal, { code: 9, reason: "DOMAIN_PRIMARY" });
  });
});

describe("deleting a domain", () => {
  it("frees its name, and leaves nothing to read", async () => {
    const [one, other] = [await addOrganization(), await addOrganization()];
    const { id, name } = await added(one);
    bodyOf(await remove(`/domains/${id}`));
    for (const { refusal } of [
      await get(`/domains/${id}`),
      await remove(`/domains/${id}`),
      await act(id, "validate"),
      await act(id, "set_as_primary"),
      await patch(`/domains/${id}`, { validation_type: dns }),
    ]) {
      assertRefused(refusal, notFound);
    }
    bodyOf(await create(other, { name }), 201);
  });

  it("D48: gives what comes after it under the same name a token of its own", async () => {
    const organizationId = await addOrganization();
    const { id, name, validation } = await added(organizationId, { validation_type: dns });
    texts.set(`_idsvc-challenge.${name}`, [validation.token]);
    bodyOf(await remove(`/domains/${id}`));
    const again = bodyOf(await create(organizationId, { name, validation_type: dns }), 201);
    const { refusal } = await act(again.details.id, "validate");
    assertRefused(refusal, unproven);
  });
});

describe("domains of the instance", () => {
  it("count at once, lead to it, need no proof, and are its own", async () => {
    const { id, details, validation, name } = await added(undefined, { validation_type: dns });
    assert.equal(validation, undefined);
    const owner = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };
    assert.deepEqual(details.resource_owner, owner);
    assert.equal((await domainOf(id)).domain.is_verified, true);
    bodyOf(await get(`/domains/${id}`, { token: app.token, host: `${name}:8080` }));
    assertRefused((await act(id, "validate")).refusal, verified);
    assertRefused((await patch(`/domains/${id}`, { validation_type: dns })).refusal, verified);
    bodyOf(await remove(`/domains/${id}`));
    const gone = await get(`/domains/${id}`, { token: app.token, host: `${name}:8080` });
    assertRefused(gone.refusal, { code: 5, reason: "INSTANCE_UNKNOWN_HOST" });
  });

  it("have a primary one, below which organizations get their domains", async () => {
    const { id, name } = await added(undefined);
    const before = bodyOf(await post("/domains/_search", [{ name: { name: "localhost" } }])).result;
    bodyOf(await act(id, "set_as_primary"));
    assertRefused((await remove(`/domains/${id}`)).refusal, { code: 9, reason: "DOMAIN_PRIMARY" });
    const organizationId = await addOrganization({ name: "Below" });
    const { organization } = bodyOf(await get(`/organizations/${organizationId}`)).organization;
    assert.equal(organization.domain, `below.${name}`);
    bodyOf(await act(before[0].details.id, "set_as_primary"));
    bodyOf(await remove(`/domains/${id}`));
  });

  it("are refused to who may only write an organization", async () => {
    const organizationId = await addOrganization();
    const { token } = await addMember(organizationId, ["ORG_OWNER"]);
    assertRefused((await create(undefined, { name: newName() }, token)).refusal, missing);
    const { id } = await added(undefined);
    for (const { status, refusal } of [
      await get(`/domains/${id}`, { token }),
      await remove(`/domains/${id}`, { token }),
    ]) {
      assert.equal(status, 404);
      assertRefused(refusal, notFound);
    }
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    bodyOf(await get(`/domains/${id}`, { token: viewer.token }));
    assertRefused((await remove(`/domains/${id}`, { token: viewer.token })).refusal, missing);
  });
});

describe("searching domains", () => {
  it("filters by ids, name, organization and proof, and sorts by name", async () => {
    const organizationId = await addOrganization();
    const b = await added(organizationId, { name: "b.found.test" });
    const a = await added(organizationId, { name: "a.found.test", validation_type: dns });
    const search = async (filters: JsonObject[], query = "") =>
      bodyOf(await post(`/domains/_search?${query}`, filters));
    const found = {
      name: { name: "FOUND.test", method: "TEXT_FILTER_METHOD_ENDS_WITH_IGNORE_CASE" },
    };
    const byName = "sorting_column=DOMAIN_FIELD_NAME_NAME&query.asc=true";
    assert.deepEqual(idsOf(await search([found], byName)), [a.id, b.id]);
    assert.deepEqual(idsOf(await search([found])), [a.id, b.id]);
    const kept = async (filter: JsonObject) => idsOf(await search([found, filter]));
    assert.deepEqual(await kept({ verified: { is_verified: true } }), [b.id]);
    assert.deepEqual(await kept({ verified: { is_verified: false } }), [a.id]);
    assert.deepEqual(await kept({ proven: { is_proven: false } }), [a.id, b.id]);
    assert.deepEqual(idsOf(await search([{ in_ids: { ids: [a.id] } }])), [a.id]);
    const own = await search([{ organization: { org_domain: "b.found.test" } }]);
    assert.equal(own.details.total_result, "3");
    assert.deepEqual(idsOf(await search([{ organization: { org_domain: "no.test" } }])), []);
    const inContext = await search([], `ctx.org_id=${organizationId}`);
    assert.equal(inContext.details.total_result, "3");
  });

  it("D42: shows and counts only what the caller may read", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    await added(other);
    const { token } = await addMember(mine, ["ORG_OWNER_VIEWER"]);
    const { result, details } = bodyOf(await post("/domains/_search", [], { token }));
    assert.deepEqual([result.length, details.total_result], [1, "1"]);
    assert.equal(result[0].details.resource_owner.id, mine);
    const { token: nobody } = await addCaller(app, []);
    assert.equal(
      bodyOf(await post("/domains/_search", [], { token: nobody })).details.total_result,
      "0",
    );
  });

  it("D44: answers a domain that the caller may not read exactly as an absent one", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { id } = await added(other, { validation_type: dns });
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const hidden = await get(`/domains/${id}`, { token });
    const absent = await get("/domains/404", { token });
    assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    const before = await eventCount();
    for (const { refusal } of [
      await remove(`/domains/${id}`, { token }),
      await act(id, "validate", token),
      await act(id, "set_as_primary", token),
      await patch(`/domains/${id}`, { validation_type: dns }, { token }),
    ]) {
      assertRefused(refusal, notFound);
    }
    assert.equal(await eventCount(), before);
    const viewer = await addMember(other, ["ORG_OWNER_VIEWER"]);
    bodyOf(await get(`/domains/${id}`, viewer));
    assertRefused((await remove(`/domains/${id}`, viewer)).refusal, missing);
  });
});
