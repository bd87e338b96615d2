// Run: shared
import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { after, describe, it } from "node:test";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { assertRefused, type MadeKey, paths, startOidc } from "../support/oidc.ts";
import { forgeJwt } from "../support/forge.ts";
import { badAssertions } from "./assertion-cases.ts";
import { processorMs } from "../support/processor-time.ts";

const service = await startOidc();
const { issuer, send, addMachine, addKey, addPerson } = service;
after(() => service[Symbol.asyncDispose]());

const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const seconds = () => Math.floor(service.now().getTime() / 1000);
const claimsOf = (id: string, more = {}) => ({
  iss: id,
  sub: id,
  aud: issuer,
  jti: randomUUID(),
  iat: seconds(),
  exp: seconds() + 300,
  ...more,
});
const signed = (key: MadeKey, claims: Record<string, unknown>) =>
  forgeJwt({ alg: "RS256", kid: key.keyId }, claims, key.privateKey);
const ask = (assertion: string, scope = "openid") =>
  send(paths.token, { grant_type, assertion, scope });
const svc = await addMachine();
const svcKey = await addKey(svc.id);

describe("the grant jwt-bearer (RFC 7523 section 2.1)", () => {
  it("gives the tokens of the machine user who signed", async () => {
    const { status, body } = await ask(signed(svcKey, claimsOf(svc.id)));
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), [
      "access_token",
      "expires_in",
      "id_token",
      "scope",
      "token_type",
    ]);
    // Who signs is no client, and no audience of anything (J8).
    const { sub, azp, aud } = decodeJwt(body.id_token);
    assert.deepEqual({ sub, azp, aud }, { sub: svc.id, azp: undefined, aud: [issuer] });
    const info = await service.userinfo(body.access_token);
    assert.deepEqual(info.body, { sub: svc.id });
  });

  it("gives a JWT where the machine user wants one", async () => {
    const data = { name: "Robot", access_token_type: "jwt" };
    const machine = await addMachine(undefined, { data });
    const { body } = await ask(signed(await addKey(machine.id), claimsOf(machine.id)));
    assert.equal(decodeJwt(body.access_token)["client_id"], machine.id);
    assert.equal(decodeProtectedHeader(body.access_token).typ, "at+jwt");
  });

  it("takes the address of the token endpoint as the audience too, and keys of other kinds", async () => {
    const byAddress = claimsOf(svc.id, { aud: `${issuer}${paths.token}` });
    assert.equal((await ask(signed(svcKey, byAddress))).status, 200);
    const pair = generateKeyPairSync("ed25519");
    const public_key = String(pair.publicKey.export({ type: "spki", format: "pem" }));
    const { keyId } = await addKey(svc.id, { public_key });
    const privateKey = String(pair.privateKey.export({ type: "pkcs8", format: "pem" }));
    const header = { alg: "EdDSA", kid: keyId };
    const input = [header, claimsOf(svc.id)]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const signature = sign(null, Buffer.from(input), createPrivateKey(privateKey));
    assert.equal((await ask(`${input}.${signature.toString("base64url")}`)).status, 200);
  });

  it("D30: an assertion without a jti is spent, also when its signature is spelled or made anew", async () => {
    const { jti: _, ...claims } = claimsOf(svc.id);
    const jwt = signed(svcKey, claims);
    // Of the last character of 256 bytes four bits say nothing.
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const respelled = jwt.slice(0, -1) + alphabet[alphabet.indexOf(jwt.at(-1) ?? "") ^ 1];
    for (const other of [respelled, `${jwt}==`]) {
      assertRefused(await ask(other), 400, "invalid_grant");
    }
    assert.equal((await ask(jwt)).status, 200);
    for (const other of [jwt, respelled, `${jwt}==`]) {
      assertRefused(await ask(other), 400, "invalid_grant");
    }
    // ECDSA draws anew for each signature, and takes the negative of one too.
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const public_key = String(pair.publicKey.export({ type: "spki", format: "pem" }));
    const { keyId } = await addKey(svc.id, { public_key });
    const input = [{ alg: "ES256", kid: keyId }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    const key = { key: pair.privateKey, dsaEncoding: "ieee-p1363" as const };
    const again = () => `${input}.${sign("sha256", Buffer.from(input), key).toString("base64url")}`;
    assert.equal((await ask(again())).status, 200);
    assertRefused(await ask(again()), 400, "invalid_grant");
  });

  it("D29: iat +5 s is within the tolerance", async () => {
    const ahead = signed(svcKey, claimsOf(svc.id, { iat: seconds() + 5 }));
    assert.equal((await ask(ahead)).status, 200);
  });

  for (const { id, what, jwt } of badAssertions(svcKey, () => claimsOf(svc.id), seconds())) {
    it(`${id}: refuses ${what}`, async () => {
      const events = await service.eventCount();
      assertRefused(await ask(jwt), 400, "invalid_grant");
      assert.equal(await service.eventCount(), events);
    });
  }

  it("D27: nobody's key speaks for another", async () => {
    const other = await addMachine();
    const alice = await addPerson();
    const { user_id: root } = service.app.made.admin;
    for (const id of [other.id, alice, root]) {
      assertRefused(await ask(signed(svcKey, claimsOf(id))), 400, "invalid_grant");
      const halves = [
        { ...claimsOf(svc.id), iss: id },
        { ...claimsOf(svc.id), sub: id },
      ];
      for (const claims of halves)
        assertRefused(await ask(signed(svcKey, claims)), 400, "invalid_grant");
    }
  });

  it("D28: refuses a key past its date, a removed one, and that of a deactivated user", async () => {
    const machine = await addMachine();
    const expiration_date = new Date(service.now().getTime() + 60_000).toISOString();
    const short = await addKey(machine.id, { expiration_date });
    const removed = await addKey(machine.id);
    assert.equal((await ask(signed(removed, claimsOf(machine.id)))).status, 200);
    await service.remove(`/users/${machine.id}/public_keys/${removed.keyId}`);
    assertRefused(await ask(signed(removed, claimsOf(machine.id))), 400, "invalid_grant");
    assert.equal((await ask(signed(short, claimsOf(machine.id)))).status, 200);
    service.pass(61_000);
    assertRefused(await ask(signed(short, claimsOf(machine.id))), 400, "invalid_grant");
    const last = await addKey(machine.id);
    await service.post(`/users/${machine.id}/_deactivate`);
    assertRefused(await ask(signed(last, claimsOf(machine.id))), 400, "invalid_grant");
  });

  it("D30: an assertion counts once, also of ten at once, also without a jti", async () => {
    for (const more of [{}, { jti: undefined }]) {
      const assertion = signed(svcKey, claimsOf(svc.id, more));
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(assertion)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      assertRefused(await ask(assertion), 400, "invalid_grant");
    }
  });

  it("D22: 10,000 scopes are refused at once", async () => {
    const assertion = signed(svcKey, claimsOf(svc.id));
    const scope = Array.from({ length: 10_000 }, (_, at) => `s${at}`).join(" ");
    const times: number[] = [];
    for (let turn = 0; turn < 21; turn++) {
      const started = processorMs();
      assertRefused(await ask(assertion, scope), 400, "invalid_scope");
      times.push(processorMs() - started);
    }
    // The collector of garbage makes one of them long.
    const median = times.toSorted((a, b) => a - b)[10] ?? Number.NaN;
    assert.ok(median < 20, `${median} ms`);
  });

  it("asks for assertion and scope", async () => {
    const assertion = signed(svcKey, claimsOf(svc.id));
    assertRefused(await send(paths.token, { grant_type, assertion }), 400, "invalid_request");
    assertRefused(await send(paths.token, { grant_type, scope: "openid" }), 400, "invalid_request");
  });
});
