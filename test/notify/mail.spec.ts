// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, password } from "../support/login.ts";
import {
  account,
  type MailServer,
  type Received,
  startMailServer,
} from "../support/mail-server.ts";
import { noticesSent } from "../support/notices.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { addAuthenticator } from "../login/authenticators.ts";
import { type Journeys, phone, startJourneys } from "../login/journey.ts";

let journeys: Journeys;
let mails: MailServer;

before(async () => {
  mails = await startMailServer();
  journeys = await startJourneys();
  const { peer } = journeys;
  const provider = {
    description: "Mail of this machine",
    sender_address: "no-reply@acme.test",
    sender_name: "Acme",
    host: mails.host,
    reply_to_address: "help@acme.test",
    ...account,
    state_policy: "STATE_POLICY_ACTIVATE",
  };
  bodyOf(await peer.post("/smtp_providers", provider), 201);
});
after(async () => {
  await journeys[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});

const newAddress = () => `${uniqueName("mail").replace(" ", "")}@example.test`;
const linkIn = ({ text = "" }: Received) => /^https?:\S+$/m.exec(text)?.[0] ?? "";

/** A person who reads German, at an address that is theirs. */
async function german(address: string) {
  return addPersonNamed(journeys.peer, {
    data: { given_name: "Ada", family_name: "Lovelace", preferred_language: "de" },
    contact: { email: { address, is_verified: true } },
  });
}

describe("a mail", () => {
  it("about a forgotten password comes in the user's language, and its link works in the browser", async () => {
    const address = newAddress();
    const { loginName } = await german(address);
    await using journey = await journeys.begin({ locale: "de-DE", viewport: phone });
    await journey.at("/ui/login/loginname");
    await journey.submit({ login_name: loginName });
    await journey.at("/ui/login/password");
    await journey.page.getByText("Passwort vergessen?").click();
    await journey.submit();
    const mail = await mails.mailTo(address);
    assert.equal(mail.subject, "Neues Passwort festlegen");
    assert.equal(mail.from, "no-reply@acme.test");
    const headers = new Map(mail.headers.map(({ key, value }) => [key, value]));
    assert.match(headers.get("from") ?? "", /^Acme <no-reply@acme\.test>$/);
    assert.equal(headers.get("reply-to"), "help@acme.test");
    assert.equal(headers.get("auto-submitted"), "auto-generated");
    assert.match(headers.get("content-type") ?? "", /multipart\/alternative/);
    assert.ok(mail.html?.includes('lang="de"'));
    const link = linkIn(mail);
    assert.ok(mail.html?.includes(link.replaceAll("&", "&amp;")));
    await using other = await journeys.begin({ from: link, locale: "de-DE" });
    await other.at("/ui/login/password/reset");
    const newPassword = "ganz andere Worte als zuvor";
    await other.submit({ new_password: newPassword });
    await other.at("/ui/login/password");
    await other.submit({ password: newPassword });
    await other.at("/ui/account");
    const news = await mails.mailTo(address, 2);
    assert.equal(news.subject, "Ihr Passwort wurde geändert");
  });

  it("looks like the organization and uses its words, whatever stands in them (D78)", async () => {
    const { peer } = journeys;
    const organization = await peer.addOrganization();
    const of = `?ctx.org_id=${organization}`;
    const change = async (what: string, values: object) =>
      bodyOf(
        await peer.peer.rest("PATCH", `/settings/v3alpha/${what}${of}`, Object(values), {
          token: peer.app.token,
        }),
      );
    await change("branding", {
      product_name: { set: "<b>Ångström & Söhne</b>" },
      primary_color: { set: "#ffee00" },
    });
    await change("texts", [
      { key: "message.passwordReset.subject", language: "en", set: "<i>Anew</i>\r\nBcc: x" },
    ]);
    const address = newAddress();
    const contact = { email: { address, is_verified: true } };
    const id = await peer.addPerson({ contact }, organization);
    bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: {} }));
    const mail = await mails.mailTo(address);
    assert.match(mail.subject ?? "", /^<i>Anew<\/i>\s+Bcc: x$/);
    assert.ok(!mail.headers.some(({ key }) => key === "bcc"));
    assert.doesNotMatch(mail.html ?? "", /<b>|<i>/);
    assert.match(mail.html ?? "", /&lt;b&gt;Ångström &amp; Söhne/);
    // Yellow takes dark letters.
    assert.match(mail.html ?? "", /background:#[0-9a-f]{6};color:#000000/);
  });

  it("proves an address by its link", async () => {
    const address = newAddress();
    const { peer } = journeys;
    const id = await peer.addPerson({ contact: { email: { address } } });
    const link = linkIn(await mails.mailTo(address));
    await using journey = await journeys.begin({ from: link });
    await journey.at("/ui/login/verify/email", "confirm-email");
    assert.equal(await isVerified(id), false, "a link that is followed proves nothing yet");
    await journey.submit();
    await journey.at("/ui/login/loginname", "email-confirmed");
    assert.equal(await isVerified(id), true);
    await using again = await journeys.begin({ from: link });
    await again.submit();
    await again.at("/ui/login/verify/email", "confirm-email-spent");
    assert.ok(await again.page.getByText("wrong or has expired").first().isVisible());
  });

  it("invites who was made without a password: one link proves the address and sets the first one", async () => {
    const { peer } = journeys;
    const email = newAddress();
    const human = {
      userName: email,
      profile: { firstName: "Nina", lastName: "Simone", preferredLanguage: "en" },
      email: { email },
    };
    const path = "/management/v1/users/human/_import";
    const { userId } = bodyOf(await peer.peer.rest("POST", path, human, { token: peer.app.token }));
    const link = linkIn(await mails.mailTo(email));
    await using journey = await journeys.begin({ from: link });
    await journey.at("/ui/login/password/reset", "invited");
    await journey.submit({ new_password: password });
    await journey.at("/ui/login/password");
    await journey.submit({ password });
    await journey.at("/ui/account");
    assert.equal(await isVerified(userId), true);
    await noticesSent(peer.app);
    assert.equal(mails.mails.filter(({ to }) => to.includes(email)).length, 1);
  });

  it("lets somebody make a passkey", async () => {
    const { peer } = journeys;
    const address = newAddress();
    const contact = { email: { address, is_verified: true } };
    const { id, loginName } = await addPersonNamed(peer, { contact });
    bodyOf(await peer.post(`/users/${id}/webauthn/registration_link`, { send_link: {} }));
    await makesPasskey(linkIn(await mails.mailTo(address)), id, loginName);
  });

  it("is not sent where an import asks for the link to make a passkey: the answer has it", async () => {
    const { peer } = journeys;
    const email = newAddress();
    const human = {
      userName: email.split("@", 1)[0] ?? "",
      profile: { firstName: "Nina", lastName: "Simone" },
      email: { email, isEmailVerified: true },
      requestPasswordlessRegistration: true,
    };
    const path = "/management/v1/users/human/_import";
    const made = bodyOf(await peer.peer.rest("POST", path, human, { token: peer.app.token }));
    const { link, lifetime, expiration } = made.passwordlessRegistration;
    assert.equal(lifetime, "3600s");
    const left = new Date(expiration).getTime() - peer.now().getTime();
    assert.ok(left > 3_500_000 && left <= 3_600_000);
    await makesPasskey(link, made.userId, human.userName);
    await noticesSent(peer.app);
    assert.deepEqual(
      mails.mails.filter(({ to }) => to.includes(email)).map(({ subject }) => subject),
      ["A new way to sign in was added"],
    );
  });

  it("D54: leads to the instance, and nowhere else", async () => {
    const { peer } = journeys;
    const address = newAddress();
    const contact = { email: { address, is_verified: true } };
    const id = await peer.addPerson({ contact });
    // What an app registers is no reason to lead there.
    await peer.addClient({ redirect_uris: ["https://evil.test/cb"] });
    for (const url_template of [
      "https://evil.test/?code={{.Code}}",
      "javascript:alert(1)",
      `https://localhost@evil.test/{{.Code}}`,
      "https://{{.Code}}.evil.test/",
      "/ui/login",
    ]) {
      const { status, refusal } = await peer.post(`/users/${id}/password/_reset`, {
        send_email: { url_template },
      });
      assert.equal(refusal?.reason, "URL_TEMPLATE_DENIED", url_template);
      assert.equal(refusal?.violations[0]?.field, "url_template");
      assert.equal(status, 400);
    }
    const forged = { "x-forwarded-host": "evil.test", forwarded: "host=evil.test" };
    bodyOf(
      await peer.post(`/users/${id}/password/_reset`, { send_email: {} }, { headers: forged }),
    );
    const mail = await mails.mailTo(address);
    assert.doesNotMatch(`${mail.text} ${mail.html}`, /evil/);
    assert.ok(linkIn(mail).startsWith(`${peer.issuer}/ui/login/password/reset?`));
    const url_template = `${journeys.app.origin}/reset?u={{.UserID}}&n={{.LoginName}}&c={{.Code}}`;
    bodyOf(await peer.post(`/users/${id}/password/_reset`, { send_email: { url_template } }));
    const own = new URL(linkIn(await mails.mailTo(address, 2)));
    assert.equal(own.origin, journeys.app.origin);
    assert.equal(own.searchParams.get("u"), id);
    const verification_code = own.searchParams.get("c") ?? "";
    const asHim = { password: "completely different words", verification_code };
    bodyOf(await peer.post(`/users/${id}/password`, asHim));
  });
});

/** Follows a link to the page that makes a passkey, makes it, and is let in by it. */
async function makesPasskey(link: string, id: string, loginName: string): Promise<void> {
  await using journey = await journeys.begin({ from: link });
  await addAuthenticator(journey);
  await journey.at("/ui/login/passkey/register", "invited-passkey");
  await journey.submit();
  await journey.page.locator("form.passkey").waitFor();
  await journey.submit();
  // The device of this browser answers at once where a page asks for a passkey.
  await journey.at("/ui/account", "passkey-made");
  assert.ok(await journey.page.getByText(loginName).first().isVisible());
  const { user } = bodyOf(await journeys.peer.get(`/users/${id}`)).user;
  assert.equal(user.authenticators.web_auth_n.length, 1);
}

async function isVerified(id: string): Promise<boolean> {
  const { user } = bodyOf(await journeys.peer.get(`/users/${id}`)).user;
  return user.contact?.email?.is_verified ?? false;
}
