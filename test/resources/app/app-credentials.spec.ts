// Run: shared, store
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { after, describe, it } from "node:test";
import { appReader, isClientSecretOf } from "../../../src/resources/app/index.ts";
import {
  events as eventsTable,
  secrets as secretsTable,
} from "../../../src/storage/kernel-tables.ts";
import { eq } from "../../../src/storage/drizzle.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startAppPeer } from "./app-peer.ts";

const service = await startAppPeer();
const { app, get, post, patch, remove, addApp, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const { kernel, made } = app;
const apps = appReader(kernel.db);
const isSecret = (appId: string, secret: string) =>
  isClientSecretOf(kernel.secrets, { instanceId: made.instance_id, appId }, secret);
const regenerate = async (id: string): Promise<string> =>
  bodyOf(await post(`/apps/${id}/_regenerate_secret`)).client_secret;
const methodOf = (name: string) => ({
  oidc: { auth_method_type: `OIDC_AUTH_METHOD_TYPE_${name}` },
});
const spki = { type: "spki", format: "pem" } as const;
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const pem = publicKey.export(spki).toString();
const keysOf = async (id: string, query = "") => bodyOf(await get(`/apps/${id}/keys?${query}`));

/** All that the log and the secrets hold, as text. */
async function stored(): Promise<string> {
  const { db } = kernel;
  const rows: object[] = [
    ...(await db.read.select().from(db.table(eventsTable))),
    ...(await db.read.select().from(db.table(secretsTable))),
  ];
  const text = (value: unknown) =>
    value instanceof Uint8Array
      ? Buffer.from(value).toString("latin1")
      : value !== null && typeof value === "object"
        ? JSON.stringify(value)
        : String(value);
  return rows.flatMap((row) => Object.values(row).map(text)).join("\n");
}

describe("the secret of an app", () => {
  it("is one of it, and of no other", async () => {
    const [one, other] = [await addApp(), await addApp()];
    assert.equal(await isSecret(one.id, one.secret), true);
    assert.equal(await isSecret(other.id, one.secret), false);
    for (const wrong of ["", `${one.secret}x`, one.secret.slice(0, -1)]) {
      assert.equal(await isSecret(one.id, wrong), false);
    }
  });

  it("is told once, and stands neither in the log nor in clear anywhere", async () => {
    const { id, secret } = await addApp();
    const next = await regenerate(id);
    const read = JSON.stringify((await get(`/apps/${id}`)).json);
    const everything = await stored();
    assert.ok(everything.includes(id));
    for (const text of [read, everything]) {
      for (const one of [secret, next]) assert.equal(text.includes(one), false);
    }
  });

  it("is replaced by another: the one before stops working with the answer", async () => {
    const { id, secret } = await addApp();
    const next = await regenerate(id);
    assert.notEqual(next, secret);
    assert.deepEqual([await isSecret(id, secret), await isSecret(id, next)], [false, true]);
    const api = await addApp({ api: {} });
    assert.equal(await isSecret(api.id, await regenerate(api.id)), true);
  });

  it("is refused to an app that has none", async () => {
    const withoutSecret = { code: 9, reason: "APP_WITHOUT_SECRET" };
    const api = { auth_method_type: "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" };
    for (const more of [methodOf("NONE"), methodOf("PRIVATE_KEY_JWT"), { api }]) {
      const { id } = await addApp(more);
      const before = await eventCount();
      const { status, refusal } = await post(`/apps/${id}/_regenerate_secret`);
      assert.equal(status, 400);
      assertRefused(refusal, withoutSecret);
      assert.equal(await eventCount(), before);
    }
  });

  it("comes and goes with the authentication method", async () => {
    const { id, secret } = await addApp();
    const secretAfter = async (name: string) =>
      bodyOf(await patch(`/apps/${id}`, methodOf(name))).client_secret;
    assert.equal(await secretAfter("POST"), undefined);
    assert.equal(await isSecret(id, secret), true, "it stays with another method that has one");
    assert.equal(await secretAfter("NONE"), undefined);
    assert.equal(await isSecret(id, secret), false);
    const before = await eventCount();
    const next = await secretAfter("BASIC");
    const recorded = (await eventCount()) - before;
    assert.equal(recorded, 3, "the change, the end of consents (J19), and the new secret");
    assert.deepEqual([await isSecret(id, secret), await isSecret(id, next)], [false, true]);
  });

  it("goes with the app, and with its project", async () => {
    const [one, other] = [await addApp(), await addApp()];
    bodyOf(await remove(`/apps/${one.id}`));
    bodyOf(await remove(`/projects/${other.projectId}`));
    for (const { id, secret } of [one, other]) {
      assert.equal(await isSecret(id, secret), false);
      const { db } = kernel;
      const secrets = db.table(secretsTable);
      const rows = await db.read.select().from(secrets).where(eq(secrets.ownerId, id));
      assert.deepEqual(rows, []);
    }
  });
});

describe("the keys of an app", () => {
  it("can be given: nothing is answered but the id", async () => {
    const { id } = await addApp();
    const expiration_date = "2999-01-01T00:00:00Z";
    const answer = await post(`/apps/${id}/keys`, { public_key: pem, expiration_date });
    const { details, key_id, ...rest } = bodyOf(answer, 201);
    assert.deepEqual([details.id, rest], [id, {}]);
    const listed = await keysOf(id);
    assert.equal(listed.details.total_result, "1");
    const [{ creation_date, ...key }] = listed.result;
    assert.equal(creation_date, details.change_date);
    const creator_id = service.app.made.machine.user_id;
    assert.deepEqual(key, { key_id, public_key: pem, expiration_date, creator_id });
    assert.deepEqual((await service.appOf(id))["details"], details);
  });

  it("can be made: the private one is told once", async () => {
    const { id, clientId } = await addApp({ api: {} });
    const { key_id, key_file } = bodyOf(await post(`/apps/${id}/keys`), 201);
    const { key, ...file } = key_file;
    assert.deepEqual(file, { type: "application", keyId: key_id, appId: id, clientId });
    const [listed] = (await keysOf(id)).result;
    assert.deepEqual(Object.keys(listed).sort(), [
      "creation_date",
      "creator_id",
      "key_id",
      "public_key",
    ]);
    const message = Buffer.from("assertion");
    const signature = sign("sha256", message, key);
    assert.ok(verify("sha256", message, createPublicKey(listed.public_key), signature));
    const line = key.split("\n")[3];
    assert.equal(line.length, 64);
    assert.equal((await stored()).includes(line), false);
    const ends = { expiration_date: "2999-01-01T00:00:00.000Z" };
    const ending = bodyOf(await post(`/apps/${id}/keys`, ends), 201);
    assert.equal(ending.key_file.expirationDate, ends.expiration_date);
  });

  it("are listed newest first, by page", async () => {
    const { id } = await addApp();
    const added: string[] = [];
    for (let i = 0; i < 3; i++) {
      added.unshift(bodyOf(await post(`/apps/${id}/keys`, { public_key: pem }), 201).key_id);
    }
    const ids = async (query: string) =>
      (await keysOf(id, query)).result.map((key: { key_id: string }) => key.key_id);
    assert.deepEqual(await ids(""), added);
    assert.deepEqual(await ids("query.asc=true"), added.toReversed());
    assert.deepEqual(await ids("query.limit=1&query.offset=1"), [added[1]]);
  });

  it("are removed one by one, with the app, and once only", async () => {
    const [one, other] = [await addApp(), await addApp()];
    const addKey = async (id: string) =>
      String(bodyOf(await post(`/apps/${id}/keys`, { public_key: pem }), 201).key_id);
    const [first, second, foreign] = [
      await addKey(one.id),
      await addKey(one.id),
      await addKey(other.id),
    ];
    const { details } = bodyOf(await remove(`/apps/${one.id}/keys/${first}`));
    assert.equal(details.id, one.id);
    const left = (await keysOf(one.id)).result.map((key: { key_id: string }) => key.key_id);
    assert.deepEqual(left, [second]);
    for (const keyId of [first, foreign, "404"]) {
      const { status, refusal } = await remove(`/apps/${one.id}/keys/${keyId}`);
      assert.equal(status, 404);
      assertRefused(refusal, { code: 5, reason: "APP_KEY_NOT_FOUND" });
    }
    const found = () => apps.keyOf(made.instance_id, one.id, second);
    assert.equal((await found())?.publicKey, pem);
    bodyOf(await remove(`/apps/${one.id}`));
    assert.equal(await found(), undefined);
  });

  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export(spki);
  const bad: [string, string][] = [
    ["no PEM", "x"],
    ["a private key", privateKey.export({ type: "pkcs8", format: "pem" }).toString()],
    ["RSA of 1024 bits", weak.toString()],
  ];
  for (const [what, public_key] of bad) {
    it(`are refused when given as ${what}`, async () => {
      const { id } = await addApp();
      const before = await eventCount();
      const { status, refusal } = await post(`/apps/${id}/keys`, { public_key });
      assert.equal(status, 400);
      const field = "key.public_key";
      assertRefused(refusal, { code: 3, reason: "PUBLIC_KEY_INVALID", field });
      assert.equal(await eventCount(), before);
    });
  }

  it("are refused when they have ended already", async () => {
    const { id } = await addApp();
    const past = { public_key: pem, expiration_date: new Date(Date.now() - 1).toISOString() };
    const { status, refusal } = await post(`/apps/${id}/keys`, past);
    assert.equal(status, 400);
    const field = "key.expiration_date";
    assertRefused(refusal, { code: 3, reason: "EXPIRATION_DATE_INVALID", field });
  });

  it("are refused beyond 100", async () => {
    const { id } = await addApp();
    for (let i = 0; i < 100; i++) bodyOf(await post(`/apps/${id}/keys`, { public_key: pem }), 201);
    const { status, refusal } = await post(`/apps/${id}/keys`, { public_key: pem });
    assert.equal(status, 429);
    assertRefused(refusal, { code: 8, reason: "APP_KEYS_EXHAUSTED" });
  });
});
