// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openReturned, sealReturned } from "../../src/login/returned.ts";
import { addPersonNamed, authorizeUrl, password, signedIn, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { answerOf, errorOf, formOf, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

describe("cookies and forms", () => {
  it("D58: the cookie is HttpOnly and Lax; a bent, cut or foreign one is nobody's", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, web, loginName);
    const answer = await fetch(`${peer.issuer}/ui/login`, { redirect: "manual" });
    const [cookieSet = ""] = answer.headers.getSetCookie();
    assert.match(
      cookieSet,
      /^idsvc-browser=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    );
    const [[name = "", value = ""] = []] = agent.cookies;
    const bent = `${value.slice(0, -2)}${value.at(-2) === "A" ? "B" : "A"}${value.at(-1)}`;
    for (const cookie of [bent, value.slice(0, -1), `${value}A`, "", "null", "../../etc"]) {
      const other = userAgent(peer.issuer, new Map([[name, cookie]]));
      const shown = await other.open(authorizeUrl(peer, web, { prompt: "none" }));
      assert.equal(answerOf(shown).get("error"), "login_required");
    }
  });

  it("D55: a login gets a new cookie; the planted one and its form token are dead", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const planted = new Map(agent.cookies);
    const { fields } = formOf(agent.last.html);
    await signIn(agent, loginName);
    assert.notDeepEqual(agent.cookies, planted);
    const thief = userAgent(peer.issuer, new Map(planted));
    const silent = await thief.open(authorizeUrl(peer, web, { prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "login_required");
    await agent.open(authorizeUrl(peer, web, { prompt: "login" }));
    const refused = await agent.submit({ csrf: fields["csrf"] ?? "", password });
    assert.equal(refused.status, 403);
    assert.equal(errorOf(refused), "FORM_REFUSED");
  });

  it("D55: proving oneself again gets a new cookie too", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, web, loginName);
    const earlier = new Map(agent.cookies);
    await agent.open(authorizeUrl(peer, web, { prompt: "login" }));
    codeIn(await signIn(agent, loginName));
    assert.notDeepEqual(agent.cookies, earlier);
    const old = await userAgent(peer.issuer, earlier).open(
      authorizeUrl(peer, web, { prompt: "none" }),
    );
    assert.equal(answerOf(old).get("error"), "login_required");
  });

  const forms = [
    "loginname",
    "password",
    "register",
    "register/account",
    "verify",
    "password/forgot",
    "accounts",
    "logout",
    "mfa",
    "consent",
  ];
  for (const page of forms) {
    it(`D57: the form of ${page} counts only from a page of ours, in this browser`, async () => {
      const { loginName } = await addPersonNamed(peer);
      const agent = await pages.begin();
      const { fields } = formOf(agent.last.html);
      const events = await peer.eventCount();
      const path = `/ui/login/${page}`;
      const body: Record<string, string> = { ...fields, login_name: loginName, password };
      const { csrf: _, ...without } = body;
      const post = (form: Record<string, string>, headers: Record<string, string>) =>
        agent.open(path, { method: "POST", body: new URLSearchParams(form), headers });
      const own = { origin: peer.issuer, "sec-fetch-site": "same-origin" };
      const other = formOf((await pages.begin()).last.html).fields["csrf"] ?? "";
      const attempts = [
        post(without, own),
        post({ ...body, csrf: other }, own),
        post(body, { origin: "https://evil.test" }),
        post(body, { origin: "null" }),
        post(body, { origin: "null", "sec-fetch-site": "cross-site" }),
      ];
      for (const attempt of attempts) {
        const shown = await attempt;
        assert.equal(shown.status, 403);
        assert.equal(errorOf(shown), "FORM_REFUSED");
        assert.equal(shown.left, undefined);
      }
      assert.equal(await peer.eventCount(), events);
    });
  }

  it("D57: Origin null passes with a token from the same origin (Safari, privacy modes)", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const shown = await agent.submit({ login_name: loginName }, { origin: "null" });
    assert.equal(pathOf(shown), "/ui/login/password");
  });

  for (const address of ["/", "/ui/login", "/ui/login/"]) {
    it(`the bare address ${address} leads to the login`, async () => {
      const shown = await userAgent(peer.issuer).open(address);
      assert.equal(pathOf(shown), "/ui/login/loginname");
    });
  }

  it("no redirect between pages is kept by anybody, and no asset taken for another type", async () => {
    const answer = await fetch(`${peer.issuer}/ui/login`, { redirect: "manual" });
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const { html } = await userAgent(peer.issuer).open("/ui/login");
    const assets = [...html.matchAll(/(?:href|src)="(\/ui\/login\/assets\/[^"]+)"/g)];
    assert.ok(assets.length > 0);
    for (const [, path = ""] of assets) {
      const { status, headers } = await fetch(peer.issuer + path);
      assert.equal(status, 200, path);
      assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    }
  });

  it("D56: a login that is done counts in its own browser alone", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    await agent.submit({ login_name: loginName });
    const { action, fields } = formOf(agent.last.html);
    const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const done = await fetch(new URL(action, peer.issuer), {
      method: "POST",
      body: new URLSearchParams({ ...fields, password }),
      headers: { cookie, origin: peer.issuer, "sec-fetch-site": "same-origin" },
      redirect: "manual",
    });
    const callback = done.headers.get("location") ?? "";
    assert.match(callback, /authorize\/callback\?id=/);
    const [[name = "", value = ""] = []] = [
      /^([^=]+)=([^;]*)/.exec(done.headers.getSetCookie()[0] ?? "")?.slice(1),
    ] as [string[]?];
    for (const other of [userAgent(peer.issuer), await pages.begin()]) {
      const shown = await other.open(callback);
      assert.equal(shown.left, undefined);
      assert.equal(shown.status, 400);
    }
    codeIn(await userAgent(peer.issuer, new Map([[name, value]])).open(callback));
  });

  it("no form comes back with a password, not even sealed", async () => {
    const { secrets } = peer.app.kernel;
    const address = { instanceId: peer.at.instanceId, agentId: "a browser", path: "/ui/login/x" };
    const typed = new Map([
      ["login_name", "ada"],
      ["password", "one"],
      ["new_password", "two"],
      ["credential", "three"],
      ["csrf", "four"],
      ["flow", "five"],
    ]);
    const sealed = await sealReturned(secrets, address, {}, typed);
    const returned = await openReturned(secrets, address, sealed);
    assert.deepEqual(returned?.values, { login_name: "ada" });
  });

  it("D56: a flow is of one browser", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const flow = agent.last.url.searchParams.get("flow");
    const other = userAgent(peer.issuer);
    const shown = await other.open(`/ui/login/loginname?flow=${flow}`);
    assert.equal(shown.status, 400);
    assert.equal(errorOf(shown), "FLOW_NOT_FOUND");
    await signIn(agent, loginName);
    const callback = await other.open(`/oauth/v2/authorize/callback?id=${flow}`);
    assert.equal(callback.left, undefined);
  });

  it("D54: whatever headers say, pages name our own host; an unknown host is none", async () => {
    const evil = "evil.test";
    for (const header of [
      "x-forwarded-host",
      "x-original-host",
      "forwarded",
      "x-forwarded-proto",
    ]) {
      const value =
        header === "forwarded"
          ? `host=${evil};proto=https`
          : header === "x-forwarded-proto"
            ? "javascript"
            : evil;
      const agent = userAgent(peer.issuer);
      const shown = await agent.open(authorizeUrl(peer, web), { headers: { [header]: value } });
      assert.doesNotMatch(shown.html, /evil\.test|javascript:/);
    }
  });
});
