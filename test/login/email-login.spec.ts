// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { decodeJwt } from "jose";
import { addPersonNamed, password } from "../support/login.ts";
import { codeIn, loginPages, type LoginPages, pathOf } from "../support/login-pages.ts";
import {
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { answerOf, type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import { codesOf } from "./people.ts";

let peer: OidcPeer;
let client: MadeClient;
let pages: LoginPages;

const page = "/ui/login/email";
const allow = (value: string[]) => pages.change("login", { first_factors: { set: { value } } });

before(async () => {
  peer = await startOidc();
  client = await peer.addClient();
  pages = loginPages(peer, client);
  await allow(["email"]);
});
after(() => peer[Symbol.asyncDispose]());

const newAddress = () => `${uniqueName("mail").replaceAll(" ", "-")}@example.test`;

async function personWithMail(isVerified = true, more: JsonObject = {}) {
  const address = newAddress();
  const email = { address, ...(isVerified ? { is_verified: true } : {}) };
  return { address, ...(await addPersonNamed(peer, { contact: { email }, ...more })) };
}

/** Gives the name and asks for a code in the place of the password. */
async function ask(loginName: string, agent?: UserAgent, more = {}): Promise<UserAgent> {
  const asking = agent ?? (await pages.begin(more));
  await asking.submit({ login_name: loginName });
  await sendFrom(asking);
  return asking;
}

/** Presses the button of the page of the password that asks for a code. */
async function sendFrom(agent: UserAgent): Promise<Shown> {
  const { html } = agent.last;
  const field = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";
  const body = new URLSearchParams({ csrf: field("csrf"), flow: field("flow"), send: "true" });
  const headers = { origin: peer.issuer, "sec-fetch-site": "same-origin" };
  return agent.open(page, { method: "POST", body, headers });
}

const linkOf = async () => {
  const [link = ""] = /https?:[^\s"]+/.exec((await pages.lastMail()).text) ?? [];
  return link.replaceAll("&amp;", "&");
};

async function amrOf(shown: Shown): Promise<{ amr: unknown; acr: unknown }> {
  const code = answerOf(shown).get("code") ?? "";
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  const { body } = await peer.send(paths.token, form, basic(client));
  const { amr, acr } = decodeJwt(body.id_token);
  return { amr, acr };
}

describe("a log-in by a code that is sent (L9)", () => {
  it("takes six digits, and tells what it is worth: one factor, and no password", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    assert.equal(pathOf(agent.last), page);
    const { to, code } = await pages.lastMail();
    assert.equal(to, alice.address);
    assert.match(code, /^\d{6}$/);
    const done = await agent.submit({ code });
    codeIn(done);
    const { amr, acr } = await amrOf(done);
    assert.deepEqual(amr, ["otp"]);
    assert.equal(acr, "urn:idsvc:acr:email");
  });

  it("is not offered where the settings do not name it, nor does its page exist there", async () => {
    const alice = await personWithMail();
    const agent = await pages.begin();
    await allow([]);
    await agent.submit({ login_name: alice.loginName });
    assert.doesNotMatch(agent.last.html, /by e‑mail|by e-mail|code by/i);
    const sent = await pages.mails();
    const refused = await sendFrom(agent);
    assert.equal(refused.status, 404);
    assert.equal(await pages.mails(), sent);
    await allow(["email"]);
  });

  it("begins with the button of the page of passwords, and leads back there", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    assert.match(agent.last.html, /href="\/ui\/login\/password\?flow=/);
    const [, back = ""] = /href="(\/ui\/login\/password\?[^"]+)"/.exec(agent.last.html) ?? [];
    await agent.open(back.replaceAll("&amp;", "&"));
    codeIn(await agent.submit({ password }));
  });

  it("shows the same to who has no account, no proven address or no mail, and sends nothing", async () => {
    const [alice, bob] = [await personWithMail(), await personWithMail(false)];
    const shown = new Map<string, string>();
    for (const name of [alice.loginName, bob.loginName, `${bob.loginName}-nobody`]) {
      const sent = await pages.mails();
      const agent = await ask(name);
      const wrong = await agent.submit({ code: "000000" });
      assert.equal(wrong.status, 200);
      assert.match(wrong.html, /is wrong or has expired/);
      const plain = wrong.html
        .replaceAll(name, "NAME")
        .replaceAll(/(nonce|value|href|content)="[^"]*"/g, "$1")
        .replaceAll(/flow=[^"&]*/g, "flow");
      shown.set(name === alice.loginName ? "somebody" : name, plain);
      assert.equal((await pages.mails()) - sent, name === alice.loginName ? 1 : 0);
    }
    const [first, ...others] = shown.values();
    for (const other of others) assert.equal(other, first);
  });

  it("counts a code once, in the log-in that it was sent for alone", async () => {
    const alice = await personWithMail();
    const mine = await ask(alice.loginName);
    const { code } = await pages.lastMail();
    const stranger = await pages.begin();
    await stranger.submit({ login_name: alice.loginName });
    await sendFrom(stranger);
    const wrong = await stranger.submit({ code });
    assert.equal(pathOf(wrong), page);
    codeIn(await mine.submit({ code }));
    const again = await mine.open(page);
    assert.equal(again.left, undefined);
  });

  it("lets a code end after ten minutes", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    const { code } = await pages.lastMail();
    peer.pass(600_001);
    const late = await agent.submit({ code });
    assert.equal(pathOf(late), page);
    assert.match(late.html, /is wrong or has expired/);
  });

  it("counts wrong codes with wrong passwords, until nothing is judged", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    const { code } = await pages.lastMail();
    await pages.change("login", { max_password_attempts: { set: "3" } });
    for (const wrong of ["1", "2", "3"]) await agent.submit({ code: wrong });
    const right = await agent.submit({ code });
    assert.equal(pathOf(right), page);
    const { user } = bodyOf(await peer.get(`/users/${alice.id}`));
    assert.ok(user.throttled_until ?? user.throttling, JSON.stringify(user));
    await pages.change("login", { max_password_attempts: { reset: true } });
  });

  it("asks for the second factor of who has one, and tells both", async () => {
    const alice = await personWithMail();
    const started = bodyOf(await peer.post(`/users/${alice.id}/totp`));
    const next = codesOf(peer, started.secret);
    bodyOf(await peer.post(`/users/${alice.id}/totp/${started.totp_id}/_verify`, next()));
    const agent = await ask(alice.loginName);
    const { code } = await pages.lastMail();
    assert.equal(pathOf(await agent.submit({ code })), "/ui/login/mfa/totp");
    const done = await agent.submit({ code: next() });
    codeIn(done);
    const { amr, acr } = await amrOf(done);
    assert.deepEqual(amr, ["otp", "mfa"]);
    assert.equal(acr, "urn:idsvc:acr:mfa");
  });

  it("does not take one mailbox for two factors: the password is the other", async () => {
    const alice = await personWithMail();
    const otp = { address: alice.address, is_verified: true };
    bodyOf(await peer.post(`/users/${alice.id}/otp_email`, otp));
    const agent = await ask(alice.loginName);
    const { code } = await pages.lastMail();
    const asked = await agent.submit({ code });
    assert.equal(pathOf(asked), "/ui/login/password");
    assert.doesNotMatch(asked.html, /name="send"/);
    const done = await agent.submit({ password });
    codeIn(done);
    assert.deepEqual((await amrOf(done)).amr, ["pwd", "otp", "mfa"]);
  });

  it("is the way in where passwords are not allowed, and asks for a name", async () => {
    const alice = await personWithMail();
    await pages.change("login", { allow_username_password: { set: false } });
    const agent = await pages.begin();
    const shown = await agent.submit({ login_name: alice.loginName });
    assert.equal(pathOf(shown), page);
    assert.doesNotMatch(shown.html, /\/ui\/login\/password/);
    await agent.submit({ send: "true" });
    const { code } = await pages.lastMail();
    codeIn(await agent.submit({ code }));
    await pages.change("login", { allow_username_password: { reset: true } });
  });

  it("sends again after a minute at the earliest, and a stranger takes up nothing of a browser that is known", async () => {
    const alice = await personWithMail();
    const own = await ask(alice.loginName);
    codeIn(await own.submit({ code: (await pages.lastMail()).code }));
    peer.pass(3_600_001);
    const sent = await pages.mails();
    for (let tries = 0; tries < 3; tries += 1) await ask(alice.loginName);
    assert.equal((await pages.mails()) - sent, 1);
    await own.open("/ui/login/logout");
    await own.submit({});
    await own.open(`/ui/login`);
    await ask(alice.loginName, own);
    assert.equal((await pages.mails()) - sent, 2);
    const { code } = await pages.lastMail();
    assert.equal(pathOf(await own.submit({ code })), "/ui/account");
  });
});

describe("the link of such a mail (L9)", () => {
  it("logs in within the browser that began", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    codeIn(await agent.open(await linkOf()));
  });

  it("uses nothing up elsewhere, shows the code to carry over, and a way to begin there", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    const link = await linkOf();
    const { code } = await pages.lastMail();
    for (const scanner of [userAgent(peer.issuer), userAgent(peer.issuer)]) {
      const shown = await scanner.open(link);
      assert.equal(shown.status, 200);
      assert.match(shown.html, new RegExp(code));
      assert.match(shown.html, /href="\/ui\/login"/);
      assert.doesNotMatch(shown.html, new RegExp(alice.loginName));
    }
    codeIn(await agent.submit({ code }));
  });

  it("shows nothing of what somebody else puts in its place", async () => {
    const query = new URLSearchParams({ login: "x", code: "call 0900 123456" });
    const shown = await userAgent(peer.issuer).open(`${page}/link?${query}`);
    assert.doesNotMatch(shown.html, /call.{0,3}0900|0900.{0,3}123456/);
  });

  it("with a wrong code leads to the page that asks for it, and counts it", async () => {
    const alice = await personWithMail();
    const agent = await ask(alice.loginName);
    const link = new URL(await linkOf());
    const right = link.searchParams.get("code") ?? "";
    link.searchParams.set("code", right === "000000" ? "000001" : "000000");
    const wrong = await agent.open(link);
    assert.equal(pathOf(wrong), page);
    assert.match(wrong.html, /is wrong or has expired/);
    codeIn(await agent.submit({ code: right }));
  });
});

describe("sessions and their e-mail codes (L9)", () => {
  const begin = (id: string, email: JsonObject) =>
    peer.post("/sessions", { checks: { user: { user_id: id } }, challenges: { email } });
  const give = (id: string, code: string) =>
    peer.patch(`/sessions/${id}`, { checks: { email: { code } } });

  it("are proven by the code that they had sent, and say so", async () => {
    const alice = await personWithMail();
    const { session_id } = bodyOf(await begin(alice.id, { send_code: {} }), 201);
    const { code } = await pages.lastMail();
    const other = bodyOf(await begin(alice.id, { send_code: {} }), 201);
    assertRefused((await give(other.session_id, code)).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
      field: "session.checks",
    });
    bodyOf(await give(session_id, code));
    const { session } = bodyOf(await peer.get(`/sessions/${session_id}`));
    assert.ok(session.factors.email.verified_at);
    assert.deepEqual(session.lacks, []);
  });

  it("have none sent where nothing is proven or the settings do not name it", async () => {
    const bob = await personWithMail(false);
    const refused = { code: 9, reason: "EMAIL_LOGIN_MISSING" };
    assertRefused((await begin(bob.id, { send_code: {} })).refusal, refused);
    const alice = await personWithMail();
    const { session_id, challenges } = bodyOf(await begin(alice.id, { return_code: {} }), 201);
    await allow([]);
    assertRefused((await begin(alice.id, { send_code: {} })).refusal, refused);
    assertRefused((await give(session_id, challenges.email)).refusal, {
      code: 3,
      reason: "INVALID_CREDENTIALS",
      field: "session.checks",
    });
    await allow(["email"]);
    bodyOf(await give(session_id, challenges.email));
    await allow([]);
    const { session } = bodyOf(await peer.get(`/sessions/${session_id}`));
    assert.deepEqual(session.lacks, ["allowed_way"]);
    await allow(["email"]);
  });

  it("return no code to whoever is to prove something by it (J9)", async () => {
    const alice = await personWithMail();
    const { session_id, session_token } = bodyOf(
      await peer.post("/sessions", {
        checks: { user: { user_id: alice.id }, password: { password } },
      }),
      201,
    );
    const asked = { challenges: { email: { return_code: {} } } };
    const { refusal } = await peer.patch(`/sessions/${session_id}`, asked, {
      token: session_token,
    });
    assertRefused(refusal, { code: 7, reason: "PROOF_FOR_ONESELF" });
  });
});

it("signs in at a page of the account by mail alone, where a change asks for it (L2)", async () => {
  const address = newAddress();
  const username = uniqueName("mailonly").replaceAll(" ", "-");
  const contact = { email: { address, is_verified: true } };
  bodyOf(await peer.post("/users", { username, data: { given_name: "M" }, contact }), 201);
  const agent = userAgent(peer.issuer);
  await agent.open("/ui/login");
  await ask(address, agent);
  assert.equal(pathOf(await agent.submit({ code: (await pages.lastMail()).code })), "/ui/account");
  peer.pass(301_000);
  const path = "/ui/account/contact/email";
  await agent.open(path);
  const email = newAddress();
  assert.equal(pathOf(await agent.submit({ address: email })), "/ui/login/password");
  await sendFrom(agent);
  assert.equal(pathOf(await agent.submit({ code: (await pages.lastMail()).code })), path);
  await agent.submit({ address: email });
  assert.equal((await pages.lastMail()).to, email);
});
