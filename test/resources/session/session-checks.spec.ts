// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { Authenticator } from "../../support/authenticator.ts";
import { bodyOf } from "../../support/peer.ts";
import { sessionTokenFor } from "../../support/session-token.ts";
import { assertRefused } from "../../support/refusal.ts";
import { goodPassword, together } from "../user/user-peer.ts";
import { startSessionPeer } from "./session-peer.ts";

const service = await startSessionPeer();
const { post, patch, open, show, pass, deps, addLogin, addPerson, loginNameOf } = service;
const { sessionEvents, eventsOf } = service;
after(() => service[Symbol.asyncDispose]());

const wrong = { code: 3, reason: "INVALID_CREDENTIALS", field: "session.checks" };
const noUser = { code: 9, reason: "SESSION_USER_MISSING" };
const minute = 60_000;
const named = (user_id: string): JsonObject => ({ user: { user_id } });
const password = (text = goodPassword): JsonObject => ({ password: { password: text } });
const check = (id: string, checks: JsonObject) => patch(`/sessions/${id}`, { checks });
const openFor = (userId: string) => open({ checks: named(userId) });
const failuresOf = async (userId: string) =>
  (await eventsOf(userId)).filter(({ type }) => type.endsWith("check.failed")).length;
const checkedIn = async (id: string) => Object.keys((await show(id)).factors).sort();

/** Gives a person an app for one-time passwords. */
async function addTotp(userId: string) {
  const { totp_id, secret } = bodyOf(await post(`/users/${userId}/totp`));
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = () => totp.generate({ timestamp: deps.now().getTime() });
  bodyOf(await post(`/users/${userId}/totp/${totp_id}/_verify`, code()));
  pass(minute);
  const wrongCode = () => (code() === "000000" ? "000001" : "000000");
  return { code, wrongCode };
}

describe("the user of a session", () => {
  it("is named by id or login name, in any letter case", async () => {
    const id = await addLogin();
    const login_name = (await loginNameOf(id)).toUpperCase();
    for (const user of [{ user_id: id }, { login_name }]) {
      const session = await open({ checks: { user } });
      assert.equal((await show(session.id)).factors.user.id, id);
    }
  });

  it("is named by an address that they have verified, and by none that they have not", async () => {
    const id = await addLogin();
    const address = `verified-${id}@example.test`;
    bodyOf(await patch(`/users/${id}`, { contact: { email: { address } } }));
    const byAddress = { checks: { user: { login_name: address.toUpperCase() } } };
    assertRefused((await post("/sessions", byAddress)).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
    });
    bodyOf(await patch(`/users/${id}`, { contact: { email: { address, is_verified: true } } }));
    assert.equal((await show((await open(byAddress)).id)).factors.user.id, id);
  });

  it("may be named later, and then is fixed", async () => {
    const [id, other] = [await addLogin(), await addLogin()];
    const session = await open({});
    assertRefused((await check(session.id, password())).refusal, noUser);
    bodyOf(await check(session.id, named(id)));
    const fixed = { code: 9, reason: "SESSION_USER_FIXED" };
    for (const user of [named(id), named(other), named("404")]) {
      assertRefused((await check(session.id, user)).refusal, fixed);
    }
    bodyOf(await check(session.id, password()));
    assert.deepEqual(await checkedIn(session.id), ["password", "user"]);
  });

  it("is one refusal, whatever is wrong with them (D49)", async () => {
    const name = await loginNameOf(await addLogin());
    const [inactive, locked] = [await addLogin(), await addLogin()];
    bodyOf(await post(`/users/${inactive}/_deactivate`));
    bodyOf(await post(`/users/${locked}/_lock`));
    const users = [
      { user_id: "404" },
      { login_name: "nobody@localhost" },
      { login_name: "nobody" },
      { login_name: `x${name}` },
      { login_name: `${name}.test` },
      { user_id: inactive },
      { user_id: locked },
    ];
    const answers: unknown[] = [];
    for (const user of users) {
      assertRefused((await post("/sessions", { checks: { user } })).refusal, wrong);
      const { refusal, json } = await post("/sessions", { checks: { user, ...password() } });
      assertRefused(refusal, wrong);
      answers.push(json);
    }
    const withoutPassword = { checks: { ...named(await addPerson()), ...password() } };
    const wrongPassword = { checks: { ...named(await addLogin()), ...password("wrong") } };
    for (const body of [withoutPassword, wrongPassword]) {
      answers.push((await post("/sessions", body)).json);
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });
});

describe("checks of a session", () => {
  it("hold all, or the session stays as it is; wrong ones count all the same", async () => {
    const id = await addLogin();
    const totp = await addTotp(id);
    const session = await openFor(id);
    const both = { ...password(), totp: { code: totp.wrongCode() } };
    assertRefused((await check(session.id, both)).refusal, wrong);
    assert.deepEqual(await checkedIn(session.id), ["user"]);
    assert.equal(await failuresOf(id), 1);
    const events = await sessionEvents(session.id);
    assert.equal(events.at(-1)?.type, "session.token.set");
    assert.equal(events.length, 3);
    bodyOf(await check(session.id, { ...password(), totp: { code: totp.code() } }));
    assert.deepEqual(await checkedIn(session.id), ["password", "totp", "user"]);
  });

  it("are refused no sooner for a wrong password than for a wrong code: after one step of time at least", async () => {
    const id = await addLogin();
    const totp = await addTotp(id);
    for (const text of [goodPassword, "wrong"]) {
      const begin = performance.now();
      const checks = { ...named(id), ...password(text), totp: { code: totp.wrongCode() } };
      assertRefused((await post("/sessions", { checks })).refusal, wrong);
      const tookMs = performance.now() - begin;
      assert.ok(tookMs > 195, `${text}: ${tookMs} ms`);
    }
  });

  it("spend no code where the password is wrong", async () => {
    const id = await addLogin();
    const totp = await addTotp(id);
    const [recovery = ""] = bodyOf(await post(`/users/${id}/recovery_codes`)).recovery_codes;
    const more = { totp: { code: totp.code() }, recovery_code: { code: recovery } };
    const session = await openFor(id);
    assertRefused((await check(session.id, { ...password("wrong"), ...more })).refusal, wrong);
    bodyOf(await check(session.id, { ...password(), ...more }));
    assert.deepEqual(await checkedIn(session.id), ["password", "recovery_code", "totp", "user"]);
  });

  it("make no session where one is wrong", async () => {
    const id = await addLogin();
    const before = bodyOf(await post("/sessions/_search", [{ user_id: id }])).details.total_result;
    const checks = { ...named(id), ...password("wrong") };
    assertRefused((await post("/sessions", { checks })).refusal, wrong);
    const found = bodyOf(await post("/sessions/_search", [{ user_id: id }]));
    assert.equal(found.details.total_result, before);
  });

  it("share the counter of wrong passwords with every other way in (D51)", async () => {
    const id = await addLogin();
    const login_name = await loginNameOf(id);
    const ways = [{ user_id: id }, { login_name }, { login_name: login_name.toUpperCase() }];
    for (let turn = 0; turn < 9; turn++) {
      const user = ways[turn % 3] ?? {};
      const { refusal } = await post("/sessions", { checks: { user, ...password("wrong") } });
      assertRefused(refusal, wrong);
    }
    const current = { password: "another long pass phrase", current_password: "wrong" };
    const { refusal } = await post(`/users/${id}/password`, current, {
      token: await service.tokenOf(id),
    });
    assertRefused(refusal, { ...wrong, field: "new_password.current_password" });
    assert.equal(await failuresOf(id), 10);
    const right = { checks: { ...named(id), ...password() } };
    assertRefused((await post("/sessions", right)).refusal, wrong);
    pass(10 * minute);
    bodyOf(await post("/sessions", right), 201);
  });

  it("let pass only who needs no other password", async () => {
    const id = await addPerson({
      authenticators: { password: { password: goodPassword, change_required: true } },
    });
    const checks = { ...named(id), ...password() };
    const { refusal } = await post("/sessions", { checks });
    assertRefused(refusal, { code: 9, reason: "PASSWORD_CHANGE_REQUIRED" });
    const totp = await addTotp(id);
    const both = { ...checks, totp: { code: totp.wrongCode() } };
    assertRefused((await post("/sessions", { checks: both })).refusal, wrong);
  });

  it("count a code of an app once, of fifty sessions at the same time (D53)", async () => {
    const id = await addLogin();
    const totp = await addTotp(id);
    const checks = { ...named(id), totp: { code: totp.code() } };
    const answers = await together(50, () => post("/sessions", { checks }));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    for (const { refusal } of answers) if (refusal !== undefined) assertRefused(refusal, wrong);
  });

  it("count a recovery code once", async () => {
    const id = await addLogin();
    const [code = ""] = bodyOf(await post(`/users/${id}/recovery_codes`)).recovery_codes;
    const checks = { ...named(id), recovery_code: { code } };
    const { id: sessionId } = await open({ checks });
    assert.deepEqual(await checkedIn(sessionId), ["recovery_code", "user"]);
    assertRefused((await post("/sessions", { checks })).refusal, wrong);
  });
});

const channels = [
  { name: "otp_sms", address: { number: "+41790000000" }, returned: { return_code: true } },
  { name: "otp_email", address: { address: "a@example.com" }, returned: { return_code: {} } },
] as const;
for (const { name, address, returned } of channels) {
  describe(`a challenge by ${name}`, () => {
    const withOtp = async () => {
      const id = await addLogin();
      bodyOf(await post(`/users/${id}/${name}`, { ...address, is_verified: true }));
      return id;
    };
    const challenges: JsonObject = { [name]: returned };

    it("returns a code that counts once, in the session that asked for it (D53)", async () => {
      const id = await withOtp();
      const [asking, other] = [await openFor(id), await openFor(id)];
      const answer = bodyOf(await patch(`/sessions/${asking.id}`, { challenges }));
      const code = answer.challenges[name];
      const checks = { [name]: { code } };
      assertRefused((await check(other.id, checks)).refusal, wrong);
      bodyOf(await check(asking.id, checks));
      assert.deepEqual(await checkedIn(asking.id), [name, "user"]);
      assertRefused((await check(asking.id, checks)).refusal, wrong);
    });

    it("can stand in the request that names the user, and is sent where it is not returned", async () => {
      const id = await withOtp();
      const session = await open({ checks: named(id), challenges });
      bodyOf(await check(session.id, { [name]: { code: session.challenges[name] } }));
      const sent = await open({ checks: named(id), challenges: { [name]: {} } });
      assert.deepEqual(sent.challenges, {});
      const types = (await sessionEvents(sent.id)).map(({ type }) => type);
      assert.ok(types.includes(`session.${name.replace("_", ".")}.challenged`));
      assert.ok((await eventsOf(id)).some(({ type }) => type.endsWith("code.added")));
    });

    it("is never returned to the user of the session themselves", async () => {
      const id = await withOtp();
      const ctx = { instance_id: service.app.made.instance_id };
      const membership = { ctx, user_id: id, roles: ["IAM_LOGIN_CLIENT"] };
      bodyOf(await post("/memberships", membership), 201);
      const token = await sessionTokenFor(service.app, id);
      const forOneself = { code: 7, reason: "PROOF_FOR_ONESELF" };
      const made = await post("/sessions", { checks: named(id), challenges }, { token });
      assertRefused(made.refusal, forOneself);
      const session = await openFor(id);
      const patched = await patch(`/sessions/${session.id}`, { challenges }, { token });
      assertRefused(patched.refusal, forOneself);
      const sent = { [name]: {} };
      bodyOf(await patch(`/sessions/${session.id}`, { challenges: sent }, { token }));
    });

    it("dies with ten wrong codes and after five minutes (D52)", async () => {
      const id = await withOtp();
      const session = await open({ checks: named(id), challenges });
      const right = { [name]: { code: session.challenges[name] } };
      for (let turn = 0; turn < 10; turn++) {
        assertRefused((await check(session.id, { [name]: { code: "WRONG" } })).refusal, wrong);
      }
      assertRefused((await check(session.id, right)).refusal, wrong);
      pass(24 * 60 * minute);
      const again = await open({ checks: named(id), challenges });
      pass(5 * minute + 1);
      const late = { [name]: { code: again.challenges[name] } };
      assertRefused((await check(again.id, late)).refusal, wrong);
    });

    it("needs a user who has it registered", async () => {
      assertRefused((await post("/sessions", { challenges })).refusal, noUser);
      const { refusal } = await post("/sessions", { checks: named(await addLogin()), challenges });
      assertRefused(refusal, { code: 9, reason: `${name.toUpperCase()}_NOT_REGISTERED` });
    });
  });
}

describe("a challenge for a passkey", () => {
  const local = { page: { origin: "http://localhost:3000" } };
  const domain = "localhost";
  const asking = (more: JsonObject = {}) => ({ web_auth_n: { domain, ...more } });

  async function withPasskey(more: JsonObject = {}) {
    const id = await addLogin();
    const begun = bodyOf(await post(`/users/${id}/webauthn`, { domain, ...more }));
    const authenticator = new Authenticator();
    bodyOf(
      await post(`/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`, {
        public_key_credential: authenticator.create(
          begun.public_key_credential_creation_options,
          local,
        ),
        web_auth_n_name: "My key",
      }),
    );
    return { id, authenticator };
  }
  const optionsOf = (challenges: JsonObject): JsonObject =>
    Object(challenges).web_auth_n.public_key_credential_request_options;

  it("is answered by it once, and tells whether it knew who used it", async () => {
    const { id, authenticator } = await withPasskey();
    const requirement = "USER_VERIFICATION_REQUIREMENT_REQUIRED";
    const challenges = asking({ user_verification_requirement: requirement });
    const session = await open({ checks: named(id), challenges });
    const options = optionsOf(session.challenges);
    assert.equal(options["userVerification"], "required");
    assert.equal(options["rpId"], domain);
    const checks = {
      web_auth_n: { credential_assertion_data: authenticator.get(options, local) },
    };
    const other = await open({ checks: named(id), challenges });
    assertRefused((await check(other.id, checks)).refusal, wrong, "the answer to another session");
    bodyOf(await check(session.id, checks));
    const { web_auth_n } = (await show(session.id)).factors;
    assert.equal(web_auth_n.user_verified, true);
    assertRefused((await check(session.id, checks)).refusal, wrong);
  });

  it("is answered by one that a browser made by itself where the user is to be verified, and by that it counts (decision 0334)", async () => {
    const set = (prepare_passkeys: JsonObject) =>
      service.peer.rest(
        "PATCH",
        "/settings/v3alpha/login",
        { prepare_passkeys },
        { token: service.app.token },
      );
    bodyOf(await set({ set: true }));
    const { id, authenticator } = await withPasskey({ conditional: true });
    bodyOf(await set({ reset: true }));
    const checks = named(id);
    const none = await post("/sessions", { checks, challenges: asking() });
    assertRefused(none.refusal, { code: 9, reason: "WEB_AUTH_N_NOT_REGISTERED" });
    const requirement = "USER_VERIFICATION_REQUIREMENT_REQUIRED";
    const challenges = asking({ user_verification_requirement: requirement });
    const session = await open({ checks, challenges });
    const answer = authenticator.get(optionsOf(session.challenges), local);
    bodyOf(await check(session.id, { web_auth_n: { credential_assertion_data: answer } }));
    assert.equal((await show(session.id)).factors.web_auth_n.user_verified, true);
    bodyOf(await post("/sessions", { checks, challenges: asking() }), 201);
  });

  it("counts only for the page of its domain, and no more once there is a newer one", async () => {
    const { id, authenticator } = await withPasskey();
    const session = await open({ checks: named(id), challenges: asking() });
    const answerTo = (options: JsonObject, origin = local.page.origin) =>
      check(session.id, {
        web_auth_n: {
          credential_assertion_data: authenticator.get(options, { page: { origin } }),
        },
      });
    const first = optionsOf(session.challenges);
    assert.equal(first["userVerification"], "preferred");
    const second = bodyOf(await patch(`/sessions/${session.id}`, { challenges: asking() }));
    assertRefused((await answerTo(first)).refusal, wrong);
    const third = bodyOf(await patch(`/sessions/${session.id}`, { challenges: asking() }));
    const evil = await answerTo(optionsOf(third.challenges), "https://evil.test");
    assertRefused(evil.refusal, wrong);
    assertRefused((await answerTo(optionsOf(second.challenges))).refusal, wrong);
  });

  it("needs a user with one for a domain of the instance", async () => {
    assertRefused((await post("/sessions", { challenges: asking() })).refusal, noUser);
    const checks = named(await addLogin());
    const none = await post("/sessions", { checks, challenges: asking() });
    assertRefused(none.refusal, { code: 9, reason: "WEB_AUTH_N_NOT_REGISTERED" });
    const foreign = await post("/sessions", {
      checks,
      challenges: asking({ domain: "evil.test" }),
    });
    assertRefused(foreign.refusal, {
      code: 3,
      reason: "WEB_AUTH_N_DOMAIN_INVALID",
      field: "session.challenges.web_auth_n.domain",
    });
  });
});

describe("a user who is changed while they are checked", () => {
  it("gets no session by the password before", async () => {
    const id = await addLogin();
    const attempts = together(8, () =>
      post("/sessions", { checks: { ...named(id), ...password() } }),
    );
    const changed = post(`/users/${id}/password`, { password: "another long pass phrase" });
    const answers = await attempts;
    bodyOf(await changed);
    for (const { status, json } of answers) {
      if (status !== 201) continue;
      const { refusal } = await service.get(`/users/${id}`, { token: Object(json).session_token });
      assertRefused(refusal, { code: 16, reason: "TOKEN_INVALID" });
    }
    const found = bodyOf(await post("/sessions/_search", [{ user_id: id }]));
    assert.deepEqual(found.result, []);
  });
});
