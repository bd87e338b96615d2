// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { addClient, addPerson, tokensFor, post, put } = service;
after(() => service[Symbol.asyncDispose]());

const address = { street_address: "1 Main St", locality: "London", country: "UK" };
const web = await addClient();
const user = await addPerson({
  username: "grace",
  data: {
    given_name: "Grace",
    family_name: "Hopper",
    middle_name: "Brewster",
    nickname: "Amazing",
    display_name: "Grace Hopper",
    preferred_language: "en",
    gender: "female",
    picture: "https://rp.test/p.png",
    website: "https://rp.test/",
    profile: "https://rp.test/grace",
    birthdate: "1906-12-09",
    zoneinfo: "America/New_York",
    address,
  },
  contact: {
    email: { address: "grace@rp.test", is_verified: true },
    phone: { number: "+441632960001", is_verified: true },
  },
});
const { organization_id: organization } = service.app.made;
const told = async (...scope: string[]) => {
  const issued = await tokensFor(web, user, { scope: ["openid", ...scope] });
  const { sub, ...claims } = (await service.userinfo(issued.access_token)).body;
  assert.equal(sub, user);
  return { claims, idToken: decodeJwt(issued.id_token), issued };
};
const email = { email: "grace@rp.test", email_verified: true };
const phone = { phone_number: "+441632960001", phone_number_verified: true };

describe("claims of scopes (OpenID Connect Core 1.0 section 5.4)", () => {
  it("openid alone tells nothing but who", async () => {
    assert.deepEqual((await told()).claims, {});
  });
  it("profile tells all fourteen, each of its type", async () => {
    const { updated_at, preferred_username, ...profile } = (await told("profile")).claims;
    assert.ok(Number.isInteger(updated_at));
    assert.match(preferred_username, /^grace@/);
    assert.deepEqual(profile, {
      name: "Grace Hopper",
      given_name: "Grace",
      family_name: "Hopper",
      middle_name: "Brewster",
      nickname: "Amazing",
      locale: "en",
      gender: "female",
      picture: "https://rp.test/p.png",
      website: "https://rp.test/",
      profile: "https://rp.test/grace",
      birthdate: "1906-12-09",
      zoneinfo: "America/New_York",
    });
  });
  it("email, phone and address tell theirs", async () => {
    assert.deepEqual((await told("email")).claims, email);
    assert.deepEqual((await told("phone")).claims, phone);
    assert.deepEqual((await told("address")).claims, { address });
  });
  it("what is not known is absent, never null or empty", async () => {
    const plain = await addPerson();
    const scope = ["openid", "profile", "email", "phone", "address"];
    const { access_token: token } = await tokensFor(web, plain, { scope });
    const { body } = await service.userinfo(token);
    assert.deepEqual(Object.keys(body).sort(), [
      "family_name",
      "given_name",
      "name",
      "preferred_username",
      "sub",
      "updated_at",
    ]);
  });
  it("are told by userinfo, and by the ID token only where the app wants it so", async () => {
    const { idToken } = await told("profile", "email");
    assert.equal(idToken["name"], undefined);
    const asserting = await addClient({ id_token_userinfo_assertion: true });
    const { id_token } = await tokensFor(asserting, user, { scope: ["openid", "email"] });
    const { email: address_, email_verified } = decodeJwt(id_token);
    assert.deepEqual({ email: address_, email_verified }, email);
  });
});

describe("the claims parameter (OpenID Connect Core 1.0 section 5.5)", () => {
  it("tells single claims where they were asked for, and nothing that is no claim of users", async () => {
    const claims = {
      userinfo: { email: { essential: true }, bogus: null, username: null, sub: null },
      id_token: { nickname: null },
    };
    const issued = await tokensFor(web, user, { claims });
    const { body } = await service.userinfo(issued.access_token);
    assert.deepEqual(body, { sub: user, email: "grace@rp.test" });
    const idToken = decodeJwt(issued.id_token);
    assert.equal(idToken["nickname"], "Amazing");
    assert.equal(idToken["email"], undefined);
  });
});

describe("claims of the service's own (specification 11.7)", () => {
  const own = "urn:idsvc:iam:";
  const ofOrganization = `${own}user:resourceowner`;

  it("tell the organization of the user", async () => {
    const { claims } = await told(ofOrganization);
    assert.equal(claims[`${ofOrganization}:id`], organization);
    assert.equal(typeof claims[`${ofOrganization}:name`], "string");
    const domain = claims[`${ofOrganization}:primary_domain`];
    assert.match(domain, /localhost$/);
    const limited = [`${own}org:id:${organization}`, `${own}org:domain:primary:${domain}`];
    const named = (await told(...limited)).claims;
    assert.deepEqual(named, {
      [`${own}org:id`]: organization,
      [`${own}org:domain:primary`]: domain,
    });
    const others = [`${own}org:id:404`, `${own}org:domain:primary:evil.test`];
    assert.deepEqual((await told(...others)).claims, {});
  });

  it("tell metadata in base64url", async () => {
    const value = Buffer.from("vip?>").toString("base64");
    const set = await put(`/users/${user}/metadata/tier`, { value });
    assert.equal(set.status, 200, set.refusal?.message);
    const { claims } = await told(`${own}user:metadata`);
    assert.deepEqual(claims, { [`${own}user:metadata`]: { tier: "dmlwPz4" } });
  });

  it("tell roles on request only, and in tokens as the app wants", async () => {
    const project_id = web.projectId;
    for (const key of ["editor", "reader"]) {
      await post("/project_roles", { project_id, key, display_name: key });
    }
    const grant = { user_id: user, project_id, role_keys: ["editor", "reader"] };
    const granted = await post("/user_grants", grant);
    assert.equal(granted.status, 201);
    const [plain, named] = [`${own}org:project:roles`, `${own}org:project:${project_id}:roles`];
    assert.deepEqual((await told()).claims, {});
    const { claims: one } = await told(`${own}org:project:role:editor`);
    assert.deepEqual(Object.keys(one[plain]), ["editor"]);
    const { claims: all, idToken } = await told(`${own}org:projects:roles`);
    assert.deepEqual(Object.keys(all[plain]).sort(), ["editor", "reader"]);
    assert.deepEqual(all[named], all[plain]);
    assert.deepEqual(Object.keys(all[plain].editor), [organization]);
    assert.match(all[plain].editor[organization], /localhost$/);
    assert.deepEqual(idToken[plain], all[plain]);
    const elsewhere = await told(`${own}org:projects:roles`, `${own}org:roles:id:404`);
    assert.deepEqual(elsewhere.claims, {});

    const asserting = await addClient(
      {
        access_token_type: "OIDC_TOKEN_TYPE_JWT",
        access_token_role_assertion: true,
        id_token_role_assertion: true,
      },
      { project_id },
    );
    const issued = await tokensFor(asserting, user);
    assert.deepEqual(decodeJwt(issued.access_token)[plain], all[plain]);
    assert.deepEqual(decodeJwt(issued.id_token)[plain], all[plain]);
    assert.equal((await service.userinfo(issued.access_token)).body[plain], undefined);
    await service.patch(`/projects/${project_id}`, { role_assertion: true });
    const { body } = await service.userinfo(issued.access_token);
    assert.deepEqual(body[plain], all[plain]);

    // D36: a role that was taken away is in nothing that is told or issued from then on.
    await service.remove(`/user_grants/${Object(granted.json).details.id}`);
    assert.equal((await service.userinfo(issued.access_token)).body[plain], undefined);
    const later = await tokensFor(asserting, user);
    assert.equal(decodeJwt(later.access_token)[plain], undefined);
  });
});
