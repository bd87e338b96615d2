// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

const service = await startPeer();
const { app, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const human = { given_name: "Ada", family_name: "Lovelace", preferred_language: "en" };
const userOf = async (id: string, token?: string) =>
  bodyOf(await get(`/users/${id}`, token === undefined ? {} : { token })).user;
const addUser = async (more: JsonObject = {}, query = "") => {
  const answer = await post(`/users${query}`, {
    username: uniqueName("user"),
    data: human,
    ...more,
  });
  return String(bodyOf(answer, 201).details.id);
};
const notFound = { code: 5, reason: "USER_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const taken = { code: 6, reason: "USERNAME_TAKEN" };
const ids = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);

describe("creating a user", () => {
  it("answers 201; a person without anything to log in with is INITIAL", async () => {
    const username = uniqueName("user");
    const { details, ...rest } = bodyOf(await post("/users", { username, data: human }), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, {
      type: "OWNER_TYPE_ORG",
      id: app.made.organization_id,
    });
    assert.deepEqual(await userOf(details.id), {
      details,
      state: "USER_STATE_INITIAL",
      user: {
        schema: { id: "human", type: "human", revision: 1 },
        username,
        login_names: [`${username}@idsvc.localhost`],
        data: human,
        contact: {},
        authenticators: {
          web_auth_n: [],
          totps: [],
          otp_sms: [],
          otp_email: [],
          public_keys: [],
          personal_access_tokens: [],
          identity_providers: [],
        },
      },
    });
  });

  it("makes a machine user, who is active", async () => {
    const id = await addUser({ schema_id: "machine", data: { name: "Robot" } });
    const { state, user } = await userOf(id);
    assert.equal(state, "USER_STATE_ACTIVE");
    assert.deepEqual([user.schema.id, user.data], ["machine", { name: "Robot" }]);
  });

  it("is in the organization of ctx, or of the header, or the caller's own", async () => {
    const organization = await addOrganization({ domain: "place.example.com" });
    const headers = { "x-idsvc-orgid": organization };
    const byHeader = await post("/users", { username: "x1", data: human }, { headers });
    const byContext = await addUser({ username: "x2" }, `?ctx.org_domain=place.example.com`);
    for (const id of [String(bodyOf(byHeader, 201).details.id), byContext]) {
      assert.equal((await userOf(id)).details.resource_owner.id, organization);
    }
    const { token } = await addMember(organization, ["ORG_USER_MANAGER"]);
    const own = bodyOf(await post("/users", { username: "x3", data: human }, { token }), 201);
    assert.equal(own.details.resource_owner.id, organization);
    assert.deepEqual((await userOf(own.details.id)).user.login_names, ["x3@place.example.com"]);
  });

  it("takes an id, once for ever", async () => {
    const user_id = uniqueName("my-id").replace(" ", "-");
    assert.equal(await addUser({ user_id }), user_id);
    const again = { username: uniqueName("user"), data: human, user_id };
    assertRefused((await post("/users", again)).refusal, { code: 6, reason: "USER_ID_TAKEN" });
    bodyOf(await remove(`/users/${user_id}`));
    assertRefused((await post("/users", again)).refusal, { code: 6, reason: "USER_ID_TAKEN" });
  });

  it("keeps usernames unique within the organization, in any like spelling", async () => {
    const username = `Größe ${uniqueName("user")}`;
    await addUser({ username });
    for (const like of [username, username.toUpperCase(), username.replace("ß", "ss")]) {
      const { status, refusal } = await post("/users", { username: like, data: human });
      assert.equal(status, 409);
      assertRefused(refusal, taken, like);
    }
    const other = await addOrganization();
    await addUser({ username }, `?ctx.org_id=${other}`);
  });

  it("sets contacts, verified or with codes that are shown once", async () => {
    const email = { address: "ada@example.com", is_verified: true };
    const phone = { number: "+41791234567", return_code: {} };
    const body = { username: uniqueName("user"), data: human, contact: { email, phone } };
    const { details, phone_code, ...rest } = bodyOf(await post("/users", body), 201);
    assert.deepEqual(rest, {});
    assert.match(phone_code, /^\d{8}$/);
    assert.deepEqual((await userOf(details.id)).user.contact, {
      email: { address: "ada@example.com", is_verified: true },
      phone: { number: "+41791234567", is_verified: false },
    });
  });

  const refused: [string, JsonObject, { code: number; reason: string; field?: string }][] = [
    [
      "without a username",
      { username: "" },
      { code: 3, reason: "VALIDATION_FAILED", field: "user.username" },
    ],
    [
      "with a username with control characters",
      { username: "a\u0007" },
      { code: 3, reason: "VALIDATION_FAILED", field: "user.username" },
    ],
    ["of an unknown schema", { schema_id: "404" }, { code: 5, reason: "USER_SCHEMA_NOT_FOUND" }],
    [
      "whose data break the schema",
      { data: { given_name: 5 } },
      { code: 3, reason: "USER_DATA_INVALID", field: "user.data.given_name" },
    ],
    [
      "with an address that is none",
      { contact: { email: { address: "nobody" } } },
      { code: 3, reason: "VALIDATION_FAILED", field: "user.contact.email.address" },
    ],
    [
      "with a number that is none",
      { contact: { phone: { number: "12" } } },
      { code: 3, reason: "VALIDATION_FAILED", field: "user.contact.phone.number" },
    ],
    [
      "with what only the service sets",
      { state: "USER_STATE_ACTIVE" },
      { code: 3, reason: "UNKNOWN_FIELD", field: "user.state" },
    ],
  ];
  for (const [what, more, expected] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { refusal } = await post("/users", {
        username: uniqueName("user"),
        data: human,
        ...more,
      });
      assertRefused(refusal, expected);
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused in an organization where the caller may not write users", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token, userId: user_id } = await addMember(mine, ["ORG_USER_MANAGER"]);
    const body = { username: uniqueName("user"), data: human };
    const there = () => post(`/users?ctx.org_id=${other}`, body, { token });
    assertRefused((await there()).refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    const ctx = { org_id: other };
    bodyOf(await post("/memberships", { ctx, user_id, roles: ["ORG_OWNER_VIEWER"] }), 201);
    assertRefused((await there()).refusal, missing);
  });
});

describe("patching a user", () => {
  it("changes username and data, and records nothing when nothing differs", async () => {
    const id = await addUser();
    const username = uniqueName("user");
    const data = { ...human, nickname: "Countess" };
    const { details } = bodyOf(await patch(`/users/${id}`, { username, data }));
    const read = await userOf(id);
    assert.deepEqual([read.user.username, read.user.data, read.details], [username, data, details]);
    const before = await eventCount();
    const reordered = Object.fromEntries(Object.entries(data).toReversed());
    for (const body of [{}, { username }, { data: reordered }, { username, data }]) {
      assert.deepEqual(bodyOf(await patch(`/users/${id}`, body)), { details });
    }
    assert.equal(await eventCount(), before);
  });

  it("lets a user change of themselves what is theirs to change, and no more", async () => {
    const { userId, token } = await addMember(await addOrganization(), []);
    assertRefused(
      (await patch(`/users/${userId}`, { username: "root" }, { token })).refusal,
      missing,
    );
    const email = { address: "me@example.com", is_verified: true };
    assertRefused((await patch(`/users/${userId}`, { contact: { email } }, { token })).refusal, {
      code: 7,
      reason: "PROOF_FOR_ONESELF",
    });
    bodyOf(
      await patch(
        `/users/${userId}`,
        { contact: { email: { address: "me@example.com" } } },
        { token },
      ),
    );
    assert.equal((await userOf(userId)).user.contact.email.is_verified, false);
  });
});

describe("the state of a user", () => {
  it("goes back and forth, and an action that finds it there already is refused", async () => {
    const id = await addUser({ schema_id: "machine", data: { name: "m" } });
    const act = async (action: string) => (await post(`/users/${id}/_${action}`)).refusal;
    const state = async () => (await userOf(id)).state;
    assertRefused(await act("activate"), { code: 9, reason: "USER_NOT_INACTIVE" });
    assertRefused(await act("unlock"), { code: 9, reason: "USER_NOT_LOCKED" });
    assert.equal(await act("lock"), undefined);
    assert.equal(await state(), "USER_STATE_LOCKED");
    assertRefused(await act("lock"), { code: 9, reason: "USER_LOCKED" });
    assert.equal(await act("unlock"), undefined);
    assert.equal(await act("deactivate"), undefined);
    assert.equal(await state(), "USER_STATE_INACTIVE");
    assertRefused(await act("deactivate"), { code: 9, reason: "USER_INACTIVE" });
    assertRefused(await act("lock"), { code: 9, reason: "USER_INACTIVE" });
    assert.equal(await act("activate"), undefined);
    assert.equal(await state(), "USER_STATE_ACTIVE");
  });

  for (const [action, back] of [
    ["lock", "unlock"],
    ["deactivate", "activate"],
  ] as const) {
    it(`D36: stops their tokens at once when an owner says ${action}`, async () => {
      const { userId, token } = await addMember(await addOrganization(), ["ORG_OWNER"]);
      bodyOf(await get(`/users/${userId}`, { token }));
      bodyOf(await post(`/users/${userId}/_${action}`));
      const { status, refusal } = await get(`/users/${userId}`, { token });
      assert.equal(status, 401);
      assertRefused(refusal, { code: 16, reason: "TOKEN_INVALID" });
      bodyOf(await post(`/users/${userId}/_${back}`));
      bodyOf(await get(`/users/${userId}`, { token }));
    });
  }
});

describe("deleting a user", () => {
  it("takes them away with their tokens and memberships, and frees their name (D36, D48)", async () => {
    const organization = await addOrganization();
    const { userId, token } = await addMember(organization, ["ORG_OWNER"]);
    const { username } = (await userOf(userId)).user;
    bodyOf(await remove(`/users/${userId}`));
    assert.equal((await get(`/users/${userId}`, { token })).status, 401);
    assertRefused((await get(`/users/${userId}`)).refusal, notFound);
    assertRefused((await remove(`/users/${userId}`)).refusal, notFound);
    const members = [{ in_user_ids: { ids: [userId] } }];
    assert.equal(bodyOf(await post("/memberships/_search", members)).details.total_result, "0");
    const again = await addUser({ username }, `?ctx.org_id=${organization}`);
    assert.notEqual(again, userId);
    assert.equal((await get(`/users/${again}`, { token })).status, 401);
  });

  it("erases what tells of them from the log, and the log still folds (C7)", async () => {
    const contact = { email: { address: "erase@example.com" } };
    const id = await addUser({ username: "erase me", contact });
    bodyOf(await remove(`/users/${id}`));
    const { instance_id: instanceId } = app.made;
    const aggregate = { type: "user", id };
    const events = await app.kernel.events.read({ instanceId, aggregate });
    assert.ok(events.length >= 3);
    assert.doesNotMatch(JSON.stringify(events.map(({ payload }) => payload)), /erase|Ada|Lovelace/);
  });
});

describe("reading users", () => {
  it("shows everybody themselves, and to who may read users those of the organization (D42)", async () => {
    const organization = await addOrganization();
    const manager = await addMember(organization, ["ORG_USER_MANAGER"]);
    const plain = await addMember(organization, []);
    const search = async (token: string) => bodyOf(await post("/users/_search", [], { token }));
    const own = await search(plain.token);
    assert.deepEqual([ids(own), own.details.total_result], [[plain.userId], "1"]);
    const all = await search(manager.token);
    assert.deepEqual(new Set(ids(all)), new Set([plain.userId, manager.userId]));
    assert.equal(all.details.total_result, "2");
    await userOf(plain.userId, plain.token);
  });

  it("D44: answers a user whom the caller may not read exactly as an absent one", async () => {
    const { token } = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const hidden = await get(`/users/${await addUser()}`, { token });
    const absent = await get("/users/404", { token });
    assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    assertRefused((await remove(`/users/${await addUser()}`, { token })).refusal, notFound);
  });

  it("is refused to change whom the caller may only read", async () => {
    const organization = await addOrganization();
    const { token } = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    const id = await addUser({}, `?ctx.org_id=${organization}`);
    await userOf(id, token);
    const { status, refusal } = await post(`/users/${id}/_lock`, undefined, { token });
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });
});

describe("searching users", () => {
  it("filters by everything that tells users apart", async () => {
    const organization = await addOrganization({ domain: "many.example.com" });
    const tag = uniqueName("many");
    const at = `?ctx.org_id=${organization}`;
    const email = { address: `${tag.replace(" ", "")}@Example.com`, is_verified: true };
    const one = await addUser({ username: `${tag} one`, contact: { email } }, at);
    const phone = { number: "+4911223344", is_verified: true };
    const two = await addUser(
      { username: `${tag} two`, data: { given_name: "Bea", family_name: tag }, contact: { phone } },
      at,
    );
    const three = await addUser(
      { username: `${tag} three`, schema_id: "machine", data: { name: "m" } },
      at,
    );
    bodyOf(await post(`/users/${three}/_deactivate`));
    const search = async (...filters: JsonObject[]) =>
      ids(
        bodyOf(
          await post(
            "/users/_search?query.asc=true&sorting_column=USER_FIELD_NAME_USERNAME",
            filters,
          ),
        ),
      );
    const here = { organization: { org_domain: "many.example.com" } };
    const like = (name: string, method = "EQUALS") => ({
      name,
      method: `TEXT_FILTER_METHOD_${method}`,
    });
    assert.deepEqual(await search(here), [one, three, two]);
    assert.deepEqual(await search({ username: like(`${tag} T`, "STARTS_WITH_IGNORE_CASE") }), [
      three,
      two,
    ]);
    assert.deepEqual(await search({ display_name: like(`Bea ${tag}`) }), [two]);
    assert.deepEqual(
      await search({ email: like(email.address.toLowerCase(), "EQUALS_IGNORE_CASE") }),
      [one],
    );
    assert.deepEqual(await search(here, { phone: like(phone.number) }), [two]);
    assert.deepEqual(await search(here, { state: { state: "USER_STATE_INACTIVE" } }), [three]);
    assert.deepEqual(await search(here, { state: { state: "USER_STATE_INITIAL" } }), [one, two]);
    assert.deepEqual(await search(here, { state: { state: "USER_STATE_ACTIVE" } }), []);
    assert.deepEqual(await search(here, { in_schema_ids: { ids: ["machine"] } }), [three]);
    assert.deepEqual(await search(here, { schema_type: like("hum", "STARTS_WITH") }), [one, two]);
    assert.deepEqual(await search({ login_name: { login_name: `${tag} ONE@many.example.com` } }), [
      one,
    ]);
    assert.deepEqual(await search({ login_name: { login_name: `${tag} one@404.test` } }), []);
    const either = { or: { filters: [{ in_ids: { ids: [one] } }, { phone: like(phone.number) }] } };
    assert.deepEqual(await search(here, either), [one, two]);
    assert.deepEqual(await search(here, { not: either }), [three]);
    assert.deepEqual(await search(here, { not: { phone: like(phone.number) } }), [one, three]);
    assert.deepEqual(
      await search(here, { and: { filters: [either, { in_ids: { ids: [two] } }] } }),
      [two],
    );
  });

  it("refuses filters that nest deeper than three", async () => {
    const deep = { not: { not: { not: { in_ids: { ids: [] } } } } };
    const { refusal } = await post("/users/_search", [deep]);
    const field = "filters[0].not.not.not";
    assertRefused(refusal, { code: 3, reason: "FILTER_TOO_DEEP", field });
  });
});
