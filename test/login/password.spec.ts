// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  addUser,
  builtInData,
  changePassword,
  passwordSecret,
  user,
} from "../../src/resources/user/index.ts";
import { addPersonNamed, authorizeUrl, password, signedIn, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { uniqueName } from "../support/peer.ts";
import { answerOf } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

describe("login name and password", () => {
  it("lead back to the app with a code, also without scripts", async () => {
    const alice = await addPersonNamed(peer);
    const agent = await pages.begin();
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
      codeIn(await signIn(await pages.begin(), typed));
    }
  });

  it("a verified e-mail address or phone number is enough too, for who had it first (J9)", async () => {
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const email = { address, is_verified: true };
    const phone = { number: "+41791234567", is_verified: true };
    await addPersonNamed(peer, { contact: { email, phone } });
    for (const typed of [address, address.toUpperCase(), "+41 79 123 45 67"]) {
      codeIn(await signIn(await pages.begin(), typed));
    }
    // Whoever has it later, with another password, takes nothing from who had it first.
    const other = "quite other words here";
    const authenticators = { password: { password: other } };
    await addPersonNamed(peer, { contact: { email }, authenticators });
    const shared = await pages.begin();
    await shared.submit({ login_name: address });
    const later = await shared.submit({ password: other });
    assert.match(later.html, /Login name or password is wrong/);
    codeIn(await signIn(shared, address));
    const unproven = `${uniqueName("mail").replace(" ", "")}@example.test`;
    await addPersonNamed(peer, { contact: { email: { address: unproven } } });
    const refused = await signIn(await pages.begin(), unproven);
    assert.match(refused.html, /Login name or password is wrong/);
  });

  it("an unknown name is nobody's, also where an older store has a user with the id 0 (J7)", async () => {
    const { kernel, made } = peer.app;
    const [id, organizationId] = ["0", made.organization_id];
    const by = { instanceId: made.instance_id, editorId: id, service: "test", clientId: "" };
    await kernel.events.transact({ ...by, requestId: "test" }, async (tx) => {
      const loaded = tx.begin(user, id);
      const person = { ...builtInData("human", { given_name: "Nil" }), organizationId };
      const added = addUser(loaded, { ...person, username: "zero" });
      tx.record(user, loaded, added, { type: "org", id: organizationId });
      const at = { instanceId: made.instance_id, userId: id };
      tx.record(user, loaded, changePassword(loaded.state, false));
      tx.write(await passwordSecret(kernel.secrets, at, password, tx.now));
    });
    codeIn(await signIn(await pages.begin(), "zero"));
    const refused = await signIn(await pages.begin(), "nobody-of-this-name");
    assert.match(refused.html, /Login name or password is wrong/);
  });

  it("login_hint stands in the field, escaped", async () => {
    const agent = await pages.begin({ login_hint: `"><script>alert(1)</script>@x` });
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
      const agent = await pages.begin();
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
    const agent = await pages.begin();
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
    codeIn(await signIn(await pages.begin(), alice.loginName));
  });

  it("allow_username_password off: neither page takes anything (D56)", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    await agent.submit({ login_name: loginName });
    const earlier = await pages.begin();
    await pages.change("login", { allow_username_password: { set: false } });
    try {
      assert.equal((await agent.submit({ password })).status, 404);
      assert.equal((await earlier.submit({ login_name: loginName })).status, 404);
      assert.doesNotMatch((await pages.begin()).last.html, /id="login-name"/);
    } finally {
      await pages.change("login", { allow_username_password: { reset: true } });
    }
  });

  it("ignore_unknown_usernames off: an unknown name is told at once", async () => {
    await pages.change("login", { ignore_unknown_usernames: { set: false } });
    try {
      const shown = await (await pages.begin()).submit({ login_name: "nobody@nowhere.test" });
      assert.equal(pathOf(shown), "/ui/login/loginname");
      assert.match(shown.html, /Login name or password is wrong/);
    } finally {
      await pages.change("login", { ignore_unknown_usernames: { reset: true } });
    }
  });

  it("a password that must be changed is changed on the way", async () => {
    const must = { password: { password, change_required: true } };
    const { loginName } = await addPersonNamed(peer, { authenticators: must });
    const agent = await pages.begin();
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

describe("the login that is limited to an organization", () => {
  it("D39: lets in nobody of another one, and says no more than for a wrong password", async () => {
    const organization = await peer.addOrganization();
    const scope = `openid urn:idsvc:iam:org:id:${organization}`;
    const outsider = await addPersonNamed(peer);
    const agent = await pages.begin({ scope });
    const shown = await signIn(agent, outsider.loginName);
    assert.equal(shown.left, undefined);
    assert.match(shown.html, /Login name or password is wrong/);
    const elsewhere = await signedIn(peer, web, outsider.loginName);
    const silent = await elsewhere.open(authorizeUrl(peer, web, { scope, prompt: "none" }));
    assert.equal(answerOf(silent).get("error"), "login_required");
  });
});
