// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { organization, organizationEvents } from "../../src/resources/org/index.ts";
import { addCaller } from "../support/app.ts";
import { noticesSent } from "../support/notices.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const records = new Map<string, string[]>();
const lookups: string[] = [];
const service = await startPeer({
  resolver: {
    addresses: async () => [],
    texts: async (name) => {
      lookups.push(name);
      return records.get(name) ?? [];
    },
  },
});
const { app, peer, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());
const { token, kernel, made } = app;
const instanceId = made.instance_id;

const dns = "DOMAIN_VALIDATION_TYPE_DNS";
const taken = { code: 6, reason: "ORGANIZATION_DOMAIN_TAKEN" };
const word = (kind: string) => uniqueName(kind).replaceAll(" ", "-");
const newDomain = () => `${word("dom")}.test`;
const claim = (organizationId: string, name: string, more: JsonObject = {}) =>
  post(`/domains?ctx.org_id=${organizationId}`, { name, ...more });
const claimed = async (organizationId: string, name: string, more: JsonObject = {}) =>
  bodyOf(await claim(organizationId, name, more), 201);
async function prove(organizationId: string, name: string) {
  const { details, validation } = await claimed(organizationId, name, { validation_type: dns });
  records.set(validation.record, [validation.token]);
  bodyOf(await post(`/domains/${details.id}/_validate`));
  return String(details.id);
}
const domainOf = async (id: string) => bodyOf(await get(`/domains/${id}`)).domain.domain;
const primaryOf = async (id: string) =>
  bodyOf(await get(`/organizations/${id}`)).organization.organization.domain;
const person = async (organizationId: string, username: string) => {
  const wanted = { username, data: { given_name: "A", family_name: "B" } };
  const { details } = bodyOf(await post(`/users?ctx.org_id=${organizationId}`, wanted), 201);
  return String(details.id);
};
const userOf = async (id: string) => bodyOf(await get(`/users/${id}`)).user.user;
/** Whom a login name leads to. */
const led = async (login_name: string): Promise<string[]> => {
  const found = bodyOf(await post("/users/_search", [{ login_name: { login_name } }]));
  return (found.result ?? []).map(({ details }: { details: { id: string } }) => details.id);
};
const setValidation = async (isOn: boolean) =>
  bodyOf(
    await peer.rest(
      "PATCH",
      "/settings/v3alpha/login",
      { validate_org_domains: isOn ? { set: true } : { reset: true } },
      { token },
    ),
  );

describe("a domain without proof (J10)", () => {
  it("is of several organizations, none of which is told of another; each text leads to whom it led to first", async () => {
    const domain = newDomain();
    const [one, other, third] = [
      await addOrganization(),
      await addOrganization(),
      await addOrganization(),
    ];
    const alone = await claimed(one, newDomain());
    const first = await claimed(one, domain);
    const second = await claimed(other, domain.toUpperCase());
    assert.deepEqual(Object.keys(second), Object.keys(alone), "as if nobody had it");
    assert.equal((await domainOf(second.details.id)).is_verified, true);
    assert.equal((await domainOf(second.details.id)).is_proven, false);
    const named = { organization: { name: word("org"), domain } };
    const method = OrganizationService.method.createOrganization;
    const outcome = await peer.call("grpc", method, named, { token });
    assert.ok(outcome.ok, "an organization begins with it too");
    await claimed(third, domain, { validation_type: dns });

    const ada = await person(other, "ada");
    await person(one, "ada");
    const eve = await person(one, "eve");
    await person(other, "eve");
    assert.deepEqual(await led(`ada@${domain}`), [ada]);
    assert.deepEqual(await led(`eve@${domain}`), [eve]);
    bodyOf(await remove(`/domains/${first.details.id}`));
    assert.deepEqual(await led(`ada@${domain}`), [ada]);
  });

  it("is refused where another organization has proven it, and its proof may be asked for", async () => {
    const domain = newDomain();
    await prove(await addOrganization(), domain);
    const other = await addOrganization();
    const before = await eventCount();
    assertRefused((await claim(other, domain)).refusal, taken);
    assertRefused((await post("/organizations", { name: word("o"), domain })).refusal, taken);
    const method = DomainService.method.createDomain;
    const context = { context: { case: "orgId" as const, value: other } };
    const wanted = { domain: { name: domain }, ctx: context };
    assertRefused(await peer.call("grpc", method, wanted, { token }), taken);
    assert.equal(await eventCount(), before);
    const { details, validation } = await claimed(other, domain, { validation_type: dns });
    assert.ok(validation.token);
    assertRefused((await post(`/domains/${details.id}/_validate`)).refusal, {
      code: 9,
      reason: "DOMAIN_NOT_PROVEN",
    });
  });

  it("makes no login name and no primary one while domains are to be proven, whenever it was added", async () => {
    const domain = newDomain();
    const home = await addOrganization({ domain });
    const { id } = bodyOf(await post(`/domains/_search?ctx.org_id=${home}`)).result[0].details;
    const extra = await claimed(home, newDomain());
    const ada = await person(home, "ada");
    assert.deepEqual(await led(`ada@${domain}`), [ada]);
    await setValidation(true);
    try {
      assert.deepEqual((await userOf(ada)).login_names ?? [], []);
      assert.deepEqual(await led(`ada@${domain}`), []);
      assertRefused((await post(`/domains/${extra.details.id}/_set_as_primary`)).refusal, {
        code: 9,
        reason: "DOMAIN_UNVERIFIED",
      });
      // It can be proven all the same.
      const asked = bodyOf(await patch(`/domains/${id}`, { validation_type: dns }));
      records.set(asked.validation.record, [asked.validation.token]);
      bodyOf(await post(`/domains/${id}/_validate`));
      assert.deepEqual((await userOf(ada)).login_names, [`ada@${domain}`]);
      assert.deepEqual(await led(`ada@${domain}`), [ada]);
    } finally {
      await setValidation(false);
    }
    assert.equal((await domainOf(id)).is_proven, true);
  });
});

describe("a domain that is proven (J10)", () => {
  it("is taken from whoever had it without, who are not told by whom; a primary one makes place", async () => {
    const domain = newDomain();
    const loser = await addOrganization({ domain });
    const another = await addOrganization();
    const kept = await claimed(another, domain);
    const ada = await person(loser, "ada");
    const claimer = await addOrganization();
    const { token: owner, userId } = await addMember(claimer, ["ORG_OWNER"]);
    const { details, validation } = await claimed(claimer, domain, { validation_type: dns });
    records.set(validation.record, [validation.token]);
    bodyOf(await post(`/domains/${details.id}/_validate`, undefined, { token: owner }));
    await noticesSent(app);

    const primary = await primaryOf(loser);
    assert.notEqual(primary, domain);
    assert.ok(primary.endsWith(".localhost"));
    assert.deepEqual((await userOf(ada)).login_names, [`ada@${primary}`]);
    assert.deepEqual(await led(`ada@${domain}`), []);
    assert.deepEqual(await led(`ada@${primary}`), [ada]);
    const { is_verified, is_proven } = await domainOf(kept.details.id);
    assert.deepEqual([is_verified, is_proven], [false, false]);
    const log = await kernel.events.read({ instanceId, types: ["org.domain.claimed"] });
    const lost = log.filter(({ aggregateId }) => [loser, another].includes(aggregateId));
    assert.deepEqual(
      lost.map(({ editorId }) => editorId),
      ["", ""],
    );
    assert.ok(!JSON.stringify(lost.map(({ payload }) => payload)).includes(claimer));
    assert.ok(!JSON.stringify(lost.map(({ payload }) => payload)).includes(userId));
    // Whoever lost it may claim it by a proof, and by nothing else.
    assertRefused((await post(`/domains/${kept.details.id}/_set_as_primary`)).refusal, {
      code: 9,
      reason: "DOMAIN_UNVERIFIED",
    });
  });

  it("is not kept from who proves it by a claim of an older store", async () => {
    // As builds before proofs recorded it: with the claim on the name, and nothing behind.
    const domain = newDomain();
    const holder = await addOrganization();
    const by = { instanceId, editorId: "test", service: "test", clientId: "", requestId: "test" };
    const domainId = kernel.newId();
    await kernel.events.transact(by, async (tx) => {
      const loaded = await tx.load(organization, holder);
      const own = { domain, domainId };
      tx.record(organization, loaded, [
        organizationEvents["domain.added"](own),
        organizationEvents["domain.verified"](own),
      ]);
    });
    const ada = await person(holder, "ada");
    await setValidation(true);
    try {
      assert.deepEqual(await led(`ada@${domain}`), [ada], "nobody is locked out by an upgrade");
    } finally {
      await setValidation(false);
    }
    const { is_verified, is_proven } = await domainOf(domainId);
    assert.deepEqual([is_verified, is_proven], [true, false]);
    const proven = await prove(await addOrganization(), domain);
    assert.equal((await domainOf(proven)).is_proven, true);
    assert.equal((await domainOf(domainId)).is_verified, false);
  });

  it("changes usernames of other organizations that end in it, and no others", async () => {
    const domain = newDomain();
    const [home, claimer] = [await addOrganization(), await addOrganization()];
    const suffix = await primaryOf(home);
    const text = `ada@${domain}`;
    const holder = await person(home, `eve@${suffix}`);
    const [ada, eve, own] = [
      await person(home, text.toUpperCase()),
      await person(home, `eve@${domain}`),
      await person(claimer, text),
    ];
    const wanted = { schema_id: "machine", username: `bot@${domain}`, data: { name: "Bot" } };
    const bot = bodyOf(await post(`/users?ctx.org_id=${home}`, wanted), 201).details.id;
    const secret = bodyOf(await post(`/users/${bot}/secret`));
    await prove(claimer, domain);
    await noticesSent(app);
    assert.equal((await userOf(ada)).username, `ADA@${suffix}`);
    assert.equal((await userOf(eve)).username, `eve-${eve}@${suffix}`, "the other one is taken");
    assert.equal((await userOf(holder)).username, `eve@${suffix}`);
    assert.equal((await userOf(own)).username, text);
    assert.equal((await userOf(bot)).username, `bot@${suffix}`);
    assert.equal(secret.client_id, `bot@${domain}`, "what a client is called by stays its id");
    const aggregate = { type: "user", id: ada };
    const types = (await kernel.events.read({ instanceId, aggregate })).map(({ type }) => type);
    assert.deepEqual(types.slice(-2), ["user.username.changed", "user.domain.claimed"]);
  });
});

describe("the rehearsal of a proof (J10)", () => {
  it("counts the usernames for who may read the instance, looks nothing up and changes nothing", async () => {
    const domain = newDomain();
    const [home, claimer] = [await addOrganization(), await addOrganization()];
    for (const username of [`a@${domain}`, `B@${domain.toUpperCase()}`, `c@sub.${domain}`])
      await person(home, username);
    await person(claimer, `d@${domain}`);
    const { details } = await claimed(claimer, domain, { validation_type: dns });
    const { token: viewer } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const before = lookups.length;
    const path = `/domains/${details.id}/_validate?dry_run=true`;
    const counted = await eventCount();
    for (const caller of [token, viewer]) {
      const told = bodyOf(await post(path, undefined, { token: caller }));
      assert.deepEqual(told, { details, changed_usernames: "2" });
    }
    const method = DomainService.method.validate;
    const request = { id: details.id, dryRun: true };
    for (const protocol of ["grpc", "grpc-web", "connect-json", "rest"] as const) {
      const outcome = await peer.call(protocol, method, request, { token: viewer });
      assert.ok(outcome.ok);
      assert.equal(outcome.message.changedUsernames, 2n);
    }
    assert.equal(await eventCount(), counted);
    const { token: owner } = await addMember(claimer, ["ORG_OWNER"]);
    const missing = { code: 7, reason: "PERMISSION_MISSING" };
    assertRefused((await post(path, undefined, { token: owner })).refusal, missing);
    assertRefused(await peer.call("grpc", method, request, { token: owner }), missing);
    assert.equal(lookups.length, before);
    const { token: stranger } = await addMember(home, ["ORG_OWNER"]);
    const unknown = { code: 5, reason: "DOMAIN_NOT_FOUND" };
    assertRefused((await post(path, undefined, { token: stranger })).refusal, unknown);
    // Who may only read proves nothing.
    const proving = await post(`/domains/${details.id}/_validate`, undefined, { token: viewer });
    assertRefused(proving.refusal, missing);
  });

  it("has nothing to count where the domain is proven", async () => {
    const proven = await prove(await addOrganization(), newDomain());
    assertRefused((await post(`/domains/${proven}/_validate?dry_run=true`)).refusal, {
      code: 9,
      reason: "DOMAIN_VERIFIED",
    });
  });
});

describe("domains below those of the instance (J10)", () => {
  it("are generated, and count as proven; nobody chooses one", async () => {
    const home = await addOrganization();
    const [generated] = bodyOf(await post(`/domains/_search?ctx.org_id=${home}`)).result;
    assert.deepEqual([generated.domain.is_verified, generated.domain.is_proven], [true, true]);
    const expected = { code: 3, reason: "DOMAIN_OF_INSTANCE" };
    const before = await eventCount();
    for (const name of ["localhost", "acme.localhost", "a.b.LOCALHOST"]) {
      for (const more of [{}, { validation_type: dns }]) {
        const refused = await claim(home, name, more);
        assertRefused(refused.refusal, { ...expected, field: "domain.name" }, name);
      }
      const wanted = { name: word("org"), domain: name };
      const refused = await post("/organizations", wanted);
      assertRefused(refused.refusal, { ...expected, field: "organization.domain" }, name);
      const method = OrganizationService.method.createOrganization;
      const outcome = await peer.call("grpc", method, { organization: wanted }, { token });
      assertRefused(outcome, { ...expected, field: "organization.domain" }, name);
    }
    const human = {
      userName: "ada",
      profile: { firstName: "A", lastName: "B" },
      email: { email: "a@example.test" },
    };
    const body = { org: { name: word("org"), domain: "set.localhost" }, human };
    const setUp = await peer.rest("POST", "/management/v1/orgs/_setup", body, { token });
    assertRefused(setUp.refusal, { ...expected, field: "org.domain" });
    assert.equal(await eventCount(), before);
    bodyOf(await claim(home, `not${word("x")}localhost.test`), 201);
  });
});
