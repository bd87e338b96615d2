// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl, password, signIn } from "../support/login.ts";
import { codeIn, type LoginPages, loginPages, pathOf } from "../support/login-pages.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { noticesSent } from "../support/notices.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { errorOf, inLanguage, type Shown, userAgent } from "../support/user-agent.ts";
import { codesOf, personWhoMustSetUp, personWithTotp } from "./people.ts";

let peer: OidcPeer;
let web: MadeClient;
let pages: LoginPages;

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  pages = loginPages(peer, web);
});
after(() => peer[Symbol.asyncDispose]());

/** Where a link of a page leads, by its text. */
function linkIn({ html }: Shown, label: string): string {
  const [, href = ""] =
    [...html.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g)].find(([, , text = ""]) =>
      text.replaceAll(/<[^>]*>/g, "").includes(label),
    ) ?? [];
  assert.notEqual(href, "", `no link ${label}: ${html}`);
  return href.replaceAll("&amp;", "&");
}

describe("another way to prove oneself", () => {
  it("is each that the person has, a recovery code beside an authenticator app too", async () => {
    const alice = await personWithTotp(peer);
    const made = bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const agent = await pages.begin();
    const asked = await signIn(agent, alice.loginName);
    assert.equal(pathOf(asked), "/ui/login/mfa/totp");
    const choice = await agent.open(linkIn(asked, "Try another way"));
    assert.equal(pathOf(choice), "/ui/login/mfa");
    assert.match(choice.html, /value="totp"/);
    // In another language it is the same page.
    const german = await agent.open(inLanguage(choice, "de"));
    assert.equal(pathOf(german), "/ui/login/mfa");
    const recovery = await agent.submit({ factor: "recovery" });
    assert.equal(pathOf(recovery), "/ui/login/mfa/recovery");
    codeIn(await agent.submit({ code: made.recovery_codes?.[0] ?? "" }));
  });

  it("is not offered where there is none", async () => {
    const alice = await personWithTotp(peer);
    const agent = await pages.begin();
    assert.doesNotMatch((await signIn(agent, alice.loginName)).html, /Try another way/);
  });
});

describe("recovery codes that were just made", () => {
  /** The page that shows them. */
  async function atCodes() {
    const agent = await pages.begin();
    await signIn(agent, await personWhoMustSetUp(peer));
    const shown = await agent.submit({ factor: "totp" });
    const secret = [...shown.html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)].map(
      ([, part]) => part,
    );
    const code = codesOf(peer, secret.join(""))();
    return { agent, before: shown.url, first: await agent.submit({ code }) };
  }

  const codesIn = ({ html }: Shown) =>
    [...html.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, one = ""]) => one);

  it("are shown again by reload and Back until their owner has saved them, and then no more", async () => {
    const { agent, before: earlier, first } = await atCodes();
    const codes = codesIn(first);
    assert.equal(codes.length, 10);
    for (const address of [
      first.url,
      earlier,
      new URL(`/ui/login${first.url.search}`, first.url),
    ]) {
      const again = await agent.open(address);
      assert.equal(pathOf(again), "/ui/login/mfa/setup/recovery");
      assert.deepEqual(codesIn(again), codes);
    }
    const file = await agent.open(linkIn(first, "Save as a file"));
    assert.match(file.headers.get("content-disposition") ?? "", /^attachment; filename=/);
    assert.deepEqual(
      file.html.split("\r\n").filter((line) => codes.includes(line)),
      codes,
    );
    await agent.open(first.url);
    assert.equal(pathOf(await agent.submit({})), "/ui/login/consent");
    assert.equal(pathOf(await agent.open(first.url)), "/ui/login/consent");
    codeIn(await agent.submit({ consent: "allow" }));
  });

  it("are of the browser and the session that made them", async () => {
    const { agent, first } = await atCodes();
    const stranger = await pages.begin();
    assert.equal((await stranger.open(first.url)).status, 400);
    // Whoever is named next in the flow is somebody else, as far as it knows.
    await agent.open(new URL(`/ui/login/loginname${first.url.search}`, first.url));
    await agent.submit({ login_name: (await personWithTotp(peer)).loginName });
    assert.equal(pathOf(await agent.open(first.url)), "/ui/login/password");
    assert.equal((await agent.open(authorizeUrl(peer, web, { prompt: "login" }))).status, 200);
  });
});

describe("a way on", () => {
  it("leads from a flow that has ended, is nobody's or another browser's to a new one", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const { url } = agent.last;
    const left = await signIn(agent, loginName);
    codeIn(left);
    const ended = await agent.open(url);
    assert.equal(errorOf(ended), "FLOW_NOT_FOUND");
    assert.equal(new URL(linkIn(ended, "Back to"), url).pathname, "/");
    assert.equal(pathOf(await agent.open(linkIn(ended, "Begin anew"))), "/ui/account");
    for (const stranger of [userAgent(peer.issuer), await pages.begin()]) {
      const refused = await stranger.open(url);
      assert.equal(errorOf(refused), "FLOW_NOT_FOUND");
      assert.equal(
        pathOf(await stranger.open(linkIn(refused, "Begin anew"))),
        "/ui/login/loginname",
      );
    }
  });

  it("leads from a page that the flow is not at to where it is", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    await agent.submit({ login_name: loginName });
    const { search } = agent.last.url;
    for (const page of ["mfa", "mfa/totp", "mfa/recovery", "mfa/setup", "consent"]) {
      assert.equal(pathOf(await agent.open(`/ui/login/${page}${search}`)), "/ui/login/password");
    }
  });

  it("leads from a form that is out of date, as its cookie was renewed, back into its flow", async () => {
    const { loginName } = await addPersonNamed(peer);
    const one = await pages.begin();
    const other = userAgent(peer.issuer, one.cookies);
    await other.open(authorizeUrl(peer, web, { prompt: "login" }));
    await other.submit({ login_name: loginName });
    await signIn(one, loginName);
    const refused = await other.submit({ password });
    assert.equal(errorOf(refused), "FORM_REFUSED");
    assert.equal(pathOf(await other.open(linkIn(refused, "Continue"))), "/ui/login/password");
    codeIn(await other.submit({ password }));
  });

  it("is for whoever is named to be somebody else, on every page of a login", async () => {
    const alice = await personWithTotp(peer);
    const bob = await addPersonNamed(peer);
    const agent = await pages.begin();
    const asked = await signIn(agent, alice.loginName);
    await agent.open(linkIn(asked, "Not you?"));
    await agent.submit({ login_name: bob.loginName });
    codeIn(await agent.submit({ password }));
  });
});

describe("a login without an app", () => {
  it("ends with a page that a signed-in person comes to from the bare address, and leaves by its links", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = userAgent(peer.issuer);
    await agent.open("/");
    const done = await signIn(agent, loginName);
    assert.equal(pathOf(done), "/ui/account");
    for (const address of ["/", "/ui/login", "/ui/login/"]) {
      assert.equal(pathOf(await agent.open(address)), "/ui/account");
    }
    const chosen = await agent.open(linkIn(agent.last, "Switch account"));
    assert.equal(pathOf(chosen), "/ui/login/accounts");
    assert.equal(
      pathOf(await agent.open(linkIn(chosen, "Use another account"))),
      "/ui/login/loginname",
    );
    const asked = await agent.open(linkIn(done, "Sign out"));
    assert.equal(pathOf(asked), "/ui/login/logout");
    await agent.submit({});
    assert.equal(pathOf(await agent.open("/")), "/ui/login/loginname");
  });

  it("is not begun again by a default redirect to this service", async () => {
    const { loginName } = await addPersonNamed(peer);
    await pages.change("login", { default_redirect_uri: { set: `${peer.issuer}/` } });
    try {
      const agent = userAgent(peer.issuer);
      await agent.open("/ui/login");
      assert.equal(pathOf(await signIn(agent, loginName)), "/ui/account");
    } finally {
      await pages.change("login", { default_redirect_uri: { reset: true } });
    }
  });
});

describe("what was typed", () => {
  const valueIn = ({ html }: Shown, name: string) =>
    new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(html)?.[1];

  it("is there again on the page that somebody goes back to", async () => {
    const agent = await pages.begin();
    const registering = await agent.open(linkIn(agent.last, "Create an account"));
    const typed = { given_name: "Ada", family_name: "King", email: "ada@exampel.test" };
    await agent.submit(typed);
    const back = await agent.open(registering.url);
    for (const [name, value] of Object.entries(typed)) assert.equal(valueIn(back, name), value);

    const other = await pages.begin();
    const named = other.last;
    await other.submit({ login_name: "grace" });
    assert.equal(valueIn(await other.open(named.url), "login_name"), "grace");
    await other.open(`/ui/login/password${new URL(other.last.url).search}`);
    const forgotten = await other.open(linkIn(other.last, "Forgot your password?"));
    await other.submit({ login_name: "hopper" });
    assert.equal(valueIn(await other.open(forgotten.url), "login_name"), "hopper");
  });
});

describe("an e-mail address that nobody has proven", () => {
  async function unproven() {
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const person = await addPersonNamed(peer, { contact: { email: { address } } });
    await noticesSent(peer.app);
    return { ...person, address };
  }

  it("is asked for once a log-in, which goes on without; nothing is sent before somebody wants it", async () => {
    const { loginName, address } = await unproven();
    const sent = await pages.mails();
    for (const _ of ["first", "second"]) {
      const agent = await pages.begin();
      const asked = await signIn(agent, loginName);
      assert.equal(pathOf(asked), "/ui/login/verify");
      assert.match(asked.html, new RegExp(address));
      assert.doesNotMatch(asked.html, /name="code"/);
      codeIn(await agent.submit({ skip: "true" }));
      // Whoever is signed in already is let in without a log-in, and without a question.
      codeIn(await agent.open(authorizeUrl(peer, web)));
    }
    assert.equal(await pages.mails(), sent);
  });

  it("is proven by a code that is sent, and asked for no more", async () => {
    const { loginName } = await unproven();
    const agent = await pages.begin();
    await signIn(agent, loginName);
    const waiting = await agent.submit({ resend: "true" });
    assert.match(waiting.html, /name="code"/);
    assert.match((await agent.submit({ code: "WRONG" })).html, /This code is wrong/);
    codeIn(await agent.submit({ code: (await pages.lastMail()).code }));
    const again = await pages.begin();
    codeIn(await signIn(again, loginName));
  });
});

describe("what is wrong with a form", () => {
  it("stands beside the field, and nothing is judged of a form that is empty", async () => {
    const { loginName } = await addPersonNamed(peer);
    const agent = await pages.begin();
    const isMissing = (shown: Shown) => {
      assert.match(shown.html, /<form[^>]* novalidate/);
      assert.match(shown.html, /Please fill in this field/);
    };
    isMissing(await agent.submit({ login_name: "" }));
    await agent.submit({ login_name: loginName });
    const count = await peer.eventCount();
    isMissing(await agent.submit({ password: "" }));
    assert.equal(await peer.eventCount(), count);
    await agent.open(linkIn(agent.last, "Forgot your password?"));
    isMissing(await agent.submit({ login_name: "" }));
    await agent.submit({ login_name: loginName });
    isMissing(await agent.submit({ code: "", new_password: "" }));
  });

  it("asks for no new code where none is sent: of an app, of recovery codes", async () => {
    const alice = await personWithTotp(peer);
    bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const agent = await pages.begin();
    await signIn(agent, alice.loginName);
    const wrong = await agent.submit({ code: "000000" });
    assert.match(wrong.html, /Enter the one that your app shows now/);
    assert.doesNotMatch(wrong.html, /ask for a new one/);
    await agent.open(linkIn(wrong, "Try another way"));
    await agent.submit({ factor: "recovery" });
    assert.match((await agent.submit({ code: "no-code" })).html, /was used already/);
  });

  it("is said in no English sentence on the pages of other languages", async () => {
    for (const language of ["de", "ja"]) {
      const agent = userAgent(peer.issuer, new Map(), { "accept-language": language });
      for (const address of [
        "/ui/login/password?flow=gone",
        "/ui/login/nothing",
        authorizeUrl(peer, { clientId: "nobody" }),
        authorizeUrl(peer, web, { response_type: "nothing", redirect_uri: undefined }),
      ]) {
        const { html } = await agent.open(address);
        assert.match(html, new RegExp(`<html lang="${language}"`));
        const reference = /<div class="reference">([\s\S]*?)<\/div>/.exec(html)?.[1] ?? "";
        assert.doesNotMatch(reference, /[a-z]+ [a-z]+ [a-z]+/i, address);
      }
    }
  });
});

describe("setting up an authenticator app", () => {
  it("has a link for an app on the same device, and the key to copy", async () => {
    const agent = await pages.begin();
    await signIn(agent, await personWhoMustSetUp(peer));
    const shown = await agent.submit({ factor: "totp" });
    const key = [...shown.html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)].map(([, part]) => part);
    const link = new URL(linkIn(shown, "Open it in an app on this device"));
    assert.deepEqual([link.protocol, link.searchParams.get("secret")], ["otpauth:", key.join("")]);
    assert.match(shown.html, /data-copies="secret"/);
  });
});
