// Run: shared, store
import assert from "node:assert/strict";
import { until } from "../../executor/executor-peer.ts";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator, type Manner } from "../../support/authenticator.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startUserPeer, together } from "./user-peer.ts";
import { domain, invalid, local, page, webAuthNCalls, wrong } from "./web-authn-calls.ts";

const service = await startUserPeer();
const { post, remove, checks, at, addPerson, addMachine, tokenOf } = service;
const { authenticatorsOf, eventsOf, pass } = service;
after(() => service[Symbol.asyncDispose]());

const minute = 60_000;
const { start, begin, registered, challenge, login } = webAuthNCalls(service);

describe("registering a passkey", () => {
  it("begins with options for the browser, and ends with what it makes of them", async () => {
    const username = uniqueName("ada");
    const data = { given_name: "Ada", family_name: "Lovelace" };
    const id = await addPerson({ username, data });
    const token = await tokenOf(id);
    const body = { authenticator_type: "WEB_AUTH_N_AUTHENTICATOR_TYPE_PLATFORM" };
    const begun = bodyOf(await start(id, body, { token }));
    const options = begun.public_key_credential_creation_options;
    assert.equal(begun.details.id, id);
    assert.deepEqual(options.rp, { id: domain, name: domain });
    assert.equal(options.attestation, "none");
    assert.equal(options.authenticatorSelection.authenticatorAttachment, "platform");
    const { name, displayName, id: handle } = options.user;
    assert.deepEqual([name, displayName], [username, "Ada Lovelace"]);
    assert.ok(!Buffer.from(handle, "base64url").includes(id), "the handle tells nothing");
    assert.deepEqual((await authenticatorsOf(id))["web_auth_n"], []);

    const authenticator = new Authenticator();
    const credential = authenticator.create(options, local);
    const path = `/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`;
    const verify = { public_key_credential: credential, web_auth_n_name: "My phone" };
    bodyOf(await post(path, verify, { token }));
    const [shown, ...more] = (await authenticatorsOf(id))["web_auth_n"] as JsonObject[];
    const { creation_date, ...rest } = shown ?? {};
    assert.equal(typeof creation_date, "string");
    assert.deepEqual(more, []);
    assert.deepEqual(rest, {
      web_auth_n_id: begun.web_auth_n_id,
      name: "My phone",
      is_verified: true,
      user_verified: true,
    });
    const types = (await eventsOf(id)).slice(-2).map(({ type }) => type);
    assert.deepEqual(types, [
      "user.human.passwordless.token.added",
      "user.human.passwordless.token.verified",
    ]);
    assertRefused((await post(path, verify, { token })).refusal, invalid, "used twice (D53)");

    const again = bodyOf(await start(id)).public_key_credential_creation_options;
    assert.deepEqual(again.excludeCredentials, [
      { id: authenticator.id, transports: ["internal", "hybrid"], type: "public-key" },
    ]);
  });

  it("tells the model that the browser says, and when it was used last, to the hour", async () => {
    const model = "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4";
    const { id, authenticator } = await registered(new Authenticator(), { model });
    const shown = async () => ((await authenticatorsOf(id))["web_auth_n"] as JsonObject[])[0];
    assert.equal((await shown())?.["aaguid"], model);
    assert.equal((await shown())?.["last_use_date"], undefined);
    assert.equal((await login(id, authenticator)).isRight, true);
    await until("the use is noted", async () => (await shown())?.["last_use_date"]);
  });

  it("makes a second factor of what does not know who uses it", async () => {
    const { id } = await registered(new Authenticator(), { isVerified: false });
    const [shown] = (await authenticatorsOf(id))["web_auth_n"] as JsonObject[];
    assert.equal(shown?.["user_verified"], false);
    assert.equal((await eventsOf(id)).at(-1)?.type, "user.human.mfa.u2f.token.verified");
  });

  const manners: [string, Manner][] = [
    ["another challenge", { challenge: "AAAA" }],
    ["a page of another domain", { page: { origin: "https://localhost.example.com" } }],
    ["a page below the domain", { page: { origin: "https://evil.localhost" } }],
    ["a page without TLS", { page: { origin: "http://127.0.0.1" } }],
    ["a frame of another origin", { page: { ...page, crossOrigin: true } }],
    ["no origin", { page: { origin: "null" } }],
    ["another domain of the authenticator", { rpId: "example.com" }],
    ["an answer to log in", { type: "webauthn.get" }],
    ["nobody present", { isPresent: false }],
    ["a key so large that it would only cost", { modulus: new Uint8Array(2_048).fill(1) }],
  ];
  for (const [what, manner] of manners) {
    it(`is refused to ${what}, and the challenge still counts`, async () => {
      const { options, verify } = await begin(await addPerson());
      const authenticator = new Authenticator();
      const { refusal } = await verify(authenticator.create(options, { ...local, ...manner }));
      assertRefused(refusal, invalid);
      bodyOf(await verify(authenticator.create(options, local)));
    });
  }

  const broken: [string, (credential: JsonObject) => JsonObject][] = [
    ["nothing", () => ({})],
    ["a response that is none", (one) => ({ ...one, response: 7 })],
    ["another id", (one) => ({ ...one, id: "AAAA", rawId: "AAAA" })],
    ["another type", (one) => ({ ...one, type: "password" })],
    ["client data that are no JSON", (one) => withResponse(one, { clientDataJSON: "AAAA" })],
    ["an attestation that is no CBOR", (one) => withResponse(one, { attestationObject: "_w" })],
    [
      "CBOR of a hundred thousand levels",
      (one) =>
        withResponse(one, { attestationObject: Buffer.alloc(100_000, 0x81).toString("base64url") }),
    ],
    ["more than 1 MiB", (one) => ({ ...one, padding: "x".repeat(1024 * 1024) })],
  ];
  for (const [what, breakIt] of broken) {
    it(`is refused with ${what}`, async () => {
      const { options, verify } = await begin(await addPerson());
      const credential = breakIt(new Authenticator().create(options, local));
      assertRefused((await verify(credential)).refusal, invalid);
    });
  }

  it("reads no certificate that comes along, since none was asked for", async () => {
    const attStmt = new Map([["x5c", [Buffer.from("no certificate")]]]);
    const { id } = await registered(new Authenticator(), { attestation: { fmt: "tpm", attStmt } });
    const all = (await authenticatorsOf(id))["web_auth_n"] as JsonObject[];
    assert.equal(all.length, 1);
  });

  it("is refused with the challenge of another user, and after ten minutes (D53)", async () => {
    const [mine, other] = [await begin(await addPerson()), await begin(await addPerson())];
    const { refusal } = await mine.verify(new Authenticator().create(other.options, local));
    assertRefused(refusal, invalid);
    pass(10 * minute + 1);
    const late = await mine.verify(new Authenticator().create(mine.options, local));
    assertRefused(late.refusal, invalid);
  });

  it("gives a credential to one user of the instance", async () => {
    const { authenticator } = await registered();
    const { options, verify } = await begin(await addPerson());
    const taken = await verify(authenticator.create(options, local));
    assert.equal(taken.status, 409);
    assertRefused(taken.refusal, { code: 6, reason: "WEB_AUTH_N_TAKEN" });
  });

  it("is for domains of the instance and for people", async () => {
    const id = await addPerson();
    for (const other of ["example.com", "sub.localhost"]) {
      assertRefused((await start(id, { domain: other })).refusal, {
        code: 3,
        reason: "WEB_AUTH_N_DOMAIN_INVALID",
        field: "registration.domain",
      });
    }
    const machine = { code: 9, reason: "USER_IS_MACHINE" };
    assertRefused((await start(await addMachine())).refusal, machine);
    assertRefused((await start("404")).refusal, { code: 5, reason: "USER_NOT_FOUND" });
  });

  it("goes on ten times at once: one more ends the oldest", async () => {
    const id = await addPerson();
    const all = [];
    for (let turn = 0; turn < 11; turn++) {
      all.push(await begin(id));
      pass(1);
    }
    const [first, second] = all;
    assert.ok(first !== undefined && second !== undefined);
    const late = await first.verify(new Authenticator().create(first.options, local));
    assertRefused(late.refusal, invalid);
    bodyOf(await second.verify(new Authenticator().create(second.options, local)));
  });
});

const withResponse = (credential: JsonObject, more: JsonObject): JsonObject => ({
  ...credential,
  response: { ...Object(credential["response"]), ...more },
});

describe("a code to register a passkey", () => {
  const link = async (id: string) =>
    bodyOf(await post(`/users/${id}/webauthn/registration_link`, { return_code: {} })).code;
  const bad = { code: 3, reason: "CODE_INVALID", field: "registration.code.code" };

  it("counts once, for one user, until the next one is made, for an hour (D53)", async () => {
    const [id, other] = [await addPerson(), await addPerson()];
    const [older, foreign, code] = [await link(id), await link(other), await link(id)];
    assert.match(code.code, /^[B-Z2-9]{12}$/);
    assertRefused((await start(id, { code: older })).refusal, bad);
    assertRefused((await start(id, { code: foreign })).refusal, bad);
    assertRefused((await start(id, { code: { ...code, id: "404" } })).refusal, bad);
    bodyOf(await start(id, { code }));
    assertRefused((await start(id, { code })).refusal, bad);
    const late = await link(id);
    pass(60 * minute + 1);
    assertRefused((await start(id, { code: late })).refusal, bad);
  });

  it("is never returned for oneself, and sent only where there is an address", async () => {
    const id = await addPerson();
    const path = `/users/${id}/webauthn/registration_link`;
    const denied = { code: 7, reason: "PROOF_FOR_ONESELF" };
    const token = await tokenOf(id);
    assertRefused((await post(path, { return_code: {} }, { token })).refusal, denied);
    assertRefused((await post(path, {})).refusal, { code: 9, reason: "CONTACT_MISSING" });
    const email = { address: "ada@example.com", is_verified: true };
    const reachable = await addPerson({ contact: { email } });
    const sent = bodyOf(await post(`/users/${reachable}/webauthn/registration_link`, {}));
    assert.deepEqual(Object.keys(sent), ["details"]);
    const machine = await post(`/users/${await addMachine()}/webauthn/registration_link`, {});
    assertRefused(machine.refusal, { code: 9, reason: "USER_IS_MACHINE" });
  });
});

describe("logging in with a passkey", () => {
  for (const algorithm of ["ES256", "EdDSA", "RS256"] as const) {
    it(`is right with the key that was registered (${algorithm})`, async () => {
      const { id, authenticator, webAuthNId } = await registered(new Authenticator(algorithm));
      const right = { isRight: true, webAuthNId, isUserVerified: true, isConfirmed: false };
      assert.deepEqual(await login(id, authenticator), right);
      assert.deepEqual(await login(id, authenticator), right);
    });
  }

  it("asks for the credentials of the user for the domain", async () => {
    const { id, authenticator } = await registered();
    const { options } = (await challenge(id)) ?? {};
    assert.deepEqual(options?.["allowCredentials"], [
      { id: authenticator.id, transports: ["internal", "hybrid"], type: "public-key" },
    ]);
    assert.equal(options?.["userVerification"], "required");
    assert.equal(await challenge(await addPerson()), undefined);
  });

  const manners: [string, Manner][] = [
    ["another challenge", { challenge: "AAAA" }],
    ["a page of another domain", { page: { origin: "https://example.com" } }],
    ["another domain of the authenticator", { rpId: "example.com" }],
    ["nobody present", { isPresent: false }],
    ["somebody who is not known to the authenticator", { isVerified: false }],
    ["a count of signatures that was there before: a copy", { signCount: 1 }],
  ];
  for (const [what, manner] of manners) {
    it(`is wrong with ${what}`, async () => {
      const { id, authenticator } = await registered();
      assert.equal((await login(id, authenticator)).isRight, true);
      assert.deepEqual(await login(id, authenticator, manner), wrong);
      const { type } = (await eventsOf(id)).at(-1) ?? {};
      assert.equal(type, "user.human.passwordless.token.check.failed");
      assert.equal((await login(id, authenticator)).isRight, true, "and nobody is locked out");
    });
  }

  it("is wrong with the signature of another key", async () => {
    const { id, authenticator } = await registered();
    const asked = await challenge(id);
    assert.ok(asked !== undefined);
    const { challengeId, options } = asked;
    const forged = new Authenticator().get(options, local);
    const { id: credentialId } = authenticator;
    const credential = { ...forged, id: credentialId, rawId: credentialId };
    assert.deepEqual(await checks.webAuthN.check(at, id, { challengeId, credential }), wrong);
  });

  it("spends the challenge, and counts one of many answers at once (D53)", async () => {
    const { id, authenticator } = await registered();
    const asked = await challenge(id);
    assert.ok(asked !== undefined);
    const { challengeId, options } = asked;
    const credential = authenticator.get(options, local);
    const check = () => checks.webAuthN.check(at, id, { challengeId, credential });
    const outcomes = await together(20, check);
    assert.equal(outcomes.filter(({ isRight }) => isRight).length, 1);
    assert.deepEqual(await check(), wrong);
  });

  it("is wrong for another user, for nobody, with a registration's challenge and after ten minutes", async () => {
    const [mine, other] = [await registered(), await registered()];
    const asked = await challenge(mine.id);
    assert.ok(asked !== undefined);
    const { challengeId, options } = asked;
    const credential = mine.authenticator.get(options, local);
    const tried = { challengeId, credential };
    assert.deepEqual(await checks.webAuthN.check(at, other.id, tried), wrong);
    assert.deepEqual(await checks.webAuthN.check(at, undefined, tried), wrong);
    const { webAuthNId, options: ofRegistration } = await begin(mine.id);
    const asLogin = { rpId: domain, challenge: ofRegistration["challenge"] ?? "" };
    const swapped = mine.authenticator.get(asLogin, local);
    const answer = { challengeId: webAuthNId, credential: swapped };
    assert.deepEqual(await checks.webAuthN.check(at, mine.id, answer), wrong);
    pass(10 * minute + 1);
    assert.deepEqual(await checks.webAuthN.check(at, mine.id, tried), wrong);
  });

  it("is wrong with a credential of another domain of the instance", async () => {
    const { id, authenticator } = await registered();
    const there = "127.0.0.1";
    const begun = bodyOf(await start(id, { domain: there }));
    const other = new Authenticator();
    const away = { page: { origin: `https://${there}` } };
    const created = other.create(begun.public_key_credential_creation_options, away);
    const verify = { public_key_credential: created, web_auth_n_name: "other" };
    bodyOf(await post(`/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`, verify));
    const answer = async (by: Authenticator) => {
      const asked = await challenge(id, "required", there);
      assert.ok(asked !== undefined);
      const { challengeId, options } = asked;
      assert.equal((options["allowCredentials"] as JsonObject[]).length, 1);
      const credential = by.get(options, away);
      return checks.webAuthN.check(at, id, { challengeId, credential });
    };
    assert.deepEqual(await answer(authenticator), wrong);
    assert.equal((await answer(other)).isRight, true);
  });

  it("tells of a second factor that it does not know who uses it", async () => {
    const { id, authenticator, webAuthNId } = await registered(new Authenticator(), {
      isVerified: false,
    });
    const asked = await challenge(id, "preferred");
    assert.ok(asked !== undefined);
    const credential = authenticator.get(asked.options, { ...local, isVerified: false });
    const { challengeId } = asked;
    assert.deepEqual(await checks.webAuthN.check(at, id, { challengeId, credential }), {
      isRight: true,
      webAuthNId,
      isUserVerified: false,
      isConfirmed: false,
    });
  });
});

describe("removing a passkey", () => {
  it("ends its use, and frees the credential", async () => {
    const { id, authenticator, webAuthNId } = await registered();
    const asked = await challenge(id);
    assert.ok(asked !== undefined);
    const path = `/users/${id}/webauthn/${webAuthNId}`;
    bodyOf(await remove(path, { token: await tokenOf(id) }));
    const credential = authenticator.get(asked.options, local);
    const tried = { challengeId: asked.challengeId, credential };
    assert.deepEqual(await checks.webAuthN.check(at, id, tried), wrong);
    assertRefused((await remove(path)).refusal, { code: 5, reason: "WEB_AUTH_N_NOT_FOUND" });
    await registered(authenticator);
  });
});
