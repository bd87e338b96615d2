// Run: shared, store
import assert from "node:assert/strict";
import { createPublicKey, sign, verify } from "node:crypto";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { createLocalJWKSet, jwtVerify, SignJWT } from "jose";
import { type Signer, webKeyReader } from "../../../src/resources/webkey/index.ts";
import { addCaller } from "../../support/app.ts";
import { beside } from "../../support/beside.ts";
import { bodyOf, startPeer } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { systemCaller } from "../../support/system-caller.ts";

const operator = systemCaller();
const service = await startPeer({ env: operator.env });
const { app, get, post, remove, eventCount, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());

const { instance_id: instanceId } = app.made;
const reader = webKeyReader(app.kernel);
const base = "/web_keys";
const notFound = { code: 5, reason: "WEB_KEY_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const ed25519 = { ed25519: {} };
const rsa2048 = { rsa: { bits: "RSA_BITS_2048", hasher: "RSA_HASHER_SHA256" } };

type Listed = { details: JsonObject & { id: string }; config: JsonObject; state: string };
const all = async (): Promise<Listed[]> => bodyOf(await get(base)).web_keys;
const find = async (id: string) => (await all()).find(({ details }) => details.id === id);
const activeId = async () => {
  const active = (await all()).filter(({ state }) => state === "WEB_KEY_STATE_ACTIVE");
  assert.equal(active.length, 1);
  return active[0]?.details.id ?? "";
};
const add = async (key: JsonObject = ed25519) => bodyOf(await post(base, key), 201).details.id;
const activate = async (id: string) => bodyOf(await post(`${base}/${id}/_activate`));
const tokenOf = ({ kid, alg, key }: Signer) =>
  new SignJWT({}).setProtectedHeader({ alg, kid }).setSubject("ada").sign(key);
const isValid = async (token: string) => {
  const keys = createLocalJWKSet({ keys: await reader.publicKeys(instanceId) });
  return jwtVerify(token, keys).then(
    () => true,
    () => false,
  );
};

describe("a new instance", () => {
  it("has one key: RSA of 2048 bits with SHA-256, and it is active", async () => {
    const [first, ...others] = await all();
    assert.deepEqual(others, []);
    assert.equal(first?.state, "WEB_KEY_STATE_ACTIVE");
    assert.deepEqual(first?.config, rsa2048);
    assert.deepEqual(first?.details["resource_owner"], {
      type: "OWNER_TYPE_INSTANCE",
      id: instanceId,
    });
  });

  it("has keys of its own, also when the API made it (D39)", async () => {
    const system = await operator.tokenFor(app.made.issuer);
    const made = await post(
      "/instances",
      {
        name: "second",
        domain: "second.test",
        organization: { name: "o" },
        machine: { username: "m", name: "M" },
      },
      { token: system },
    );
    const { details } = bodyOf(made, 201);
    const [own, other] = [await reader.signer(instanceId), await reader.signer(details.id)];
    assert.notEqual(own.kid, other.kid);
    assert.equal(await isValid(await tokenOf(other)), false);
    assert.equal(await isValid(await tokenOf(own)), true);
    bodyOf(await remove(`/instances/${details.id}`, { token: system }));
    assert.deepEqual(await reader.publicKeys(details.id), []);
    await assert.rejects(reader.signer(details.id), { reason: "WEB_KEY_MISSING" });
  });
});

describe("creating a web key", () => {
  const kinds: [JsonObject, JsonObject, string, string][] = [
    [{ rsa: {} }, rsa2048, "RS256", "RSA"],
    [
      { rsa: { bits: 3, hasher: "RSA_HASHER_SHA512" } },
      { rsa: { bits: "RSA_BITS_4096", hasher: "RSA_HASHER_SHA512" } },
      ...(["RS512", "RSA"] as const),
    ],
    [
      { rsa: { bits: 2, hasher: 2 } },
      { rsa: { bits: "RSA_BITS_3072", hasher: "RSA_HASHER_SHA384" } },
      ...(["RS384", "RSA"] as const),
    ],
    [{ ecdsa: {} }, { ecdsa: { curve: "ECDSA_CURVE_P256" } }, "ES256", "EC"],
    [{ ecdsa: { curve: 2 } }, { ecdsa: { curve: "ECDSA_CURVE_P384" } }, "ES384", "EC"],
    [{ ecdsa: { curve: 3 } }, { ecdsa: { curve: "ECDSA_CURVE_P512" } }, "ES512", "EC"],
    [ed25519, ed25519, "EdDSA", "OKP"],
  ];
  for (const [key, config, alg, kty] of kinds) {
    it(`answers 201; the key is initial, published, and can sign: ${alg} ${JSON.stringify(key)}`, async () => {
      const { details, ...rest } = bodyOf(await post(base, key), 201);
      assert.deepEqual(rest, {});
      assert.deepEqual(await find(details.id), { details, config, state: "WEB_KEY_STATE_INITIAL" });
      const before = await reader.signer(instanceId);
      assert.notEqual(before.kid, details.id);
      const published = (await reader.publicKeys(instanceId)).find(({ kid }) => kid === details.id);
      assert.deepEqual(
        { alg: published?.alg, kty: published?.kty, use: published?.use },
        { alg, kty, use: "sig" },
      );
      await activate(details.id);
      const signer = await reader.signer(instanceId);
      assert.deepEqual([signer.kid, signer.alg], [details.id, alg]);
      assert.equal(await isValid(await tokenOf(signer)), true);
    });
  }

  it("publishes no private member, and stores the private half nowhere in clear", async () => {
    const id = await add();
    for (const each of await reader.publicKeys(instanceId)) {
      for (const member of ["d", "p", "q", "dp", "dq", "qi", "k", "oth"]) {
        assert.equal(member in each, false, member);
      }
    }
    await activate(id);
    const { key } = await reader.signer(instanceId);
    const { d = "" } = key.export({ format: "jwk" });
    assert.equal(d.length, 43);
    const der = key.export({ type: "pkcs8", format: "der" }).toString("hex");
    for (const table of ["events", "web_keys", "secrets", "jobs", "claims"]) {
      const { rows } = await beside(app.kernel, `SELECT * FROM ${table}`);
      const text = JSON.stringify(rows, (_, each) =>
        each instanceof Uint8Array ? Buffer.from(each).toString("hex") : each,
      );
      assert.ok(!text.includes(d) && !text.includes(der), table);
    }
  });

  const refused: [string, JsonObject, string][] = [
    ["without a kind", {}, "key.config"],
    ["with bits that are none of the three", { rsa: { bits: 4 } }, "key.rsa.bits"],
    ["with an unknown hasher", { rsa: { hasher: 9 } }, "key.rsa.hasher"],
    ["with an unknown curve", { ecdsa: { curve: 4 } }, "key.ecdsa.curve"],
  ];
  for (const [what, key, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post(base, key);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused beyond 100 keys, also when several are made at once", async () => {
    await using crowded = await startPeer();
    const made = await Promise.all(Array.from({ length: 12 }, () => crowded.post(base, ed25519)));
    made.forEach((each) => bodyOf(each, 201));
    while (bodyOf(await crowded.get(base)).web_keys.length < 97) {
      bodyOf(await crowded.post(base, ed25519), 201);
    }
    const last = await Promise.all(Array.from({ length: 6 }, () => crowded.post(base, ed25519)));
    assert.equal(last.filter(({ status }) => status === 201).length, 3);
    for (const { status, refusal } of last.filter((each) => each.status !== 201)) {
      assert.equal(status, 400);
      assertRefused(refusal, { code: 9, reason: "WEB_KEYS_TOO_MANY" });
    }
    assert.equal(bodyOf(await crowded.get(base)).web_keys.length, 100);
  });
});

describe("activating a web key", () => {
  it("makes it the one that signs; the one before stays published and valid", async () => {
    const [old, id] = [await activeId(), await add()];
    const token = await tokenOf(await reader.signer(instanceId));
    const { details } = await activate(id);
    assert.equal(details.id, id);
    assert.equal(await activeId(), id);
    assert.equal((await find(old))?.state, "WEB_KEY_STATE_INACTIVE");
    assert.equal((await reader.signer(instanceId)).kid, id);
    assert.equal(await isValid(token), true);
  });

  it("lets one that signed before sign again", async () => {
    const old = await activeId();
    await activate(await add());
    await activate(old);
    assert.equal(await activeId(), old);
  });

  it("leaves one active key when many are activated at once", async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => add()));
    const done = await Promise.all(ids.map((id) => post(`${base}/${id}/_activate`)));
    done.forEach((each) => bodyOf(each));
    assert.ok(ids.includes(await activeId()));
  });

  it("is refused for the active one, and for none", async () => {
    const before = await eventCount();
    const again = await post(`${base}/${await activeId()}/_activate`);
    assert.equal(again.status, 400);
    assertRefused(again.refusal, { code: 9, reason: "WEB_KEY_ACTIVE_ALREADY" });
    const none = await post(`${base}/404/_activate`);
    assert.equal(none.status, 404);
    assertRefused(none.refusal, notFound);
    assert.equal(await eventCount(), before);
  });
});

describe("deleting a web key", () => {
  it("takes it from the key set with its private half: its tokens are not valid any more", async () => {
    const [id, next] = [await add(), await add()];
    await activate(id);
    const token = await tokenOf(await reader.signer(instanceId));
    await activate(next);
    assert.equal(await isValid(token), true);
    const { details } = bodyOf(await remove(`${base}/${id}`));
    assert.equal(details.id, id);
    assert.equal(await isValid(token), false);
    assert.equal(await find(id), undefined);
    const { rows } = await beside(app.kernel, `SELECT id FROM secrets WHERE id = '${id}'`);
    assert.deepEqual(rows, []);
    assertRefused((await remove(`${base}/${id}`)).refusal, notFound);
    assertRefused((await post(`${base}/${id}/_activate`)).refusal, notFound);
  });

  it("is refused for the active one", async () => {
    const before = await eventCount();
    const { status, refusal } = await remove(`${base}/${await activeId()}`);
    assert.equal(status, 400);
    assertRefused(refusal, { code: 9, reason: "WEB_KEY_ACTIVE" });
    assert.equal(await eventCount(), before);
  });
});

describe("who may work on web keys", () => {
  const calls = (id: string) =>
    [
      ["create", (token: string) => post(base, ed25519, { token })],
      ["activate", (token: string) => post(`${base}/${id}/_activate`, undefined, { token })],
      ["delete", (token: string) => remove(`${base}/${id}`, { token })],
      ["list", (token: string) => get(base, { token })],
    ] as const;

  it("is not the owner of an organization: 403 for keys that are there and for ones that are not (D40)", async () => {
    const { token } = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const before = await eventCount();
    for (const id of [await activeId(), "404"]) {
      for (const [what, call] of calls(id)) {
        const { status, refusal } = await call(token);
        assert.equal(status, 403, what);
        assertRefused(refusal, missing);
      }
    }
    assert.equal(await eventCount(), before);
  });

  it("is a viewer for the list alone", async () => {
    const { token } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    for (const [what, call] of calls(await activeId())) {
      const { status, refusal } = await call(token);
      assert.equal(status, what === "list" ? 200 : 403, what);
      if (what !== "list") assertRefused(refusal, missing);
    }
  });
});

describe("the signer for an app that asks for an algorithm", () => {
  it("is the active key if it fits, else the last that was active, else a published one, else none", async () => {
    await using other = await startPeer();
    const { instance_id: id } = other.app.made;
    const keys = webKeyReader(other.app.kernel);
    const make = async (key: JsonObject) => bodyOf(await other.post(base, key), 201).details.id;
    const use = async (key: string) => bodyOf(await other.post(`${base}/${key}/_activate`));
    const rs256 = (await keys.signer(id)).kid;
    assert.equal((await keys.signer(id, "RS256"))?.kid, rs256);
    assert.equal(await keys.signer(id, "ES256"), undefined);
    const es256 = await make({ ecdsa: {} });
    assert.equal((await keys.signer(id, "ES256"))?.kid, es256);
    assert.equal((await keys.signer(id)).kid, rs256);
    await use(es256);
    await make({ rsa: {} });
    assert.equal((await keys.signer(id, "RS256"))?.kid, rs256);
    assert.equal((await keys.signer(id)).kid, es256);
  });

  it("signs what its public half verifies, without the help of a library", async () => {
    const { kid, key } = await reader.signer(instanceId);
    const published = (await reader.publicKeys(instanceId)).find((each) => each.kid === kid);
    const text = Buffer.from("text");
    assert.ok(published !== undefined);
    const open = createPublicKey({ key: { ...published }, format: "jwk" });
    assert.equal(verify(null, text, open, sign(null, text, key)), true);
  });
});
