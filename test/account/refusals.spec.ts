// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { accountPaths } from "../../src/account/paths.ts";
import { addPersonNamed, password, signIn } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { noticesSent } from "../support/notices.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { errorOf, formOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import { atAccount, pathOf } from "./account-world.ts";

let peer: OidcPeer;

before(async () => {
  peer = await startOidc();
});
after(() => peer[Symbol.asyncDispose]());

type Held = { details: { id: string }; membership: { user_id: string } };

const all = Object.values(accountPaths);
/** Pages that need something under way, and lead elsewhere without. */
const elsewhere = new Map<string, string>([
  [accountPaths.newPasskey, accountPaths.passkeys],
  [accountPaths.passkeyName, accountPaths.passkeys],
]);
const userOf = async (id: string) => bodyOf(await peer.get(`/users/${id}`)).user;

/** Sends what a form of a page of the account would, with the token that pages of this browser have. */
async function send(
  agent: UserAgent,
  path: string,
  values: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Shown> {
  const { url, html } = await agent.open(accountPaths.remove);
  const { csrf = "" } = formOf(html).fields;
  const body = new URLSearchParams({ csrf, ...values });
  const origin = { origin: url.origin, "sec-fetch-site": "same-origin", ...headers };
  return agent.open(path, { method: "POST", body, headers: origin });
}

describe("a page of an account", () => {
  it("leads whoever is not signed in through the login, and back to itself", async () => {
    for (const path of all) {
      const { loginName } = await addPersonNamed(peer);
      const agent = userAgent(peer.issuer);
      assert.equal(pathOf(await agent.open(path)), "/ui/login/loginname", path);
      assert.equal(pathOf(await signIn(agent, loginName)), elsewhere.get(path) ?? path);
    }
  });

  it("is not for a session that lacks what the organization demands: it is finished first", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await atAccount(peer, loginName);
    const { change } = loginPages(peer, await peer.addClient());
    await change("login", { force_mfa: { set: true } });
    try {
      for (const path of [accountPaths.profile, accountPaths.data]) {
        assert.equal(pathOf(await agent.open(path)), "/ui/login/mfa/setup");
      }
    } finally {
      await change("login", { force_mfa: { reset: true } });
    }
    assert.equal(pathOf(await agent.open(accountPaths.profile)), accountPaths.profile);
  });

  it("is framed by no page, not even by one that may frame the login", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await atAccount(peer, loginName);
    const { change } = loginPages(peer, await peer.addClient());
    await change("security", { allowed_frame_origins: { set: { value: ["https://rp.test"] } } });
    try {
      const framed = await agent.open("/ui/login/logout");
      assert.match(framed.headers.get("content-security-policy") ?? "", /frame-ancestors https:/);
      const shown = await agent.open(accountPaths.remove);
      assert.match(shown.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
      assert.equal(shown.headers.get("x-frame-options"), "DENY");
    } finally {
      await change("security", { allowed_frame_origins: { reset: true } });
    }
  });

  it("takes no form of a foreign page, without the token of its own, or of who is signed out", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await atAccount(peer, alice.loginName);
    const values = { given_name: "Mallory" };
    for (const headers of [
      { origin: "https://evil.test", "sec-fetch-site": "cross-site" },
      { origin: "null", "sec-fetch-site": "cross-site" },
    ]) {
      const refused = await send(agent, accountPaths.profile, values, headers);
      assert.deepEqual([refused.status, errorOf(refused)], [403, "FORM_REFUSED"]);
    }
    const forged = await send(agent, accountPaths.profile, { ...values, csrf: "guessed" });
    assert.deepEqual([forged.status, errorOf(forged)], [403, "FORM_REFUSED"]);
    const stranger = userAgent(peer.issuer);
    const body = new URLSearchParams(values);
    const headers = { origin: peer.issuer };
    const strange = await stranger.open(accountPaths.profile, { method: "POST", body, headers });
    assert.deepEqual([strange.status, errorOf(strange)], [403, "FORM_REFUSED"]);
    assert.equal((await userOf(alice.id)).user.data.given_name, "Ada");
  });

  it("takes no form that was made before another account was chosen in the browser", async () => {
    const [alice, bob] = [await addPersonNamed(peer), await addPersonNamed(peer)];
    const agent = await atAccount(peer, alice.loginName);
    const { csrf = "" } = formOf((await agent.open(accountPaths.remove)).html).fields;
    await agent.open("/ui/login/loginname");
    await signIn(agent, bob.loginName);
    assert.match(agent.last.html, new RegExp(bob.loginName));
    const refused = await send(agent, accountPaths.remove, { csrf, sure: "yes" });
    assert.deepEqual([refused.status, errorOf(refused)], [403, "FORM_REFUSED"]);
    for (const { id } of [alice, bob]) assert.equal((await userOf(id)).state, "USER_STATE_ACTIVE");
  });

  it("shows nothing of what is under way in another browser, and goes on without", async () => {
    const [alice, bob] = [await addPersonNamed(peer), await addPersonNamed(peer)];
    const [ofAlice, ofBob] = [
      await atAccount(peer, alice.loginName),
      await atAccount(peer, bob.loginName),
    ];
    const made = await send(ofAlice, accountPaths.recoveryCodes, { make: "true" });
    const codes = [...made.html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, one = ""]) => one);
    assert.equal(codes.length, 10);
    const shown = await ofBob.open(`${made.url.pathname}${made.url.search}`);
    assert.deepEqual([pathOf(shown), shown.status], [accountPaths.recoveryCodes, 200]);
    for (const code of codes) assert.ok(!shown.html.includes(code));
    assert.equal(shown.url.search, "");
  });
});

describe("a session that was proven long ago", () => {
  const changes: [path: string, values: Record<string, string>][] = [
    [accountPaths.email, { address: "mallory@example.test" }],
    [accountPaths.phone, { address: "+41791234567" }],
    [accountPaths.passkeys, { name: "of Mallory" }],
    [accountPaths.passkeys, { remove: "1" }],
    [accountPaths.authenticator, { begin: "true" }],
    [accountPaths.authenticator, { remove: "1" }],
    [accountPaths.recoveryCodes, { make: "true" }],
    [accountPaths.providers, { remove: "1" }],
    [accountPaths.remove, { sure: "yes" }],
  ];
  it("changes no way to log in, no address, and deletes nothing: its user proves themselves first (L2)", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await atAccount(peer, alice.loginName);
    const untouched = await userOf(alice.id);
    peer.pass(301_000);
    for (const [path, values] of changes) {
      const shown = await send(agent, path, values);
      assert.equal(pathOf(shown), "/ui/login/password", `${path} ${JSON.stringify(values)}`);
    }
    assert.deepEqual(await userOf(alice.id), untouched);
    // The name of the person is none of that.
    await send(agent, accountPaths.profile, { given_name: "Adele" });
    assert.equal((await userOf(alice.id)).user.data.given_name, "Adele");
  });

  it("is led back to the very form, with what was typed", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await atAccount(peer, alice.loginName);
    peer.pass(301_000);
    const asked = await send(agent, accountPaths.email, { address: "ada@example.test" });
    assert.equal(pathOf(asked), "/ui/login/password");
    const wrong = await agent.submit({ password: "wrong" });
    assert.equal(pathOf(wrong), "/ui/login/password");
    const back = await agent.submit({ password });
    assert.equal(pathOf(back), accountPaths.email);
    assert.match(back.html, /value="ada@example\.test"/);
    assert.match(back.html, /Now go on with what you wanted to change/);
  });
});

describe("what is another person's", () => {
  it("is out of reach: sessions, consents, factors and links of others stay", async () => {
    const [alice, bob] = [await addPersonNamed(peer), await addPersonNamed(peer)];
    const other = await atAccount(peer, bob.loginName);
    const filters = [{ user_id: bob.id }];
    const [session] = bodyOf(await peer.post("/sessions/_search", filters)).result;
    const totp = bodyOf(await peer.post(`/users/${bob.id}/totp`));
    const agent = await atAccount(peer, alice.loginName);
    await send(agent, accountPaths.sessions, { end: session.details.id });
    await send(agent, accountPaths.authenticator, { remove: totp.totp_id });
    await send(agent, accountPaths.sessions, { others: "true" });
    assert.equal(pathOf(await other.open(accountPaths.profile)), accountPaths.profile);
    const kept = (await userOf(bob.id)).user.authenticators.totps;
    assert.equal(kept[0].totp_id, totp.totp_id);
    assert.equal(pathOf(await agent.open(accountPaths.overview)), accountPaths.overview);
  });
});

describe("the end of an account", () => {
  it("is refused to the last owner", async () => {
    await using own = await startOidc();
    const { id, loginName } = await addPersonNamed(own);
    const ctx = { instance_id: own.app.made.instance_id };
    bodyOf(await own.post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);
    const filters = [{ role: { role: "IAM_OWNER" } }];
    const { result } = bodyOf(await own.post("/memberships/_search", filters));
    const others = [own.app.made.admin.user_id, own.app.made.machine.user_id];
    for (const other of others) {
      const found = result.find((each: Held) => each.membership.user_id === other);
      bodyOf(await own.remove(`/memberships/${found.details.id}`));
    }
    const agent = await atAccount(own, loginName);
    const refused = await send(agent, accountPaths.remove, { sure: "yes" });
    assert.equal(pathOf(refused), accountPaths.remove);
    assert.match(refused.html, /You are the last owner/);
    assert.equal(pathOf(await agent.open(accountPaths.profile)), accountPaths.profile);
  });

  it("is for people alone, who have proven themselves lately, over the API too", async () => {
    const alice = await addPersonNamed(peer);
    const { app } = peer;
    const token = await sessionTokenFor(app, alice.id, { methods: ["password"] });
    peer.pass(301_000);
    assertRefused((await peer.remove(`/users/${alice.id}`, { token })).refusal, {
      code: 16,
      reason: "STEP_UP_REQUIRED",
    });
    const machine = await peer.addMachine();
    const pat = bodyOf(await peer.post(`/users/${machine.id}/personal_access_tokens`)).token;
    assertRefused((await peer.remove(`/users/${machine.id}`, { token: pat })).refusal, {
      code: 7,
      reason: "PERMISSION_MISSING",
    });
    const fresh = await sessionTokenFor(app, alice.id, { methods: ["password"] });
    const bob = await addPersonNamed(peer);
    assertRefused((await peer.remove(`/users/${bob.id}`, { token: fresh })).refusal, {
      code: 5,
      reason: "USER_NOT_FOUND",
    });
    bodyOf(await peer.remove(`/users/${alice.id}`, { token: fresh }));
    assert.equal((await peer.get(`/users/${alice.id}`)).status, 404);
  });
});

describe("an address that somebody sets in the place of one that is proven", () => {
  it("counts once it is proven itself, and the one before is told then, over the API too", async () => {
    const contact = { email: { address: "old@example.test", is_verified: true } };
    const alice = await addPersonNamed(peer, { contact });
    const token = await sessionTokenFor(peer.app, alice.id, { methods: ["password"] });
    const address = "new@example.test";
    bodyOf(await peer.put(`/users/${alice.id}/email`, { address }, { token }));
    const former = { address: "old@example.test", is_verified: true };
    assert.deepEqual((await userOf(alice.id)).user.contact.email, former);
    await noticesSent(peer.app);
    const mails = await mailsTo();
    assert.ok(mails[0]?.includes(address));
    const code = /Code: (\S+)/.exec(mails[0] ?? "")?.[1] ?? "";
    const wrong = await peer.post(`/users/${alice.id}/email/_verify`, "WRONG", { token });
    assertRefused(wrong.refusal, { code: 3, reason: "CODE_INVALID" });
    assert.deepEqual((await userOf(alice.id)).user.contact.email, former);
    bodyOf(await peer.post(`/users/${alice.id}/email/_verify`, code, { token }));
    assert.deepEqual((await userOf(alice.id)).user.contact.email, { address, is_verified: true });
    await noticesSent(peer.app);
    const [told = ""] = await mailsTo();
    assert.match(told, /was changed[\s\S]*old@example\.test/);
  });

  it("is a phone number too: the former one is told by a text message", async () => {
    const contact = { phone: { number: "+41790000001", is_verified: true } };
    const alice = await addPersonNamed(peer, { contact });
    const token = await sessionTokenFor(peer.app, alice.id, { methods: ["password"] });
    const phone = { number: "+41790000002" };
    bodyOf(await peer.put(`/users/${alice.id}/phone`, phone, { token }));
    assert.equal((await userOf(alice.id)).user.contact.phone.number, "+41790000001");
    await noticesSent(peer.app);
    const [sent = ""] = await mailsTo();
    assert.ok(sent.includes(phone.number), sent);
    const code = /<pre>(\S+) is your code/.exec(sent)?.[1] ?? "";
    bodyOf(await peer.post(`/users/${alice.id}/phone/_verify`, code, { token }));
    assert.deepEqual((await userOf(alice.id)).user.contact.phone, { ...phone, is_verified: true });
    await noticesSent(peer.app);
    const [told = ""] = await mailsTo();
    assert.match(told, /\+41790000001[\s\S]*now has another phone number/);
  });

  it("is dropped when an administrator sets another one", async () => {
    const contact = { email: { address: "one@example.test", is_verified: true } };
    const alice = await addPersonNamed(peer, { contact });
    const token = await sessionTokenFor(peer.app, alice.id, { methods: ["password"] });
    bodyOf(await peer.put(`/users/${alice.id}/email`, { address: "two@example.test" }, { token }));
    await noticesSent(peer.app);
    const code = /Code: (\S+)/.exec((await mailsTo())[0] ?? "")?.[1] ?? "";
    const set = { address: "three@example.test", is_verified: true };
    bodyOf(await peer.put(`/users/${alice.id}/email`, set));
    const late = await peer.post(`/users/${alice.id}/email/_verify`, code, { token });
    assertRefused(late.refusal, { code: 9, reason: "CONTACT_VERIFIED" });
    assert.deepEqual((await userOf(alice.id)).user.contact.email, set);
  });
});

/** The messages that the service has kept for developers, the newest first. */
async function mailsTo(): Promise<string[]> {
  const html = await (await fetch(`${peer.issuer}/ui/dev/mail`)).text();
  return [...html.matchAll(/<article[\s\S]*?<\/article>/g)].map(([article]) => article);
}
