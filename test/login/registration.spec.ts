// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { addPersonNamed, authorizeUrl, password, signedIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import {
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { answerOf, errorOf, type Shown } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

async function claimsOf(shown: Shown): Promise<Record<string, unknown>> {
  const code = answerOf(shown).get("code") ?? "";
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  return decodeJwt((await peer.send(paths.token, form, basic(web))).body.id_token);
}

const takenAtField = /id="login-name-problem">(?:(?!<\/p>)[^])*This login name is taken/;

describe("registration", () => {
  const values = (email: string) => ({ given_name: "Nina", family_name: "Simone", email });

  it("proves the address by a code, then makes an account, and leads back to the app", async () => {
    const email = `${uniqueName("nina").replace(" ", "")}@example.test`;
    const agent = await pages.begin({ prompt: "create" });
    assert.equal(pathOf(agent.last), "/ui/login/register");
    const asked = await agent.submit(values(email));
    assert.equal(pathOf(asked), "/ui/login/verify");
    const { to, subject, code } = await pages.lastMail();
    assert.deepEqual([to, subject], [email, "Your code to create an account"]);
    assert.match((await agent.submit({ code: "WRONG" })).html, /wrong or has expired/);
    const proven = await agent.submit({ code });
    assert.equal(pathOf(proven), "/ui/login/register/account");
    // The address is the login name.
    assert.doesNotMatch(proven.html, /name="login_name"/);
    const short = await agent.submit({ new_password: "short" });
    assert.equal(pathOf(short), "/ui/login/register/account");
    assert.match(short.html, /at least/);
    codeIn(await agent.submit({ new_password: password }));
    codeIn((await signedIn(peer, web, email)).last);
    const [made] = (await peer.events("user.human.email.verified")).slice(-1);
    assert.deepEqual(made?.payload, { proof: "code" });
    const { user } = bodyOf(await peer.get(`/users/${made?.aggregateId}`));
    assert.deepEqual(user.user.contact.email, { address: email, is_verified: true });
  });

  it("tells what is missing or wrong, by the field", async () => {
    const agent = await pages.begin({ prompt: "create" });
    assert.match((await agent.submit({})).html, /Please fill in this field/);
    const shown = await agent.submit(values("no-address"));
    assert.equal(pathOf(shown), "/ui/login/register");
    assert.match(shown.html, /id="email-problem"/);
    assert.match(shown.html, /value="no-address"/);
  });

  it("tells at its field that a login name is taken, beside what is wrong with the password", async () => {
    const email = `${uniqueName("nina").replace(" ", "")}@example.test`;
    await addPersonNamed(peer, { username: email });
    const { loginName: taken } = await addPersonNamed(peer);
    const agent = await pages.begin({ prompt: "create" });
    await agent.submit(values(email));
    const asked = await agent.submit({ code: (await pages.lastMail()).code });
    assert.match(asked.html, /name="login_name"/);
    const given = { login_name: taken.replace(/@.*/, ""), new_password: password };
    assert.match((await agent.submit(given)).html, takenAtField);
    codeIn(await agent.submit({ ...given, login_name: uniqueName("n").replace(" ", "") }));
  });

  it("L12: a mistyped address is corrected where its code is asked for; a code proves only its own", async () => {
    const name = uniqueName("nina").replace(" ", "");
    const agent = await pages.begin({ prompt: "create" });
    await agent.submit(values(`${name}@exmaple.test`));
    const { code: earlier } = await pages.lastMail();
    const corrected = await agent.submit({ email: `${name}@example.test` });
    assert.equal(pathOf(corrected), "/ui/login/verify");
    const { to, code } = await pages.lastMail();
    assert.equal(to, `${name}@example.test`);
    assert.match((await agent.submit({ code: earlier })).html, /wrong or has expired/);
    const proven = await agent.submit({ code });
    assert.equal(pathOf(proven), "/ui/login/register/account");
    // Whoever goes back to another address has proven nothing of it.
    await agent.open(`/ui/login/register${proven.url.search}`);
    const again = await agent.submit(values("ceo@example.test"));
    assert.equal(pathOf(again), "/ui/login/verify");
    const skipped = await agent.open(`/ui/login/register/account${proven.url.search}`);
    assert.equal(pathOf(skipped), "/ui/login/verify");
  });

  describe("where passwords are not allowed", () => {
    const setting = (wanted: object) => pages.change("login", wanted);
    before(() => setting({ allow_username_password: { set: false } }));
    after(() =>
      setting({
        allow_username_password: { reset: true },
        first_factors: { reset: true },
        passkeys_allowed: { reset: true },
      }),
    );
    const byMail = () =>
      setting({ first_factors: { set: { value: ["email"] } }, passkeys_allowed: { set: false } });

    /** Comes to the page that makes the account. */
    async function proven(email: string) {
      const agent = await pages.begin({ prompt: "create" });
      await agent.submit(values(email));
      const shown = await agent.submit({ code: (await pages.lastMail()).code });
      assert.equal(pathOf(shown), "/ui/login/register/account");
      assert.doesNotMatch(shown.html, /name="new_password"/);
      return agent;
    }

    it("makes an account without one, logged in by the mailbox that was proven", async () => {
      await byMail();
      const email = `${uniqueName("nina").replace(" ", "")}@example.test`;
      const agent = await proven(email);
      assert.doesNotMatch(agent.last.html, /data-passkey/);
      // A password that is sent all the same is none.
      const wrong = await agent.submit({ new_password: password });
      assert.match(wrong.html, /passkey could not be verified/);
      const sent = await pages.mails();
      const done = await agent.submit({ by: "email" });
      codeIn(done);
      const { amr, acr } = await claimsOf(done);
      assert.deepEqual([amr, acr], [["otp"], "urn:idsvc:acr:email"]);
      assert.equal(await pages.mails(), sent);
      const again = await pages.begin();
      await again.submit({ login_name: email });
      await again.submit({ send: "true" });
      codeIn(await again.submit({ code: (await pages.lastMail()).code }));
    });

    it("asks for a login name first where the address leads to somebody else, and says whether it is taken", async () => {
      await byMail();
      const email = `${uniqueName("nina").replace(" ", "")}@example.test`;
      await addPersonNamed(peer, { username: email });
      const { loginName: taken } = await addPersonNamed(peer);
      const agent = await proven(email);
      const named = () => agent.submit({ login_name: uniqueName("n").replace(" ", "") });
      assert.match((await agent.submit({ login_name: "" })).html, /Please fill in this field/);
      await agent.submit({ login_name: taken.replace(/@.*/, "") });
      const refused = await agent.submit({ by: "email" });
      assert.match(refused.html, takenAtField);
      assert.match((await named()).html, /name="by"/);
      codeIn(await agent.submit({ by: "email" }));
    });

    it("offers what the settings allow, and takes nothing else", async () => {
      await setting({ first_factors: { reset: true }, passkeys_allowed: { reset: true } });
      const email = `${uniqueName("nina").replace(" ", "")}@example.test`;
      const agent = await proven(email);
      assert.match(agent.last.html, /data-passkey="create"/);
      assert.doesNotMatch(agent.last.html, /name="by"/);
      const users = () => peer.events("user.human.added");
      const made = (await users()).length;
      for (const sent of [{ by: "email" }, { credential: "{}" }, { new_password: password }]) {
        assert.match((await agent.submit(sent)).html, /passkey could not be verified/);
      }
      assert.equal((await users()).length, made);
    });

    it("D56: is refused where nobody could log in to the account", async () => {
      await setting({ first_factors: { reset: true }, passkeys_allowed: { set: false } });
      const agent = await pages.begin({ prompt: "create" });
      assert.doesNotMatch(agent.last.html, /Create an account/);
      const shown = await agent.open(`/ui/login/register${agent.last.url.search}`);
      assert.equal(shown.status, 403);
      assert.equal(errorOf(shown), "REGISTRATION_OFF");
    });
  });

  it("D56: is refused where it is switched off", async () => {
    await pages.change("login", { allow_register: { set: false } });
    try {
      const agent = await pages.begin();
      assert.doesNotMatch(agent.last.html, /Create an account/);
      const flow = agent.last.url.searchParams.get("flow");
      const shown = await agent.open(`/ui/login/register?flow=${flow}`);
      assert.equal(shown.status, 403);
      assert.equal(errorOf(shown), "REGISTRATION_OFF");
    } finally {
      await pages.change("login", { allow_register: { reset: true } });
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
    const agent = await pages.begin();
    const flow = agent.last.url.searchParams.get("flow");
    await agent.open(`/ui/login/password/forgot?flow=${flow}`);
    const asked = await agent.submit({ login_name: loginName });
    assert.equal(pathOf(asked), "/ui/login/password/reset");
    const { to, code, text } = await pages.lastMail();
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
    const again = await pages.begin();
    await again.open(
      `/ui/login/password/reset?${new URLSearchParams({ login_name: loginName, code }).toString()}`,
    );
    assert.match(
      (await again.submit({ code, new_password: "yet another phrase" })).html,
      /wrong or has expired/,
    );
  });

  it("is asked for by anybody, and so sends no more than one mail, then one a minute later, then ever more seldom", async () => {
    const email = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const { loginName } = await addPersonNamed(peer, {
      contact: { email: { address: email, is_verified: true } },
    });
    const sent = await pages.mails();
    const ask = async () => {
      const agent = await pages.begin();
      await agent.open(`/ui/login/password/forgot?flow=${agent.last.url.searchParams.get("flow")}`);
      const shown = await agent.submit({ login_name: loginName });
      assert.equal(pathOf(shown), "/ui/login/password/reset");
      assert.match((await agent.submit({ resend: "yes" })).html, /on its way/);
      return (await pages.mails()) - sent;
    };
    assert.equal(await ask(), 1);
    peer.pass(61_000);
    assert.equal(await ask(), 2);
    peer.pass(61_000);
    assert.equal(await ask(), 2, "two minutes are not over");
    peer.pass(61_000);
    assert.equal(await ask(), 3);
  });

  it("D50: of nobody, of a machine, and of who has no address looks the same, and sends nothing", async () => {
    const machine = await peer.addMachine(uniqueName("robot").replace(" ", "-"));
    const bare = await addPersonNamed(peer);
    const sent = await pages.mails();
    for (const name of ["nobody@nowhere.test", machine.clientId, bare.loginName]) {
      const agent = await pages.begin();
      await agent.open(`/ui/login/password/forgot?flow=${agent.last.url.searchParams.get("flow")}`);
      const shown = await agent.submit({ login_name: name });
      assert.equal(pathOf(shown), "/ui/login/password/reset");
      assert.match(
        (await agent.submit({ code: "BCDFGHJKLM", new_password: other })).html,
        /wrong or has expired/,
      );
    }
    assert.equal(await pages.mails(), sent);
  });
});
