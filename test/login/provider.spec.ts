// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl, password, signIn } from "../support/login.ts";
import { codeIn, pathOf } from "../support/login-pages.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { errorOf } from "../support/user-agent.ts";
import { type ProviderWorld, startProviderWorld } from "./provider-world.ts";

let world: ProviderWorld;
before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());
beforeEach(() => world.fake.reset());

const linksOf = async (userId: string) =>
  bodyOf(await world.peer.post(`/users/${userId}/idps/_search`)).result ?? [];
const userOf = async (userId: string) => bodyOf(await world.peer.get(`/users/${userId}`)).user.user;
const mailOf = (name: string) => `${uniqueName(name).replace(" ", "")}@example.test`;

describe("the first login with an identity provider", () => {
  it("creates an account by itself where the options say so, and finds it again", async () => {
    const { fake } = world;
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const shown = await world.logIn(idpId);
    const { sub, amr } = await world.claimsOf(shown);
    assert.deepEqual(amr, ["ext"]);
    const { data, contact } = await userOf(sub);
    assert.equal(data.given_name, "Mona");
    assert.deepEqual(contact.email, {
      address: fake.script.user["email"],
      is_verified: true,
    });
    const [{ idp_id, user_id, username }] = await linksOf(sub);
    assert.deepEqual(
      { idp_id, user_id, username },
      {
        idp_id: idpId,
        user_id: fake.script.user.sub,
        username: fake.script.user["preferred_username"],
      },
    );
    assert.equal((await world.claimsOf(await world.logIn(idpId))).sub, sub);
  });

  it("asks for a code where the provider does not prove the address", async () => {
    const email = mailOf("unproven");
    world.fake.reset({ email, email_verified: false });
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const agent = await world.begin();
    assert.equal(pathOf(await world.through(agent, idpId)), "/ui/login/verify");
    const { to, code } = await world.pages.lastMail();
    assert.equal(to, email);
    codeIn(await agent.submit({ code }));
  });

  it("has an address that was mistyped corrected, and asks once a log-in where mail is a way to sign in", async () => {
    const email = mailOf("mistyped");
    world.fake.reset({ email, email_verified: false });
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const agent = await world.begin();
    await world.through(agent, idpId);
    const right = mailOf("right");
    assert.match((await agent.submit({ email: "none" })).html, /This is not an e.mail address/);
    assert.match((await agent.submit({ email: right })).html, new RegExp(right));
    assert.equal((await world.pages.lastMail()).to, right);
    assert.equal(pathOf(await world.logIn(idpId)), "/ui/login/verify");
    await world.pages.change("login", { allow_username_password: { set: false } });
    try {
      codeIn(await world.logIn(idpId));
    } finally {
      await world.pages.change("login", { allow_username_password: { reset: true } });
    }
    codeIn(await agent.submit({ code: (await world.pages.lastMail()).code }));
    codeIn(await world.logIn(idpId));
  });

  it("shows a form with what it was told, where accounts may be made by hand", async () => {
    world.fake.reset({ family_name: undefined, name: undefined });
    const idpId = await world.addForgeB({
      options: { is_creation_allowed: true, is_auto_creation: true },
    });
    const agent = await world.begin();
    const form = await world.through(agent, idpId);
    assert.equal(pathOf(form), "/ui/login/idp/register");
    assert.match(form.html, /name="given_name"[^>]*value="Mona"/);
    const email = String(world.fake.script.user["email"]);
    assert.match(form.html, new RegExp(`name="email"[^>]*value="${email}"`));
    assert.match((await agent.submit({ given_name: "Mona", email })).html, /Please fill in this/);
    const done = await agent.submit({ given_name: "Mona", family_name: "Lisa", email });
    const { sub } = await world.claimsOf(done);
    assert.equal((await linksOf(sub)).length, 1);
  });

  it("takes another name where somebody has it", async () => {
    const username = uniqueName("owner").replace(" ", "-");
    await addPersonNamed(world.peer, { username });
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    world.fake.reset({ preferred_username: username });
    const { sub } = await world.claimsOf(await world.logIn(idpId));
    assert.match((await userOf(sub)).username, new RegExp(`^${username}-\\d+$`));
  });

  it("is refused where nothing makes an account, and nobody gets a session", async () => {
    const idpId = await world.addForgeB();
    const counts = [await world.userCount(), await world.sessionCount()];
    const shown = await world.logIn(idpId);
    assert.equal(shown.status, 403);
    assert.equal(errorOf(shown), "PROVIDER_NO_ACCOUNT");
    assert.deepEqual([await world.userCount(), await world.sessionCount()], counts);
  });
});

describe("an account at a provider that nobody has linked", () => {
  it("is linked to who authenticates then, for good", async () => {
    const idpId = await world.addForgeB({ options: { is_linking_allowed: true } });
    const person = await addPersonNamed(world.peer);
    const agent = await world.begin();
    const asked = await world.through(agent, idpId);
    assert.equal(pathOf(asked), "/ui/login/idp/account");
    assert.doesNotMatch(asked.html, /value="create"/);
    await agent.submit({ do: "link" });
    const done = await signIn(agent, person.loginName);
    assert.equal((await world.claimsOf(done)).sub, person.id);
    assert.equal((await linksOf(person.id)).length, 1);
    assert.equal((await world.claimsOf(await world.logIn(idpId))).sub, person.id);
  });

  it("is not linked by the session that a browser has: its user authenticates anew", async () => {
    const idpId = await world.addForgeB({ options: { is_linking_allowed: true } });
    const person = await addPersonNamed(world.peer);
    const agent = await world.begin();
    codeIn(await signIn(agent, person.loginName));
    const { peer, app } = world;
    await agent.open(authorizeAgain(peer.issuer, app.clientId));
    await world.through(agent, idpId);
    await agent.submit({ do: "link" });
    const shown = await agent.submit({ login_name: person.loginName });
    assert.equal(pathOf(shown), "/ui/login/password");
    assert.deepEqual(await linksOf(person.id), []);
    codeIn(await agent.submit({ password }));
    assert.equal((await linksOf(person.id)).length, 1);
  });

  it("is refused to who has another account of the provider", async () => {
    const idpId = await world.addForgeB({ options: { is_linking_allowed: true } });
    const person = await addPersonNamed(world.peer);
    const link = { idp_id: idpId, user_id: "another", username: "another" };
    bodyOf(await world.peer.post(`/users/${person.id}/idps`, { link }));
    const agent = await world.begin();
    await world.through(agent, idpId);
    await agent.submit({ do: "link" });
    const shown = await signIn(agent, person.loginName);
    assert.equal(errorOf(shown), "PROVIDER_NOT_LINKED");
    assert.match(shown.html, /IDP_LINK_EXISTS/);
    assert.equal((await linksOf(person.id)).length, 1);
    // The login can go on, without the account.
    const [, again = ""] = /href="([^"]*)">Try another way/.exec(shown.html) ?? [];
    await agent.open(again.replaceAll("&amp;", "&"));
    codeIn(await signIn(agent, person.loginName));
    assert.equal((await linksOf(person.id)).length, 1);
  });
});

describe("auto linking", () => {
  const person = async (email: string) =>
    addPersonNamed(world.peer, { contact: { email: { address: email, is_verified: true } } });

  for (const by of ["EMAIL", "USERNAME"]) {
    it(`proposes the one user whom it means, by ${by}, and only them`, async () => {
      const idpId = await world.addForgeB({
        options: { auto_linking: `AUTO_LINKING_OPTION_${by}` },
      });
      const email = mailOf("linked");
      const meant = await person(email);
      const other = await addPersonNamed(world.peer);
      world.fake.reset(by === "EMAIL" ? { email } : { preferred_username: meant.loginName });
      const wrong = await world.begin();
      const asked = await world.through(wrong, idpId);
      assert.equal(pathOf(asked), "/ui/login/idp/account");
      assert.match(asked.html, /seems to be yours/);
      await wrong.submit({ do: "link" });
      const refused = await signIn(wrong, other.loginName);
      assert.equal(errorOf(refused), "PROVIDER_NOT_LINKED");
      assert.match(refused.html, /IDP_LINKING_OFF/);
      const agent = await world.begin();
      await world.through(agent, idpId);
      await agent.submit({ do: "link" });
      assert.equal((await world.claimsOf(await signIn(agent, meant.loginName))).sub, meant.id);
      assert.equal((await linksOf(meant.id)).length, 1);
      assert.deepEqual(await linksOf(other.id), []);
    });
  }

  for (const [what, claims] of Object.entries({
    "email_verified is false": { email_verified: false },
    "email_verified is missing": { email_verified: undefined },
    'email_verified is the text "true"': { email_verified: "true" },
    "email_verified is 1": { email_verified: 1 },
  })) {
    it(`D60: proposes nobody where ${what}`, async () => {
      const email = mailOf("victim");
      const { id } = await person(email);
      world.fake.reset({ email, ...claims });
      const idpId = await world.addForgeB({
        options: { auto_linking: "AUTO_LINKING_OPTION_EMAIL" },
      });
      const sessions = await world.sessionCount();
      const shown = await world.logIn(idpId);
      assert.equal(errorOf(shown), "PROVIDER_NO_ACCOUNT");
      assert.deepEqual(await linksOf(id), []);
      assert.equal(await world.sessionCount(), sessions);
    });
  }

  it("D60: proposes nobody where the address is not verified here, or two have it", async () => {
    const [unproven, twice] = [mailOf("unproven"), mailOf("twice")];
    const some = [
      await addPersonNamed(world.peer, { contact: { email: { address: unproven } } }),
      await person(twice),
      await person(twice),
    ];
    const idpId = await world.addForgeB({
      options: { auto_linking: "AUTO_LINKING_OPTION_EMAIL" },
    });
    for (const email of [unproven, twice]) {
      world.fake.reset({ email });
      assert.equal(errorOf(await world.logIn(idpId)), "PROVIDER_NO_ACCOUNT", email);
    }
    for (const { id } of some) assert.deepEqual(await linksOf(id), []);
  });
});

describe("a login with a provider", () => {
  it("brings the account up to date where the options say so", async () => {
    const idpId = await world.addForgeB({
      options: { is_auto_creation: true, is_auto_update: true },
    });
    const { sub } = await world.claimsOf(await world.logIn(idpId));
    const email = mailOf("moved");
    Object.assign(world.fake.script.user, { given_name: "Monna", email });
    await world.logIn(idpId);
    const found = await userOf(sub);
    assert.equal(found.data.given_name, "Monna");
    assert.deepEqual(found.contact.email, { address: email, is_verified: true });
  });

  it("asks the provider for a fresh proof where the app does, and wants one", async () => {
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const { fake } = world;
    codeIn(await world.logIn(idpId, { prompt: "login" }));
    const asked = fake.asked.at(-1);
    assert.equal(asked?.get("prompt"), "login");
    assert.equal(asked?.get("max_age"), "0");
    fake.script.idToken = { auth_time: Math.floor(Date.now() / 1_000) - 3_600 };
    const shown = await world.logIn(idpId, { prompt: "login" });
    assert.equal(errorOf(shown), "PROVIDER_FAILED");
    assert.match(shown.html, /did not prove who they are anew/);
  });

  it("goes straight to the provider that the scope names, with the hint of the app", async () => {
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const scope = `openid urn:idsvc:iam:org:idp:id:${idpId}`;
    const agent = await world.begin({ scope, login_hint: "mona@example.test" });
    assert.equal(pathOf(agent.last), "/ui/login/idp");
    const refresh = agent.last.headers.get("refresh") ?? "";
    const at = new URL(refresh.replace(/^0; url=/, ""));
    assert.equal(at.origin, world.fake.issuer);
    assert.equal(at.searchParams.get("login_hint"), "mona@example.test");
    codeIn(await agent.open(await world.visit(at)));
  });

  it("counts as one factor: force_mfa asks for another", async () => {
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    await world.pages.change("login", { force_mfa: { set: true } });
    try {
      assert.equal(pathOf(await world.logIn(idpId)), "/ui/login/mfa/setup");
    } finally {
      await world.pages.change("login", { force_mfa: { reset: true } });
    }
  });

  it("counts as two factors where its option says so, in tokens too", async () => {
    const options = { is_auto_creation: true, is_second_factor: true };
    const idpId = await world.addForgeB({ options });
    await world.pages.change("login", { force_mfa: { set: true } });
    try {
      const { amr } = await world.claimsOf(await world.logIn(idpId));
      assert.deepEqual(amr, ["ext", "mfa"]);
    } finally {
      await world.pages.change("login", { force_mfa: { reset: true } });
    }
  });

  it("leads to the password of who has one, where the app asks for that much", async () => {
    const username = uniqueName("both").replace(" ", "-");
    const { id, loginName } = await addPersonNamed(world.peer, { username });
    const idpId = await world.addForgeB();
    const { sub } = world.fake.script.user;
    const link = { idp_id: idpId, user_id: sub, username };
    bodyOf(await world.peer.post(`/users/${id}/idps`, { link }));
    const agent = await world.begin();
    const { acr } = await world.claimsOf(await world.through(agent, idpId));
    assert.equal(acr, "urn:idsvc:acr:provider");
    const asked = { acr_values: "urn:idsvc:acr:password", max_age: "300" };
    await agent.open(authorizeUrl(world.peer, world.app, asked));
    assert.equal(pathOf(agent.last), "/ui/login/password", loginName);
    const shown = await agent.submit({ password });
    assert.equal((await world.claimsOf(shown)).acr, asked.acr_values);
  });

  it("that the user cancels leads back to the first page, which says so", async () => {
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    world.fake.script.error = "access_denied";
    const shown = await world.logIn(idpId);
    assert.equal(pathOf(shown), "/ui/login/loginname");
    assert.match(shown.html, /was cancelled/);
  });

  it("passes the points of executions, which may refuse the account", async () => {
    const told: { function: string; user?: { data?: { given_name?: string } } }[] = [];
    let answer: object = {};
    const receiver = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      request.on("end", () => {
        told.push(JSON.parse(body));
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      });
    });
    await once(receiver.listen(0, "127.0.0.1"), "listening");
    const { post, remove } = world.peer;
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const target = { rest_request_response: { url }, interrupt_on_error: true };
    const made = bodyOf(await post("/targets", { name: uniqueName("target"), ...target }), 201);
    const points = ["precreation", "postcreation", "postauthentication"];
    const ids: string[] = [];
    for (const name of points) {
      const put = { condition: { function: name }, targets: [made.details.id] };
      ids.push(bodyOf(await post("/executions", put), 201).details.id);
    }
    try {
      const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
      codeIn(await world.logIn(idpId));
      assert.deepEqual(
        told.map((each) => each.function),
        points,
      );
      assert.equal(told[0]?.user?.data?.given_name, "Mona");
      answer = { forwardedStatusCode: 403, forwardedErrorMessage: "members only" };
      world.fake.reset();
      const count = await world.userCount();
      const refused = await world.logIn(idpId);
      assert.equal(refused.status, 403);
      assert.equal(errorOf(refused), "NOT_ALLOWED");
      assert.equal(await world.userCount(), count);
    } finally {
      for (const id of ids) await remove(`/executions/${encodeURIComponent(id)}`);
      receiver.close();
    }
  });

  it("ends with the link: who was unlinked is a stranger", async () => {
    const idpId = await world.addForgeB({ options: { is_auto_creation: true } });
    const { sub } = await world.claimsOf(await world.logIn(idpId));
    bodyOf(await world.peer.remove(`/users/${sub}/idps/${idpId}`));
    assert.notEqual((await world.claimsOf(await world.logIn(idpId))).sub, sub);
  });
});

const authorizeAgain = (issuer: string, client_id: string) =>
  `${issuer}/oauth/v2/authorize?${new URLSearchParams({
    client_id,
    redirect_uri: "https://rp.test/cb",
    response_type: "code",
    scope: "openid",
    prompt: "select_account",
  })}`;
