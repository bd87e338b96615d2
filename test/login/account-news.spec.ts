// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { Authenticator } from "../support/authenticator.ts";
import { addPersonNamed, authorizeUrl, password, signIn } from "../support/login.ts";
import { codeIn, loginPages, type LoginPages, type Mail, pathOf } from "../support/login-pages.ts";
import { noticesSent } from "../support/notices.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { sessionTokenFor } from "../support/session-token.ts";
import { type UserAgent, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let client: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  client = await peer.addClient();
  pages = loginPages(peer, client);
});
after(() => peer[Symbol.asyncDispose]());

const newAddress = () => `${uniqueName("told").replaceAll(" ", "-")}@example.test`;

async function person(more: JsonObject = {}) {
  const address = newAddress();
  const contact = { email: { address, is_verified: true } };
  return { address, ...(await addPersonNamed(peer, { contact, ...more })) };
}

type Person = Awaited<ReturnType<typeof person>>;

async function addPasskey({ id }: Person): Promise<void> {
  const begun = bodyOf(await peer.post(`/users/${id}/webauthn`, { domain: "localhost" }));
  const options = begun.public_key_credential_creation_options;
  const page = { origin: peer.issuer };
  const public_key_credential = new Authenticator().create(options, { page });
  const path = `/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`;
  bodyOf(await peer.post(path, { public_key_credential, web_auth_n_name: "My key" }));
}

async function logIn({ loginName }: Person, agent = userAgent(peer.issuer)): Promise<UserAgent> {
  await agent.open(authorizeUrl(peer, client, { prompt: "login" }));
  const shown = await signIn(agent, loginName);
  codeIn(pathOf(shown) === "/ui/login/verify" ? await agent.submit({ skip: "true" }) : shown);
  return agent;
}

/** What the person was told, the last first. */
async function toldTo({ address }: { address: string }): Promise<Mail[]> {
  await noticesSent(peer.app);
  const { html } = await userAgent(peer.issuer).open("/ui/dev/mail");
  return html
    .split("<article")
    .slice(1)
    .map((article) => ({
      to: /<dd>([^<]*)<\/dd>/.exec(article)?.[1] ?? "",
      subject: /<h2>([^<]*)<\/h2>/.exec(article)?.[1] ?? "",
      code: "",
      text: /<pre>([\s\S]*?)<\/pre>/.exec(article)?.[1] ?? "",
    }))
    .filter(({ to }) => to === address);
}

const subjectsTo = async (of: { address: string }) =>
  (await toldTo(of)).map(({ subject }) => subject);

const linkIn = ({ text }: Mail): string =>
  (/https?:[^\s"]+/.exec(text)?.[0] ?? "").replaceAll("&amp;", "&");

describe("a person is told by mail, once (L5)", () => {
  it("of a log-in in another browser than before, and of nothing in one that is known", async () => {
    const alice = await person();
    const first = await logIn(alice);
    assert.deepEqual(await subjectsTo(alice), []);
    await logIn(alice, first);
    await logIn(alice);
    const told = await toldTo(alice);
    assert.deepEqual(
      told.map(({ subject }) => subject),
      ["A new browser signed in"],
    );
    assert.match(told[0]?.text ?? "", new RegExp(alice.loginName));
  });

  it("of twenty log-ins at once in a new browser by one mail", async () => {
    const alice = await person();
    await logIn(alice);
    const cookies = new Map<string, string>();
    await userAgent(peer.issuer, cookies).open("/ui/login");
    const agents = Array.from({ length: 20 }, () => userAgent(peer.issuer, new Map(cookies)));
    await Promise.all(
      agents.map(async (agent) => {
        await agent.open(authorizeUrl(peer, client));
        await agent.submit({ login_name: alice.loginName });
      }),
    );
    await Promise.all(agents.map((agent) => agent.submit({ password })));
    assert.deepEqual(await subjectsTo(alice), ["A new browser signed in"]);
  });

  it("of a factor that is new, and of one that is removed", async () => {
    const alice = await person();
    const begun = bodyOf(await peer.post(`/users/${alice.id}/totp`));
    const app = new TOTP({ secret: Secret.fromBase32(begun.secret) });
    const code = app.generate({ timestamp: peer.now().getTime() });
    assert.deepEqual(await subjectsTo(alice), []);
    bodyOf(await peer.post(`/users/${alice.id}/totp/${begun.totp_id}/_verify`, code));
    assert.deepEqual(await subjectsTo(alice), ["A new way to sign in was added"]);
    bodyOf(await peer.remove(`/users/${alice.id}/totp/${begun.totp_id}`));
    assert.equal((await subjectsTo(alice))[0], "A way to sign in was removed");
  });

  it("of a password that is another one, whoever sets it, and of the first one where they could log in without", async () => {
    const alice = await person();
    const wanted = "another horse battery staple";
    bodyOf(await peer.post(`/users/${alice.id}/password`, { password: wanted }));
    assert.deepEqual(await subjectsTo(alice), ["Your password was changed"]);
    const own = { password: "a third horse of batteries", current_password: wanted };
    const token = await sessionTokenFor(peer.app, alice.id, { methods: ["password"] });
    bodyOf(await peer.post(`/users/${alice.id}/password`, own, { token }));
    assert.equal((await subjectsTo(alice)).length, 2);
    const added = "A new way to sign in was added";
    await addPasskey(alice);
    bodyOf(await peer.remove(`/users/${alice.id}/password`));
    bodyOf(await peer.post(`/users/${alice.id}/password`, { password: wanted }));
    const [first, second, third] = await subjectsTo(alice);
    assert.deepEqual([first, second, third], [added, "A way to sign in was removed", added]);
  });

  it("of recovery codes that are new, and of their end", async () => {
    const alice = await person();
    bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const [mail, ...others] = await toldTo(alice);
    assert.ok(mail !== undefined);
    assert.deepEqual([mail.subject, others], ["New recovery codes were made", []]);
    assert.match(linkIn(mail), /\/ui\/login\/notme\?/);
    bodyOf(await peer.remove(`/users/${alice.id}/recovery_codes`));
    assert.equal((await subjectsTo(alice))[0], "A way to sign in was removed");
  });

  it("of a recovery code that was used", async () => {
    const alice = await person();
    const { recovery_codes } = bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const checks = { user: { user_id: alice.id }, recovery_code: { code: recovery_codes[0] } };
    bodyOf(await peer.post("/sessions", { checks }), 201);
    const made = "New recovery codes were made";
    assert.deepEqual(await subjectsTo(alice), ["A recovery code was used", made]);
  });

  it("of an address that an administrator put in the place of a proven one, at the former one", async () => {
    const alice = await person();
    const changed = { address: newAddress(), is_verified: true };
    bodyOf(await peer.put(`/users/${alice.id}/email`, changed));
    assert.deepEqual(await subjectsTo(alice), ["Your e-mail address was changed"]);
    assert.deepEqual(await subjectsTo(changed), []);
  });

  it("of an app that may come back while nobody is there, and of nothing when it gets less", async () => {
    const alice = await person();
    const openid = "openid urn:idsvc:iam:org:project:id:idsvc:aud";
    const agent = userAgent(peer.issuer);
    await agent.open(authorizeUrl(peer, client, { scope: openid }));
    assert.equal(pathOf(await signIn(agent, alice.loginName)), "/ui/login/consent");
    await agent.submit({ consent: "allow" });
    assert.deepEqual(await subjectsTo(alice), []);
    const scope = `${openid} offline_access`;
    assert.equal(
      pathOf(await agent.open(authorizeUrl(peer, client, { scope, prompt: "consent" }))),
      "/ui/login/consent",
    );
    await agent.submit({ consent: "allow" });
    assert.deepEqual(await subjectsTo(alice), ["An application was given lasting access"]);
  });

  it("of nothing where they have proven no address", async () => {
    const address = newAddress();
    const alice = { address, ...(await addPersonNamed(peer, { contact: { email: { address } } })) };
    const sent = (await toldTo(alice)).length;
    await logIn(alice);
    await logIn(alice);
    assert.equal((await toldTo(alice)).length, sent);
  });
});

describe("the link of a notice: it was not me (L5)", () => {
  /** A person whose new password somebody has set, with a browser in which they are signed in. */
  async function told() {
    const alice = await person();
    const agent = await logIn(alice);
    await logIn(alice);
    const [mail] = await toldTo(alice);
    assert.ok(mail !== undefined);
    return { alice, agent, link: linkIn(mail) };
  }

  const living = async ({ id }: Person): Promise<number> =>
    bodyOf(await peer.post("/sessions/_search", [{ user_id: id }])).result.length;

  it("ends all sessions by a button, and leads to a new password", async () => {
    const { alice, agent, link } = await told();
    const other = userAgent(peer.issuer);
    const shown = await other.open(link);
    assert.equal(pathOf(shown), "/ui/login/notme");
    assert.doesNotMatch(shown.html, new RegExp(alice.loginName));
    assert.equal(await living(alice), 2, "whoever only looks at it ends nothing");
    const done = await other.submit({});
    assert.equal(pathOf(done), "/ui/login/password/forgot");
    assert.match(done.html, new RegExp(`value="${alice.loginName}`));
    assert.match(done.html, /signed out everywhere/i);
    assert.equal(await living(alice), 0);
    assert.equal(pathOf(await agent.open("/ui/account")), "/ui/login/loginname");
    assert.equal(
      pathOf(await other.submit({ login_name: alice.loginName })),
      "/ui/login/password/reset",
    );
    assert.equal((await pages.lastMail()).to, alice.address);
  });

  it("counts once", async () => {
    const { alice, link } = await told();
    const agent = userAgent(peer.issuer);
    await agent.open(link);
    await agent.submit({});
    await logIn(alice);
    const again = userAgent(peer.issuer);
    await again.open(link);
    const refused = await again.submit({});
    assert.equal(pathOf(refused), "/ui/login/notme");
    assert.match(refused.html, /counts no more/);
    assert.equal(await living(alice), 1);
  });

  it("counts for three days, and for nobody else", async () => {
    const { alice, link } = await told();
    const bob = await person();
    await logIn(bob);
    const forged = new URL(link);
    forged.searchParams.set("user_id", bob.id);
    const agent = userAgent(peer.issuer);
    await agent.open(forged);
    assert.match((await agent.submit({})).html, /counts no more/);
    assert.equal(await living(bob), 1);
    peer.pass(72 * 3_600_000 + 1);
    const late = userAgent(peer.issuer);
    await late.open(link);
    assert.match((await late.submit({})).html, /counts no more/);
    assert.ok(alice.id);
  });

  it("sends nothing to an address that took the place of theirs", async () => {
    const alice = await person();
    const changed = { address: newAddress(), is_verified: true };
    bodyOf(await peer.put(`/users/${alice.id}/email`, changed));
    const [mail] = await toldTo(alice);
    assert.ok(mail !== undefined);
    const agent = userAgent(peer.issuer);
    await agent.open(linkIn(mail));
    const done = await agent.submit({});
    assert.equal(pathOf(done), "/ui/login/loginname");
    assert.match(done.html, /tell whoever runs this service/);
    assert.deepEqual(await toldTo(changed), []);
  });
});
