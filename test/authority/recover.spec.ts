// Run: shared, store
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { TOTP } from "otpauth";
import { examine } from "../../src/app/examine.ts";
import { makeRecoveryLink } from "../../src/app/recover.ts";
import { DomainError } from "../../src/errors.ts";
import { user } from "../../src/resources/user/index.ts";
import { type Env, idsvc } from "../cli/command.ts";
import { storeEnv } from "../support/app.ts";
import { addPersonNamed, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { systemCaller } from "../support/system-caller.ts";
import { formOf, type UserAgent, userAgent } from "../support/user-agent.ts";

const operator = systemCaller();
const elsewhere = "elsewhere.test";
const newPassword = "Another horse 4 battery!";
let peer: OidcPeer;
let pages: LoginPages;

before(async () => {
  peer = await startOidc({ env: operator.env });
  pages = loginPages(peer, await peer.addClient());
});
after(() => peer[Symbol.asyncDispose]());

const make = (loginName: string, domain?: string) =>
  makeRecoveryLink(peer.app.kernel, { loginName, domain });

async function opened(link: string): Promise<UserAgent> {
  const agent = userAgent(peer.issuer);
  await agent.open(link);
  assert.equal(pathOf(agent.last), "/ui/login/recover");
  return agent;
}

async function withTotp() {
  const { id, loginName } = await addPersonNamed(peer);
  const { secret, totp_id } = bodyOf(await peer.post(`/users/${id}/totp`));
  const code = new TOTP({ secret }).generate({ timestamp: peer.now().getTime() });
  bodyOf(await peer.post(`/users/${id}/totp/${totp_id}/_verify`, code));
  bodyOf(await peer.post(`/users/${id}/recovery_codes`));
  return { id, loginName };
}

const isRefused = async (agent: UserAgent) => {
  const shown = await agent.submit({ new_password: newPassword });
  assert.equal(pathOf(shown), "/ui/login/recover");
  assert.match(shown.html, /This code is wrong or has expired/);
};

/** What the page answers at the host of another instance; `fetch` names no other host. */
async function sentAt(host: string, { pathname, search, port }: URL): Promise<string> {
  const origin = `http://${host}:${port}`;
  async function ask(method: string, path: string, headers: Record<string, string>, body?: string) {
    const asked = request({
      port: peer.app.port,
      method,
      path,
      headers: { host: `${host}:${port}`, ...headers },
      agent: false,
    });
    asked.end(body);
    const [answer] = await once(asked, "response");
    return {
      cookie: String(answer.headers["set-cookie"]?.[0]).split(";")[0] ?? "",
      location: String(answer.headers.location),
      html: await text(answer),
    };
  }
  const { cookie, html } = await ask("GET", `${pathname}${search}`, {});
  const { fields } = formOf(html);
  const body = new URLSearchParams({ ...fields, new_password: newPassword }).toString();
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const sent = { ...form, cookie, origin, "sec-fetch-site": "same-origin" };
  const length = { "content-length": String(body.length) };
  const { location } = await ask("POST", pathname, { ...sent, ...length }, body);
  return (await ask("GET", location, { cookie })).html;
}

describe("J21: idsvc recover", () => {
  it("brings a first administrator back who lost TOTP and password, by a process of its own", async () => {
    const { kernel, made } = peer.app;
    const { user_id: id, login_name: loginName } = made.admin;
    const ctx = { email: { address: "admin@example.test", is_verified: true } };
    const token = { token: peer.app.token };
    bodyOf(
      await peer.peer.rest("PATCH", `/resources/v3alpha/users/${id}`, { contact: ctx }, token),
    );
    const { secret, totp_id } = bodyOf(await peer.post(`/users/${id}/totp`));
    const code = new TOTP({ secret }).generate({ timestamp: peer.now().getTime() });
    bodyOf(await peer.post(`/users/${id}/totp/${totp_id}/_verify`, code));
    const env: Env = {
      IDSVC_DATA_DIR: kernel.config.dataDir,
      IDSVC_EXTERNAL_URL: kernel.config.externalUrl,
      ...(await storeEnv(kernel.config.dataDir)),
    };
    const printed = await idsvc(["recover", "--user", loginName, "--json"], env);
    assert.equal(printed.code, 0, printed.err);
    const { link, instance_id, user_id, expiration_date } = JSON.parse(printed.out);
    assert.deepEqual([instance_id, user_id], [made.instance_id, id]);
    assert.ok(Math.abs(Date.parse(expiration_date) - Date.now() - 15 * 60_000) < 60_000);

    const mail = await pages.lastMail();
    assert.equal(mail.to, "admin@example.test");
    assert.match(mail.subject, new RegExp(`recovery link for ${loginName}`));
    assert.ok(!mail.text.includes("code="), "the notice holds no way in");

    const agent = await opened(link);
    const shown = await agent.submit({ new_password: newPassword });
    assert.equal(pathOf(shown), "/ui/account");
    const again = await pages.begin();
    await again.submit({ login_name: loginName });
    await again.submit({ password: newPassword });
    codeIn(again.last.left === undefined ? await again.submit({ consent: "allow" }) : again.last);
    await isRefused(await opened(link));
    const types = (await peer.events("user.recovery.link.added", "user.recovery.link.used")).map(
      ({ type, editorId }) => [type, editorId],
    );
    assert.deepEqual(types, [
      ["user.recovery.link.added", "system:cli"],
      ["user.recovery.link.used", id],
    ]);
  });

  it("doctor tells of links that were made and of those that were used", async () => {
    const { id, loginName } = await withTotp();
    await make(loginName);
    const { concerns } = await examine(peer.app.kernel);
    const mine = `${peer.app.made.instance_id}/${id}`;
    const [added] = concerns.filter(({ name }) => name === "recovery_links_made");
    assert.ok(added?.some.includes(mine));
    const [used] = concerns.filter(({ name }) => name === "recovery_links_used");
    assert.deepEqual([used?.count, used?.some.includes(mine)], [1, false]);
  });

  it("every other way in ends with it: sessions, second factors, recovery codes, the old password", async () => {
    const { id, loginName } = await withTotp();
    const sessionId = await peer.logIn(id);
    const { link } = await make(loginName);
    bodyOf(await peer.get(`/sessions/${sessionId}`));
    const agent = await opened(link);
    assert.equal(pathOf(await agent.submit({ new_password: newPassword })), "/ui/account");
    assert.equal((await peer.get(`/sessions/${sessionId}`)).status, 404);
    const { kernel, made } = peer.app;
    const { state } = await kernel.events.load(user, made.instance_id, id);
    assert.deepEqual(
      state?.authenticators.map(({ kind }) => kind),
      ["password"],
    );
    const old = await signIn(await pages.begin(), loginName);
    assert.equal(old.left, undefined);
    assert.match(old.html, /Login name or password is wrong/);
  });

  it("who was locked is unlocked by it, and not before", async () => {
    const { id, loginName } = await withTotp();
    bodyOf(await peer.post(`/users/${id}/_lock`));
    const stateOf = async () => bodyOf(await peer.get(`/users/${id}`)).user.state;
    const { link } = await make(loginName);
    assert.equal(await stateOf(), "USER_STATE_LOCKED");
    const agent = await opened(link);
    assert.equal(pathOf(await agent.submit({ new_password: newPassword })), "/ui/account");
    assert.equal(await stateOf(), "USER_STATE_ACTIVE");
  });

  it("who must have a second factor sets up a new one", async () => {
    const { loginName } = await withTotp();
    await pages.change("login", { force_mfa: { set: true } });
    const agent = await opened((await make(loginName)).link);
    assert.equal(pathOf(await agent.submit({ new_password: newPassword })), "/ui/login/mfa/setup");
    await pages.change("login", { force_mfa: { set: false } });
  });

  it("is spent by the form alone, and not by a password that is refused", async () => {
    const { loginName } = await withTotp();
    const { link } = await make(loginName);
    await opened(link);
    const agent = await opened(link);
    const shown = await agent.submit({ new_password: "short" });
    assert.equal(pathOf(shown), "/ui/login/recover");
    assert.doesNotMatch(shown.html, /This code is wrong/);
    assert.equal(pathOf(await agent.submit({ new_password: newPassword })), "/ui/account");
    await isRefused(await opened(link));
  });

  it("the newer link ends the older one, and two at once count once", async () => {
    const { loginName } = await withTotp();
    const older = await make(loginName);
    const { link } = await make(loginName);
    await isRefused(await opened(older.link));
    const agents = [await opened(link), await opened(link)];
    const shown = await Promise.all(
      agents.map((agent) => agent.submit({ new_password: newPassword })),
    );
    assert.deepEqual(shown.map(pathOf).sort(), ["/ui/account", "/ui/login/recover"]);
  });

  it("nobody is told whether there is such a user, or what their passwords must be", async () => {
    const { id } = await withTotp();
    for (const user_id of [id, "nobody"]) {
      const agent = await opened(`/ui/login/recover?user_id=${user_id}&code=WRONG`);
      const shown = await agent.submit({ new_password: "short" });
      assert.match(shown.html, /This code is wrong or has expired/);
    }
  });

  for (const [what, reason, prepare] of [
    ["nobody of that name", "USER_NOT_FOUND", async () => "nobody@nowhere.test"],
    ["a machine", "USER_IS_MACHINE", async () => peer.app.made.machine.login_name],
    [
      "who is deactivated",
      "USER_INACTIVE",
      async () => {
        const { id, loginName } = await addPersonNamed(peer);
        bodyOf(await peer.post(`/users/${id}/_deactivate`));
        return loginName;
      },
    ],
  ] as const)
    it(`refuses ${what}`, async () => {
      const loginName = await prepare();
      const refused = (error: unknown) => error instanceof DomainError && error.reason === reason;
      await assert.rejects(make(loginName), refused);
    });

  it("refuses where no password is taken: the link could not log in", async () => {
    const { loginName } = await withTotp();
    await pages.change("login", { allow_username_password: { set: false } });
    const refused = (error: unknown) =>
      error instanceof DomainError && error.reason === "PASSWORD_LOGIN_OFF";
    await assert.rejects(make(loginName), refused);
    await pages.change("login", { allow_username_password: { set: true } });
  });

  it("counts in its own instance alone, which must be named where there are several", async () => {
    const { loginName } = await withTotp();
    const token = await operator.tokenFor(peer.app.made.issuer);
    const wanted = {
      name: "Elsewhere",
      domain: elsewhere,
      organization: { name: "C" },
      machine: { username: "robot", name: "Robot" },
    };
    const answer = await peer.peer.rest("POST", "/resources/v3alpha/instances", wanted, { token });
    assert.equal(answer.status, 201, JSON.stringify(answer.json));
    await assert.rejects(
      make(loginName),
      (error) => error instanceof DomainError && error.reason === "INSTANCE_NEEDED",
    );
    const notThere = (error: unknown) =>
      error instanceof DomainError && error.reason === "USER_NOT_FOUND";
    await assert.rejects(make(loginName, elsewhere), notThere);
    const { link } = await make(loginName, "LOCALHOST");
    assert.match(await sentAt(elsewhere, new URL(link)), /This code is wrong or has expired/);
    const agent = await opened(link);
    assert.equal(pathOf(await agent.submit({ new_password: newPassword })), "/ui/account");
  });

  it("does not count after 15 minutes, and changes nothing then", async () => {
    const { loginName } = await withTotp();
    const { link } = await make(loginName, "localhost");
    peer.pass(15 * 60_000);
    await isRefused(await opened(link));
    assert.equal(pathOf(await signIn(await pages.begin(), loginName)), "/ui/login/mfa/totp");
  });
});
