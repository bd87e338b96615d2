import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TOTP } from "otpauth";
import { addPersonNamed, authorizeUrl, password, signedIn, signIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { answerOf, errorOf, formOf, type Shown, userAgent } from "../support/user-agent.ts";

const settings = "/settings/v3alpha";

let peer: OidcPeer;
let web: MadeClient;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
});
after(() => peer[Symbol.asyncDispose]());

const set = async (what: string, values: object, token = peer.app.token) =>
  bodyOf(await peer.peer.rest("PATCH", `${settings}/${what}`, { ...values }, { token }));

/** A browser at the first page of a login. */
async function begin(more: Record<string, string> = {}, client = web) {
  const agent = userAgent(peer.issuer);
  await agent.open(authorizeUrl(peer, client, more));
  return agent;
}
const pathOf = ({ url }: Shown) => url.pathname;
const codeIn = (shown: Shown) => assert.match(answerOf(shown).get("code") ?? "", /^idsvc_ac_/);

/** The last mail that the development page shows. */
async function lastMail(): Promise<{ to: string; subject: string; code: string; text: string }> {
  const { html } = await userAgent(peer.issuer).open("/ui/dev/mail");
  const [mail = ""] = html.split("<article").slice(1);
  const text = /<pre>([\s\S]*?)<\/pre>/.exec(mail)?.[1] ?? "";
  return {
    to: /<dd>([^<]*)<\/dd>/.exec(mail)?.[1] ?? "",
    subject: /<h2>([^<]*)<\/h2>/.exec(mail)?.[1] ?? "",
    code: /Code: (\S+)/.exec(text)?.[1] ?? "",
    text,
  };
}
const mails = async () =>
  (await userAgent(peer.issuer).open("/ui/dev/mail")).html.split("<article").length - 1;

describe("login name and password", () => {
  it("lead back to the app with a code, also without scripts", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await begin();
    assert.equal(pathOf(agent.last), "/ui/login/loginname");
    codeIn(await signIn(agent, alice.loginName));
  });

  it("the username alone is enough in the default organization, in any spelling", async () => {
    const { loginName } = await addPersonNamed(peer);
    const [username = ""] = loginName.split("@");
    for (const typed of [
      username,
      username.toUpperCase(),
      loginName.toUpperCase(),
      ` ${loginName} `,
    ]) {
      codeIn(await signIn(await begin(), typed));
    }
  });

  it("login_hint stands in the field, escaped", async () => {
    const agent = await begin({ login_hint: `"><script>alert(1)</script>@x` });
    assert.doesNotMatch(agent.last.html, /<script>alert/);
    assert.match(agent.last.html, /value="&quot;&gt;&lt;script&gt;/);
  });

  it("D49: unknown, wrong, locked, deactivated and without a password look alike", async () => {
    const wrong = await addPersonNamed(peer);
    const locked = await addPersonNamed(peer);
    const inactive = await addPersonNamed(peer);
    const without = await addPersonNamed(peer, { authenticators: {} });
    await peer.post(`/users/${locked.id}/_lock`);
    await peer.post(`/users/${inactive.id}/_deactivate`);
    const looks: string[] = [];
    for (const { loginName } of [
      { loginName: "nobody@nowhere.test" },
      wrong,
      locked,
      inactive,
      without,
    ]) {
      const agent = await begin();
      const asked = await agent.submit({ login_name: loginName });
      assert.equal(pathOf(asked), "/ui/login/password");
      const shown = await agent.submit({ password: "wrong" });
      const same = shown.html
        .replaceAll(loginName, "NAME")
        .replaceAll(/(nonce="|nonce-|name="(?:csrf|flow)" value=")[^"]*/g, "$1")
        .replaceAll(/flow=[\w-]+/g, "flow=")
        .replace(/(<span class="avatar"[^>]*>)./, "$1");
      looks.push(`${shown.status} ${pathOf(shown)} ${same}`);
      assert.match(shown.html, /Login name or password is wrong/);
      if (loginName !== wrong.loginName) {
        const right = await agent.submit({ password });
        assert.equal(right.left, undefined);
        assert.match(right.html, /Login name or password is wrong/);
      }
    }
    assert.equal(new Set(looks).size, 1);
  });

  it("D51: wrong ones close the check over every way in, and the right one is then wrong too", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await begin();
    await agent.submit({ login_name: alice.loginName });
    for (let tries = 0; tries < 10; tries += 1) {
      await agent.submit({ password: "wrong" }, { "x-forwarded-for": `10.0.0.${tries}` });
    }
    assert.equal((await agent.submit({ password })).left, undefined);
    const checks = { user: { user_id: alice.id }, password: { password } };
    const { status, refusal } = await peer.post("/sessions", { checks });
    assert.equal(status, 400);
    assert.equal(refusal?.reason, "INVALID_CREDENTIALS");
    peer.pass(11 * 60_000);
    codeIn(await signIn(await begin(), alice.loginName));
  });

  it("a password that must be changed is changed on the way", async () => {
    const must = { password: { password, change_required: true } };
    const { loginName } = await addPersonNamed(peer, { authenticators: must });
    const agent = await begin();
    const asked = await signIn(agent, loginName);
    assert.equal(pathOf(asked), "/ui/login/password/change");
    const same = await agent.submit({ password, new_password: password });
    assert.equal(same.left, undefined);
    const short = await agent.submit({ password, new_password: "short" });
    assert.match(short.html, /Use at least 8 characters/);
    const other = "another horse battery staple";
    const wrong = await agent.submit({ password: "wrong", new_password: other });
    assert.equal(pathOf(wrong), "/ui/login/password/change");
    codeIn(await agent.submit({ password, new_password: other }));
  });
});

describe("second factors", () => {
  async function personWithTotp() {
    const person = await addPersonNamed(peer);
    const started = bodyOf(await peer.post(`/users/${person.id}/totp`));
    const totp = new TOTP({ secret: started.secret });
    let step = 0;
    // Each code counts once: every next one is of another half minute.
    const next = () => {
      peer.pass(31_000);
      step += 1;
      return totp.generate({ timestamp: peer.now().getTime() });
    };
    bodyOf(await peer.post(`/users/${person.id}/totp/${started.totp_id}/_verify`, next()));
    return { ...person, next, steps: () => step };
  }

  it("TOTP is asked after the password, and a wrong one is told", async () => {
    const alice = await personWithTotp();
    const agent = await begin();
    assert.equal(pathOf(await signIn(agent, alice.loginName)), "/ui/login/mfa/totp");
    const wrong = await agent.submit({ code: "000000" });
    assert.match(wrong.html, /This code is wrong or has expired/);
    codeIn(await agent.submit({ code: alice.next() }));
  });

  it("D56: nothing is had without it, whatever page is called", async () => {
    const alice = await personWithTotp();
    const agent = await begin();
    const asked = await signIn(agent, alice.loginName);
    const flow = asked.url.searchParams.get("flow") ?? "";
    const callback = await agent.open(`/oauth/v2/authorize/callback?id=${flow}`);
    assert.equal(callback.left, undefined);
    for (const path of [
      "/ui/login",
      "/ui/login/consent",
      "/ui/login/signedin",
      "/ui/login/mfa/setup",
    ]) {
      assert.equal((await agent.open(`${path}?flow=${flow}`)).left, undefined);
    }
    const silent = await agent.open(authorizeUrl(peer, web, { prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "login_required");
  });

  it("a code by e-mail is sent when it is asked for, and counts once", async () => {
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact });
    const added = bodyOf(await peer.post(`/users/${id}/otp_email`, { address, is_verified: true }));
    assert.ok(added.otp_email_id);
    const agent = await begin();
    assert.equal(pathOf(await signIn(agent, loginName)), "/ui/login/mfa");
    const sent = await mails();
    const asked = await agent.submit({ factor: "email" });
    assert.equal(pathOf(asked), "/ui/login/mfa/email");
    assert.equal(await mails(), sent + 1);
    const mail = await lastMail();
    assert.equal(mail.to, address);
    assert.doesNotMatch(asked.html, new RegExp(address));
    codeIn(await agent.submit({ code: mail.code }));
    const again = await begin();
    await signIn(again, loginName);
    await again.submit({ factor: "email" });
    assert.match(
      (await again.submit({ code: mail.code })).html,
      /This code is wrong or has expired/,
    );
  });

  it("force_mfa: who has none sets one up, and gets recovery codes", async () => {
    const organization = await peer.addOrganization({ domain: "dora.test" });
    const owner = await peer.addMember(organization, ["ORG_OWNER"]);
    const headers = { "x-idsvc-orgid": organization };
    const made = await peer.post(
      "/users",
      {
        username: "dora",
        data: { given_name: "Dora", family_name: "Maar" },
        authenticators: { password: { password } },
      },
      { headers, token: owner.token },
    );
    bodyOf(made, 201);
    const loginName = "dora@dora.test";
    await peer.peer.rest(
      "PATCH",
      `${settings}/login?ctx.org_id=${organization}`,
      { force_mfa: { set: true } },
      { token: peer.app.token },
    );
    const agent = await begin();
    const asked = await signIn(agent, loginName);
    assert.equal(pathOf(asked), "/ui/login/mfa/setup");
    const shown = await agent.submit({ factor: "totp" });
    const secret = [...shown.html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)]
      .map(([, group]) => group)
      .join("");
    assert.match((await agent.submit({ code: "000000" })).html, /wrong or has expired/);
    const code = new TOTP({ secret }).generate({ timestamp: peer.now().getTime() });
    const codes = await agent.submit({ code });
    const [first = ""] = [...codes.html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(
      ([, one]) => one,
    );
    assert.notEqual(first, "");
    // The app is of another organization, to which nothing was granted.
    const consent = await agent.submit({});
    assert.equal(pathOf(consent), "/ui/login/consent");
    codeIn(await agent.submit({ consent: "allow" }));
    codeIn(await agent.open(authorizeUrl(peer, web, { prompt: "none" })));
    const more = { scope: "openid profile" };
    const silent = await agent.open(authorizeUrl(peer, web, { ...more, prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "consent_required");
    await agent.open(authorizeUrl(peer, web, more));
    const denied = await agent.submit({ consent: "deny" });
    assert.equal(answerOf(denied).get("error"), "access_denied");
    const again = await begin();
    await signIn(again, loginName);
    const flow = again.last.url.searchParams.get("flow");
    await again.open(`/ui/login/mfa?flow=${flow}`);
    assert.equal(
      pathOf(await again.open(`/ui/login/mfa/recovery?flow=${flow}`)),
      "/ui/login/mfa/recovery",
    );
    codeIn(await again.submit({ code: first }));
  });
});

describe("registration", () => {
  const values = (login_name: string, email: string) => ({
    ...{ given_name: "Nina", family_name: "Simone", login_name, email },
    new_password: password,
  });

  it("makes an account, proves the address by a code, and leads back to the app", async () => {
    const name = uniqueName("nina").replace(" ", "");
    const agent = await begin({ prompt: "create" });
    assert.equal(pathOf(agent.last), "/ui/login/register");
    const asked = await agent.submit(values(name, `${name}@example.test`));
    assert.equal(pathOf(asked), "/ui/login/verify");
    const { to, code } = await lastMail();
    assert.equal(to, `${name}@example.test`);
    assert.match((await agent.submit({ code: "WRONG" })).html, /wrong or has expired/);
    codeIn(await agent.submit({ code }));
  });

  it("tells what is missing or wrong, by the field", async () => {
    const agent = await begin({ prompt: "create" });
    assert.match((await agent.submit({})).html, /Please fill in this field/);
    const shown = await agent.submit({ ...values("x", "no-address"), new_password: "short" });
    assert.equal(pathOf(shown), "/ui/login/register");
    assert.match(shown.html, /not an e-mail address|not allowed here|at least/);
  });

  it("D50: a name that is taken looks like a free one; its owner hears of it by mail", async () => {
    const email = `${uniqueName("owner").replace(" ", "")}@example.test`;
    const owner = await addPersonNamed(peer, {
      contact: { email: { address: email, is_verified: true } },
    });
    const [username = ""] = owner.loginName.split("@");
    const agent = await begin({ prompt: "create" });
    const shown = await agent.submit(values(username, "somebody.else@example.test"));
    assert.equal(pathOf(shown), "/ui/login/verify");
    const mail = await lastMail();
    assert.equal(mail.to, email);
    assert.equal(mail.subject, "You have an account already");
    assert.equal(mail.code, "");
    const sent = await mails();
    await agent.submit({ resend: "true" });
    assert.equal(await mails(), sent);
    assert.equal((await agent.submit({ code: "BCDFGHJK" })).left, undefined);
  });

  it("D56: is refused where it is switched off", async () => {
    await set("login", { allow_register: { set: false } });
    try {
      const agent = await begin();
      assert.doesNotMatch(agent.last.html, /Create an account/);
      const flow = agent.last.url.searchParams.get("flow");
      const shown = await agent.open(`/ui/login/register?flow=${flow}`);
      assert.equal(shown.status, 403);
      assert.equal(errorOf(shown), "REGISTRATION_OFF");
    } finally {
      await set("login", { allow_register: { reset: true } });
    }
  });
});

describe("a forgotten password", () => {
  const other = "completely different words";

  it("is set anew by a code from the mail, which counts once and ends all sessions", async () => {
    const email = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const { loginName } = await addPersonNamed(peer, {
      contact: { email: { address: email, is_verified: true } },
    });
    const elsewhere = await signedIn(peer, web, loginName);
    const agent = await begin();
    const flow = agent.last.url.searchParams.get("flow");
    await agent.open(`/ui/login/password/forgot?flow=${flow}`);
    const asked = await agent.submit({ login_name: loginName });
    assert.equal(pathOf(asked), "/ui/login/password/reset");
    const { to, code, text } = await lastMail();
    assert.equal(to, email);
    // D54: what is sent names our own host, whatever a request said.
    assert.match(text, new RegExp(`${peer.issuer}/ui/login/password/reset`));
    const wrong = await agent.submit({ code: "WRONGCODE1", new_password: other });
    assert.match(wrong.html, /wrong or has expired/);
    const shown = await agent.submit({ code, new_password: other });
    assert.equal(pathOf(shown), "/ui/login/password");
    codeIn(await agent.submit({ password: other }));
    const silent = await elsewhere.open(authorizeUrl(peer, web, { prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "login_required");
    // D53
    const again = await begin();
    await again.open(
      "/ui/login/password/reset?" + new URLSearchParams({ login_name: loginName, code }),
    );
    assert.match(
      (await again.submit({ code, new_password: "yet another phrase" })).html,
      /wrong or has expired/,
    );
  });

  it("D50: of nobody, of a machine, and of who has no address looks the same, and sends nothing", async () => {
    const machine = await peer.addMachine(uniqueName("robot").replace(" ", "-"));
    const bare = await addPersonNamed(peer);
    const sent = await mails();
    for (const name of ["nobody@nowhere.test", machine.clientId, bare.loginName]) {
      const agent = await begin();
      await agent.open(`/ui/login/password/forgot?flow=${agent.last.url.searchParams.get("flow")}`);
      const shown = await agent.submit({ login_name: name });
      assert.equal(pathOf(shown), "/ui/login/password/reset");
      assert.match(
        (await agent.submit({ code: "BCDFGHJKLM", new_password: other })).html,
        /wrong or has expired/,
      );
    }
    assert.equal(await mails(), sent);
  });
});

describe("cookies and forms", () => {
  it("D58: the cookie is HttpOnly and Lax; a bent, cut or foreign one is nobody's", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await signedIn(peer, web, loginName);
    const answer = await fetch(`${peer.issuer}/ui/login`, { redirect: "manual" });
    const [set = ""] = answer.headers.getSetCookie();
    assert.match(set, /^idsvc-browser=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
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
    const agent = await begin();
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
    const before = new Map(agent.cookies);
    await agent.open(authorizeUrl(peer, web, { prompt: "login" }));
    codeIn(await signIn(agent, loginName));
    assert.notDeepEqual(agent.cookies, before);
    const old = await userAgent(peer.issuer, before).open(
      authorizeUrl(peer, web, { prompt: "none" }),
    );
    assert.equal(answerOf(old).get("error"), "login_required");
  });

  const pages = [
    "loginname",
    "password",
    "register",
    "password/forgot",
    "accounts",
    "logout",
    "mfa",
    "consent",
  ];
  for (const page of pages) {
    it(`D57: the form of ${page} counts only from a page of ours, in this browser`, async () => {
      const { loginName } = await addPersonNamed(peer);
      const agent = await begin();
      const { fields } = formOf(agent.last.html);
      const events = await peer.eventCount();
      const path = `/ui/login/${page}`;
      const body: Record<string, string> = { ...fields, login_name: loginName, password };
      const { csrf: _, ...without } = body;
      const post = (form: Record<string, string>, headers: Record<string, string>) =>
        agent.open(path, { method: "POST", body: new URLSearchParams(form), headers });
      const own = { origin: peer.issuer, "sec-fetch-site": "same-origin" };
      const other = formOf((await begin()).last.html).fields["csrf"] ?? "";
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
    const agent = await begin();
    const shown = await agent.submit({ login_name: loginName }, { origin: "null" });
    assert.equal(pathOf(shown), "/ui/login/password");
  });

  it("D56: a flow is of one browser", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await begin();
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

describe("the login that is limited to an organization", () => {
  it("D39: lets in nobody of another one, and says no more than for a wrong password", async () => {
    const organization = await peer.addOrganization();
    const scope = `openid urn:idsvc:iam:org:id:${organization}`;
    const outsider = await addPersonNamed(peer);
    const agent = await begin({ scope });
    const shown = await signIn(agent, outsider.loginName);
    assert.equal(shown.left, undefined);
    assert.match(shown.html, /Login name or password is wrong/);
    const elsewhere = await signedIn(peer, web, outsider.loginName);
    const silent = await elsewhere.open(authorizeUrl(peer, web, { scope, prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "login_required");
  });
});
