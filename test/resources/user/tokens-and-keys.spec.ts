// Run: shared, store
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { machineCredentials } from "../../../src/resources/user/index.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startUserPeer } from "./user-peer.ts";

const service = await startUserPeer();
const { get, post, patch, remove, at, deps, addPerson, addMachine, tokenOf } = service;
const { authenticatorsOf, eventsOf, pass, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());

const { instanceId } = at;
const maker = service.app.made.machine.user_id;
const machines = machineCredentials(deps);
const inAnHour = () => new Date(deps.now().getTime() + 3_600_000).toISOString();
const notMachine = { code: 9, reason: "USER_NOT_MACHINE" };
const unknown = { code: 5, reason: "USER_NOT_FOUND" };
const dates = ["2020-01-01T00:00:00Z", new Date().toISOString()];

describe("a personal access token", () => {
  const add = (id: string, body: JsonObject = {}, options = {}) =>
    post(`/users/${id}/personal_access_tokens`, body, options);

  it("is shown once, calls the API as the user, and is listed without the token", async () => {
    const id = await addMachine();
    const expiration_date = inAnHour();
    const made = bodyOf(await add(id, { expiration_date }));
    assert.match(made.token, /^idsvc_pat_[\w-]{43}$/);
    const { token, token_id, details } = made;
    assert.equal(bodyOf(await get(`/users/${id}`, { token })).user.details.id, id);
    const [{ last_use_date: _, ...listed }, ...more] = Object(
      (await authenticatorsOf(id))["personal_access_tokens"],
    );
    const creation_date = details.change_date;
    assert.deepEqual(listed, { token_id, creation_date, expiration_date, creator_id: maker });
    assert.deepEqual(more, []);
    assert.ok(!JSON.stringify((await eventsOf(id)).map(({ payload }) => payload)).includes(token));
  });

  it("is dead at the call after its removal", async () => {
    const id = await addMachine();
    const { token, token_id } = bodyOf(await add(id));
    const path = `/users/${id}/personal_access_tokens/${token_id}`;
    bodyOf(await get(`/users/${id}`, { token }));
    bodyOf(await remove(path, { token }));
    assert.equal((await get(`/users/${id}`, { token })).status, 401);
    const gone = { code: 5, reason: "PERSONAL_ACCESS_TOKEN_NOT_FOUND" };
    assertRefused((await remove(path)).refusal, gone);
  });

  it("is dead at the call after it expires", async () => {
    const id = await addMachine();
    const { token } = bodyOf(await add(id, { expiration_date: inAnHour() }));
    bodyOf(await get(`/users/${id}`, { token }));
    pass(3_600_000);
    assert.equal((await get(`/users/${id}`, { token })).status, 401);
  });

  it("counts only while the user is active", async () => {
    const id = await addMachine();
    const { token } = bodyOf(await add(id));
    bodyOf(await post(`/users/${id}/_deactivate`));
    assert.equal((await get(`/users/${id}`, { token })).status, 401);
    bodyOf(await post(`/users/${id}/_activate`));
    bodyOf(await get(`/users/${id}`, { token }));
    bodyOf(await post(`/users/${id}/_lock`));
    assert.equal((await get(`/users/${id}`, { token })).status, 401);
  });

  it("is removed by nobody through another user (D53)", async () => {
    const [mine, other] = [await addMachine(), await addMachine()];
    const { token_id } = bodyOf(await add(mine));
    const { token } = bodyOf(await add(other));
    const path = `/users/${other}/personal_access_tokens/${token_id}`;
    const absent = { code: 5, reason: "PERSONAL_ACCESS_TOKEN_NOT_FOUND" };
    assertRefused((await remove(path, { token })).refusal, absent);
  });

  for (const expiration_date of dates) {
    it(`is refused with an expiration that has passed: ${expiration_date}`, async () => {
      const { refusal } = await add(await addMachine(), { expiration_date });
      const field = "personal_access_token.expiration_date";
      assertRefused(refusal, { code: 3, reason: "EXPIRATION_DATE_INVALID", field });
    });
  }

  it("is made for nobody else but by who may write users, and for nobody unknown", async () => {
    const organizationId = await addOrganization();
    const machine = { username: "x", schema_id: "machine", data: { name: "Robot" } };
    const made = await post(`/users?ctx.org_id=${organizationId}`, machine);
    const id = String(bodyOf(made, 201).details.id);
    const viewer = await addMember(organizationId, ["ORG_OWNER_VIEWER"]);
    assertRefused((await add(id, {}, viewer)).refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const outsider = await addMember(await addOrganization(), ["ORG_OWNER"]);
    assertRefused((await add(id, {}, outsider)).refusal, unknown);
    assertRefused((await add("404")).refusal, unknown);
    bodyOf(await add(id, {}, await addMember(organizationId, ["ORG_OWNER"])));
  });

  it("is one of fifty at most", async () => {
    const id = await addMachine();
    for (let turn = 0; turn < 50; turn++) bodyOf(await add(id));
    const { refusal } = await add(id);
    assertRefused(refusal, { code: 9, reason: "AUTHENTICATOR_LIMIT" });
    assert.deepEqual(refusal.metadata, { maximum: "50" });
  });

  it("of a person is made by that person alone (J1)", async () => {
    const id = await addPerson();
    const refused = await add(id);
    assertRefused(refused.refusal, { code: 7, reason: "CREDENTIAL_OF_PERSON" });
    const { token } = bodyOf(await add(id, {}, { token: await tokenOf(id) }));
    bodyOf(await get(`/users/${id}`, { token }));
  });

  it("of a person always ends: after 90 days, or when it says, within 366", async () => {
    const id = await addPerson();
    const own = { token: await tokenOf(id) };
    const inDays = (days: number) =>
      new Date(deps.now().getTime() + days * 24 * 3_600_000).toISOString();
    bodyOf(await add(id, {}, own));
    const [held] = Object(await authenticatorsOf(id)).personal_access_tokens;
    const usual = new Date(held.expiration_date).getTime() - new Date(held.creation_date).getTime();
    assert.equal(usual, 90 * 24 * 3_600_000);
    bodyOf(await add(id, { expiration_date: inDays(365) }, own));
    const { refusal } = await add(id, { expiration_date: inDays(367) }, own);
    const field = "personal_access_token.expiration_date";
    assertRefused(refusal, { code: 3, reason: "EXPIRATION_TOO_FAR", field });
  });
});

describe("a key of a machine", () => {
  const add = (id: string, body: JsonObject = {}) => post(`/users/${id}/public_keys`, body);
  const pem = (key: KeyObject) => String(key.export({ type: "spki", format: "pem" }));
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

  it("is made where none is given: the file with the private key is shown once", async () => {
    const id = await addMachine();
    const { key_id, key_file, details } = bodyOf(await add(id));
    const { key, ...rest } = key_file;
    assert.deepEqual(rest, { type: "serviceaccount", keyId: key_id, userId: id });
    const found = await machines.byKeyId(instanceId, key_id);
    assert.ok(found !== undefined);
    assert.equal(found.id, id);
    const text = Buffer.from("signed");
    const signature = sign("sha256", text, key);
    assert.ok(verify("sha256", text, createPublicKey(found.publicKey), signature));
    assert.deepEqual((await authenticatorsOf(id))["public_keys"], [
      { key_id, creation_date: details.change_date, creator_id: maker },
    ]);
    const log = JSON.stringify((await eventsOf(id)).map(({ payload }) => payload));
    assert.ok(!log.includes("PRIVATE KEY"));
  });

  it("may be given and may expire", async () => {
    const id = await addMachine();
    const expiration_date = inAnHour();
    const made = bodyOf(await add(id, { public_key: pem(publicKey), expiration_date }));
    assert.equal(made.key_file, undefined);
    const kept = await machines.byKeyId(instanceId, made.key_id);
    assert.equal(kept?.publicKey, pem(publicKey));
    const generated = bodyOf(await add(id, { expiration_date }));
    assert.equal(generated.key_file.expirationDate, expiration_date);
    pass(3_600_000);
    assert.equal(await machines.byKeyId(instanceId, made.key_id), undefined);
  });

  it("may be RSA, in either form, EC or Ed25519", async () => {
    const id = await addMachine();
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;
    const keys = [
      pem(rsa),
      String(rsa.export({ type: "pkcs1", format: "pem" })),
      pem(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey),
      pem(generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey),
      pem(generateKeyPairSync("ed25519").publicKey),
    ];
    for (const public_key of keys) bodyOf(await add(id, { public_key }));
  });

  const refused: [string, string][] = [
    ["no PEM", "x"],
    ["a private key", String(privateKey.export({ type: "pkcs8", format: "pem" }))],
    ["a key that is too short", pem(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey)],
    ["another curve", pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).publicKey)],
    ["a key for other ends", pem(generateKeyPairSync("x25519").publicKey)],
    ["a broken key", pem(publicKey).replace(/[A-Z]{2}/, "==")],
    ["two keys", pem(publicKey) + pem(publicKey)],
  ];
  for (const [what, public_key] of refused) {
    it(`is refused as ${what}`, async () => {
      const { refusal } = await add(await addMachine(), { public_key });
      assertRefused(refusal, { code: 3, reason: "PUBLIC_KEY_INVALID", field: "key.public_key" });
    });
  }

  it("is refused with an expiration that has passed, to people and to nobody", async () => {
    const { refusal } = await add(await addMachine(), { expiration_date: dates[0] ?? "" });
    const field = "key.expiration_date";
    assertRefused(refusal, { code: 3, reason: "EXPIRATION_DATE_INVALID", field });
    assertRefused((await add(await addPerson())).refusal, notMachine);
    assertRefused((await add("404")).refusal, unknown);
  });

  it("stops to count at once when it is removed, or the user is not active", async () => {
    const id = await addMachine();
    const { key_id } = bodyOf(await add(id, { public_key: pem(publicKey) }));
    bodyOf(await post(`/users/${id}/_deactivate`));
    assert.equal(await machines.byKeyId(instanceId, key_id), undefined);
    bodyOf(await post(`/users/${id}/_activate`));
    assert.ok(await machines.byKeyId(instanceId, key_id));
    bodyOf(await remove(`/users/${id}/public_keys/${key_id}`));
    assert.equal(await machines.byKeyId(instanceId, key_id), undefined);
    const gone = { code: 5, reason: "PUBLIC_KEY_NOT_FOUND" };
    assertRefused((await remove(`/users/${id}/public_keys/${key_id}`)).refusal, gone);
  });
});

describe("the secret of a machine", () => {
  const set = (id: string) => post(`/users/${id}/secret`);
  const client = (id: string, secret: string) => machines.byClientSecret(instanceId, id, secret);

  it("is shown once; the client id is the username as it is then", async () => {
    const username = uniqueName("robot");
    const id = await addMachine({ username });
    const { client_id, client_secret, details } = bodyOf(await set(id));
    assert.equal(client_id, username);
    assert.match(client_secret, /^idsvc_cs_[\w-]{43}$/);
    assert.equal((await client(username, client_secret))?.id, id);
    assert.equal(await client("other", client_secret), undefined);
    const another = bodyOf(await set(await addMachine()));
    assert.equal(await client(another.client_id, client_secret), undefined);
    assert.equal(await client(username, `${client_secret}x`), undefined);
    assert.deepEqual((await authenticatorsOf(id))["secret"], {
      client_id: username,
      creation_date: details.change_date,
      creator_id: maker,
    });
    const log = JSON.stringify((await eventsOf(id)).map(({ payload }) => payload));
    assert.ok(!log.includes(client_secret));
    bodyOf(await patch(`/users/${id}`, { username: uniqueName("renamed") }));
    assert.equal((await client(username, client_secret))?.id, id);
  });

  it("is no bearer token of the API, as no secret of another kind is", async () => {
    const id = await addMachine();
    const { client_secret: token } = bodyOf(await set(id));
    assert.equal((await get(`/users/${id}`, { token })).status, 401);
  });

  it("takes the place of the one before", async () => {
    const id = await addMachine();
    const first = bodyOf(await set(id));
    const second = bodyOf(await set(id));
    assert.equal(await client(first.client_id, first.client_secret), undefined);
    assert.ok(await client(second.client_id, second.client_secret));
  });

  it("has a client id that no other client of the instance has, in a like spelling (C4)", async () => {
    const username = uniqueName("Straße");
    const mine = await addMachine({ username });
    const there = `?ctx.org_id=${await addOrganization()}`;
    const like = { username: username.toUpperCase(), schema_id: "machine", data: { name: "x" } };
    const other = String(bodyOf(await post(`/users${there}`, like), 201).details.id);
    bodyOf(await set(mine));
    const taken = await set(other);
    assert.equal(taken.status, 409);
    assertRefused(taken.refusal, { code: 6, reason: "CLIENT_ID_TAKEN" });
    bodyOf(await remove(`/users/${mine}/secret`));
    bodyOf(await set(other));
    bodyOf(await remove(`/users/${other}`));
    bodyOf(await set(mine));
  });

  it("stops to count at once when it is removed", async () => {
    const id = await addMachine();
    const { client_id, client_secret } = bodyOf(await set(id));
    bodyOf(await remove(`/users/${id}/secret`));
    assert.equal(await client(client_id, client_secret), undefined);
    assert.equal((await authenticatorsOf(id))["secret"], undefined);
    const none = { code: 9, reason: "SECRET_MISSING" };
    assertRefused((await remove(`/users/${id}/secret`)).refusal, none);
  });

  it("is nothing for people, and for nobody", async () => {
    assertRefused((await set(await addPerson())).refusal, notMachine);
    assertRefused((await set("404")).refusal, unknown);
  });
});
