// Run: shared
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { accountPaths } from "../../src/account/paths.ts";
import { atAccount } from "../account/account-world.ts";
import { addPersonNamed, authorizeUrl, password, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { uniqueName } from "../support/peer.ts";
import { answerOf, errorOf, formOf, type UserAgent, userAgent } from "../support/user-agent.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

let peer: OidcPeer;
let app: MadeClient;
let implicit: MadeClient;
let pages: LoginPages;
let passed = 0;

before(async () => {
  peer = await startOidc();
  app = await peer.addClient();
  implicit = await peer.addClient({
    response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN"],
    grant_types: ["OIDC_GRANT_TYPE_IMPLICIT"],
  });
  pages = loginPages(peer, app);
  await pages.change("login", { first_factors: { set: { value: ["email"] } } });
});
after(() => peer[Symbol.asyncDispose]());
afterEach(() => jump(-passed));

function jump(ms: number): void {
  peer.pass(ms);
  passed += ms;
}

async function person() {
  const address = `${uniqueName("clock").replaceAll(" ", "-")}@example.test`;
  const contact = { email: { address, is_verified: true } };
  return { address, ...(await addPersonNamed(peer, { contact })) };
}

async function logIn(agent: UserAgent, loginName: string) {
  const asked = await agent.open(authorizeUrl(peer, app, { prompt: "login" }));
  assert.match(pathOf(asked), /loginname|password$/);
  codeIn(await signIn(agent, loginName));
}

/** A browser on the page that asks for a code, and the code that was sent. */
async function askedForCode(loginName: string) {
  const agent = await pages.begin();
  await agent.submit({ login_name: loginName });
  const body = new URLSearchParams({ ...formOf(agent.last.html).fields, send: "true" });
  const headers = { origin: peer.issuer, "sec-fetch-site": "same-origin" };
  await agent.open("/ui/login/email", { method: "POST", body, headers });
  const { code } = await pages.lastMail();
  return { agent, code };
}

/** Asks for a mail by which a forgotten password is set anew, and tells whether one was sent. */
async function isSent(loginName: string): Promise<boolean> {
  const earlier = await pages.mails();
  const agent = await pages.begin();
  await agent.open("/ui/login/password/forgot");
  await agent.submit({ login_name: loginName });
  return (await pages.mails()) > earlier;
}

describe("a clock that goes back an hour", () => {
  it("ends no session, and keeps nobody out", async () => {
    const { loginName } = await person();
    const agent = await atAccount(peer, loginName);
    jump(-hourMs);
    assert.equal(pathOf(await agent.open(accountPaths.overview)), accountPaths.overview);
    await logIn(agent, loginName);
    await logIn(userAgent(peer.issuer), loginName);
  });

  it("makes no proof a recent one: a change asks for another, which counts (L2)", async () => {
    const { loginName } = await person();
    const agent = await atAccount(peer, loginName);
    jump(-hourMs);
    await agent.open(accountPaths.authenticator);
    assert.equal(pathOf(await agent.submit({ begin: "true" })), "/ui/login/password");
    assert.equal(pathOf(await agent.submit({ password })), accountPaths.authenticator);
    assert.match((await agent.submit({ begin: "true" })).html, /class="qr"/);
  });

  it("holds back no mail that somebody asks for longer than its pause (J12)", async () => {
    const { loginName } = await person();
    assert.equal(await isSent(loginName), true);
    assert.equal(await isSent(loginName), false);
    jump(-hourMs);
    assert.equal(await isSent(loginName), true);
    assert.equal(await isSent(loginName), false);
  });

  it("gives each address as many mails an hour as before (J12)", async () => {
    const { loginName } = await person();
    let sent = 0;
    for (; await isSent(loginName); sent += 1) jump(2 ** sent * minuteMs);
    assert.ok(sent > 2 && sent < 6, `${sent}`);
    jump(-3 * hourMs);
    assert.equal(await isSent(loginName), true);
  });

  it("leaves a code that was sent as it is: it counts once (L9)", async () => {
    const { loginName } = await person();
    const { agent, code } = await askedForCode(loginName);
    jump(-hourMs);
    codeIn(await agent.submit({ code }));
  });

  it("leaves no log-in recent enough for max_age: the next one is, whatever it is by, and auth_time is its time (OpenID Connect Core 1.0 section 3.1.2.1)", async () => {
    const { loginName } = await person();
    const { agent, code } = await askedForCode(loginName);
    codeIn(await agent.submit({ code }));
    const silent = { prompt: "none", max_age: "600" };
    codeIn(await agent.open(authorizeUrl(peer, app, silent)));
    jump(-hourMs);
    const refused = answerOf(await agent.open(authorizeUrl(peer, app, silent)));
    assert.equal(refused.get("error"), "login_required");
    codeIn(await agent.open(authorizeUrl(peer, app, { prompt: "none" })));
    await agent.open(authorizeUrl(peer, app, { max_age: "600" }));
    codeIn(await signIn(agent, loginName));
    codeIn(await agent.open(authorizeUrl(peer, app, silent)));
    const asked = { response_type: "id_token", nonce: "n", ...silent };
    const answer = answerOf(await agent.open(authorizeUrl(peer, implicit, asked)));
    const { auth_time, amr } = decodeJwt(answer.get("id_token") ?? "");
    assert.ok(Math.abs(Number(auth_time) - peer.now().getTime() / 1_000) < 60, String(auth_time));
    assert.deepEqual(amr, ["pwd"]);
  });
});

describe("a clock that goes ahead", () => {
  it("asks for a proof where the last is older than five minutes (L2), and by a day shows the account no less", async () => {
    const { loginName } = await person();
    const agent = await atAccount(peer, loginName);
    jump(5 * minuteMs + 1_000);
    await agent.open(accountPaths.authenticator);
    assert.equal(pathOf(await agent.submit({ begin: "true" })), "/ui/login/password");
    jump(12 * hourMs);
    assert.equal(pathOf(await agent.open(accountPaths.profile)), accountPaths.profile);
  });

  it("by a year ends what was begun, and a page leads on from each (L12)", async () => {
    const { loginName } = await person();
    const waiting = await pages.begin();
    const agent = await atAccount(peer, loginName);
    jump(366 * dayMs);
    const ended = await waiting.open(waiting.last.url);
    assert.equal(errorOf(ended), "FLOW_NOT_FOUND");
    assert.match(ended.html, /href="\/ui\/login"/);
    assert.equal(pathOf(await agent.open(accountPaths.overview)), "/ui/login/loginname");
    await signIn(agent, loginName);
    assert.equal(pathOf(agent.last), accountPaths.overview);
  });
});
