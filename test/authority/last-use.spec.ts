// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { credentialUses } from "../../src/resources/object/credential-uses.ts";
import { until } from "../executor/executor-peer.ts";
import { basic, paths, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { SignJWT, importPKCS8 } from "jose";

const peer = await startOidc();
after(() => peer[Symbol.asyncDispose]());
const { app, at } = peer;
const { db } = app.kernel;
const me = app.made.machine.user_id;

const grant_type = "client_credentials";
const rows = () => db.read.select().from(db.table(credentialUses));
// oxlint-disable-next-line no-explicit-any -- what an answer holds is for each test to know.
const authenticatorsOf = async (id: string): Promise<any> =>
  bodyOf(await peer.get(`/users/${id}`)).user.user.authenticators;

async function assertion(
  issuer: string,
  { keyId, privateKey }: { keyId: string; privateKey: string },
) {
  const key = await importPKCS8(privateKey, "RS256").catch(() => importPKCS8(privateKey, "ES256"));
  const alg = key.algorithm.name.startsWith("RSA") ? "RS256" : "ES256";
  const seconds = Math.floor(peer.now().getTime() / 1000);
  return new SignJWT({ jti: String(Math.random()) })
    .setProtectedHeader({ alg, kid: keyId })
    .setIssuer(issuer)
    .setSubject(issuer)
    .setAudience(peer.issuer)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 60)
    .sign(key);
}

describe("keys, secrets and tokens of machine users (J19)", () => {
  it("are listed with who made them, and when they were used last", async () => {
    const machine = await peer.addMachine();
    const key = await peer.addKey(machine.id);
    const pat = bodyOf(await peer.post(`/users/${machine.id}/personal_access_tokens`, {}));
    const before = await authenticatorsOf(machine.id);
    for (const each of [before.secret, before.public_keys[0], before.personal_access_tokens[0]]) {
      assert.equal(each.creator_id, me);
      assert.ok(Date.parse(each.creation_date) <= Date.now());
      assert.equal(each.last_use_date, undefined);
    }
    const scope = "openid";
    assert.equal((await peer.send(paths.token, { grant_type, scope }, basic(machine))).status, 200);
    const jwt = await assertion(machine.id, key);
    const bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const answer = await peer.send(paths.token, { grant_type: bearer, scope, assertion: jwt });
    assert.equal(answer.status, 200, answer.text);
    bodyOf(await peer.get(`/users/${machine.id}`, { token: pat.token }));
    await until("all uses are written", async () => {
      const { secret, public_keys, personal_access_tokens } = await authenticatorsOf(machine.id);
      const all = [secret, public_keys[0], personal_access_tokens[0]];
      return all.every(({ last_use_date }) => Date.parse(last_use_date) > Date.now() - 60_000);
    });
  });

  it("are not used by who does not have them", async () => {
    const machine = await peer.addMachine();
    const key = await peer.addKey(machine.id);
    const other = await peer.addKey((await peer.addMachine()).id);
    const wrong = { ...machine, secret: "wrong" };
    const scope = "openid";
    assert.equal((await peer.send(paths.token, { grant_type, scope }, basic(wrong))).status, 401);
    const forged = await assertion(machine.id, { ...other, keyId: key.keyId });
    const bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const answer = await peer.send(paths.token, { grant_type: bearer, scope, assertion: forged });
    assert.equal(answer.status, 400);
    // What is noted is written in order: once a later use is there, an earlier one would be.
    const next = await peer.addMachine();
    await peer.send(paths.token, { grant_type, scope }, basic(next));
    await until("a later use", async () => (await authenticatorsOf(next.id)).secret.last_use_date);
    const shown = await authenticatorsOf(machine.id);
    assert.equal(shown.secret.last_use_date, undefined);
    assert.equal(shown.public_keys[0].last_use_date, undefined);
  });
});

describe("keys and secrets of apps (J19)", () => {
  const token = (client: { clientId: string; secret: string }) =>
    peer.send(paths.introspect, { token: "nobody's" }, basic(client));

  it("are listed with who made them, and when they were used last", async () => {
    const client = await peer.addClient();
    const list = async () => bodyOf(await peer.get(`/apps/${client.appId}/keys`));
    const { secret: first } = await list();
    assert.equal(first.creator_id, me);
    assert.equal(first.last_use_date, undefined);
    assert.equal((await token(client)).status, 200);
    const used = await until("the use", async () => (await list()).secret.last_use_date);
    assert.ok(Math.abs(Date.parse(String(used)) - Date.now()) < 60_000);

    const { userId, token: theirs } = await peer.addMember(app.made.organization_id, ["ORG_OWNER"]);
    bodyOf(
      await peer.post(`/apps/${client.appId}/_regenerate_secret`, undefined, { token: theirs }),
    );
    const { secret: second } = await list();
    assert.equal(second.creator_id, userId);
    assert.ok(Date.parse(second.creation_date) >= Date.parse(first.creation_date));
    const none = { oidc: { auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE" } };
    bodyOf(await peer.patch(`/apps/${client.appId}`, none));
    assert.equal((await list()).secret, undefined);
    const basicAgain = { oidc: { auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC" } };
    bodyOf(await peer.patch(`/apps/${client.appId}`, basicAgain));
    assert.equal((await list()).secret.creator_id, me);
  });

  it("are told of a key that an assertion was verified by", async () => {
    const api = await peer.addApi("PRIVATE_KEY_JWT");
    const key = await peer.addAppKey(api.appId);
    const list = async () => bodyOf(await peer.get(`/apps/${api.appId}/keys`));
    assert.equal((await list()).result[0].last_use_date, undefined);
    assert.equal((await list()).secret, undefined);
    const form = {
      token: "nobody's",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await assertion(api.clientId, key),
    };
    const answer = await peer.send(paths.introspect, form);
    assert.equal(answer.status, 200, answer.text);
    await until("the use", async () => (await list()).result[0].last_use_date);
  });
});

describe("the writing of uses", () => {
  it("happens once an hour for each credential, and goes with its owner", async () => {
    const { userId, token } = await peer.addMember(app.made.organization_id, []);
    const mine = async () => (await rows()).filter(({ ownerId }) => ownerId === userId);
    const use = async () => bodyOf(await peer.get(`/users/${userId}`, { token }));
    await use();
    const first = await until("the first use", async () => (await mine()).at(0)?.usedAt);
    peer.pass(50 * 60_000);
    for (let nth = 0; nth < 5; nth++) await use();
    peer.pass(11 * 60_000);
    await use();
    const second = await until("the next hour", async () => {
      const [row] = await mine();
      return row !== undefined && row.usedAt > first && row.usedAt;
    });
    assert.ok(second.getTime() - first.getTime() >= 61 * 60_000, "nothing was written between");
    assert.equal((await mine()).length, 1);
    bodyOf(await peer.remove(`/users/${userId}`));
    assert.deepEqual(await mine(), []);
    assert.equal(at.instanceId, app.made.instance_id);
  });
});
