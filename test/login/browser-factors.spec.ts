// Run: shared, browser
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { addPersonNamed, password } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { addAuthenticator } from "./authenticators.ts";
import { type Journeys, phone, startJourneys } from "./journey.ts";
import { personWhoMustSetUp, personWithTotp } from "./people.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

/** The code of the last message, by mail or as a text. */
async function lastCode(): Promise<string> {
  const { code, text } = await loginPages(journeys.peer, journeys.app.client).lastMail();
  return code === "" ? (text.split(" ", 1)[0] ?? "") : code;
}

/** Has the device of a browser make a passkey or key of somebody. */
async function register(page: Page, id: string): Promise<void> {
  const { peer } = journeys;
  const started = bodyOf(await peer.post(`/users/${id}/webauthn`, { domain: "localhost" }));
  const options = started.public_key_credential_creation_options;
  // A page that asks for no passkey itself.
  await page.goto(`${peer.issuer}/ui/dev/mail`);
  const made = await page.evaluate(async (json) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json);
    const credential = await navigator.credentials.create({ publicKey });
    return (credential as PublicKeyCredential).toJSON();
  }, options);
  const verified = `/users/${id}/webauthn/${started.web_auth_n_id}/_verify`;
  const named = { public_key_credential: Object(made), web_auth_n_name: "key" };
  bodyOf(await peer.post(verified, named));
}

/** A password and a code: two factors (RFC 8176). */
const assertWays = (claims: Record<string, unknown> | undefined) =>
  assert.deepEqual(new Set(Object(claims?.["amr"])), new Set(["pwd", "otp", "mfa"]));

describe("the second factor in a browser", () => {
  it("is a code of an app, without scripts too; a wrong one is told", async () => {
    for (const javaScriptEnabled of [true, false]) {
      const alice = await personWithTotp(journeys.peer);
      await using journey = await journeys.begin({ javaScriptEnabled, viewport: phone });
      await journey.signIn(alice.loginName);
      await journey.at("/ui/login/mfa/totp");
      await journey.submit({ code: "000000" });
      await journey.at("/ui/login/mfa/totp", "totp-wrong");
      await journey.submit({ code: alice.next() });
      const { claims } = await journey.home();
      assert.equal(claims?.sub, alice.id);
      assertWays(claims);
    }
  });

  it("is chosen among several: a code by e-mail, by text message, or a recovery code", async () => {
    const { peer, app } = journeys;
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    const alice = await personWithTotp(peer, {
      contact: { email: { address, is_verified: true } },
    });
    const mail = { address, is_verified: true };
    bodyOf(await peer.post(`/users/${alice.id}/otp_email`, mail));
    const mobile = { number: "+41791234567", is_verified: true };
    bodyOf(await peer.post(`/users/${alice.id}/otp_sms`, mobile));
    const made = bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`));
    const [recovery = ""] = made.recovery_codes;
    await using journey = await journeys.begin({ viewport: phone });
    const { page } = journey;
    for (const [name, path, code] of [
      [/^E.mail$/, "/ui/login/mfa/email", lastCode],
      [/^Text message$/, "/ui/login/mfa/sms", lastCode],
      [/^Recovery code$/, "/ui/login/mfa/recovery", async () => recovery],
    ] as const) {
      await page.goto(app.login({ prompt: "login" }));
      if (new URL(page.url()).pathname === "/ui/login/loginname") {
        await journey.submit({ login_name: alice.loginName });
      }
      await journey.at("/ui/login/password");
      await journey.submit({ password });
      await journey.at("/ui/login/mfa");
      await page.getByText(name).click();
      await journey.at(path);
      assert.equal(await page.getByText(address).count(), 0);
      await page.getByText("Try another way").click();
      await journey.at("/ui/login/mfa");
      await page.getByText(name).click();
      await journey.at(path);
      await journey.submit({ code: await code() });
      assert.equal((await journey.home()).claims?.sub, alice.id);
    }
  });

  it("is a security key, that the browser asks for; another one is told to be wrong", async () => {
    const { peer, app } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeys.begin();
    const { page } = journey;
    const key = { transport: "usb", hasResidentKey: false, hasUserVerification: false };
    await addAuthenticator(journey, { ...key, isUserVerified: false });
    await register(page, alice.id);
    await page.goto(app.login());
    await journey.signIn(alice.loginName);
    await journey.at("/ui/login/mfa", "mfa-key");
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/passkey", "security-key");
    // What is no answer of the key leads back, and says why.
    await page.locator("form.passkey").evaluate((form) => {
      (form as HTMLFormElement)["credential"].value = "{}";
      HTMLFormElement.prototype.submit.call(form);
    });
    await journey.at("/ui/login/mfa", "mfa-key-wrong");
    assert.ok(await page.getByText("could not be verified").first().isVisible());
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/passkey");
    await journey.submit();
    assert.equal((await journey.home()).claims?.sub, alice.id);
  });
});

describe("a passkey that the app asks for, in a browser", () => {
  it("is asked for instead of a password; who has it not at hand goes on without", async () => {
    const { peer, app } = journeys;
    const alice = await personWithTotp(journeys.peer);
    await using journey = await journeys.begin({ viewport: phone });
    const { page } = journey;
    await journey.signIn(alice.loginName);
    await journey.at("/ui/login/mfa/totp");
    await journey.submit({ code: alice.next() });
    const acr = "urn:idsvc:acr:passkey";
    assert.equal((await journey.home()).claims?.["acr"], "urn:idsvc:acr:mfa");
    await addAuthenticator(journey);
    await register(page, alice.id);
    peer.pass(301_000);
    const asked = app.login({ acr_values: acr, max_age: "300" });
    await page.goto(asked);
    await journey.at("/ui/login/mfa", "mfa-passkey");
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/passkey");
    await journey.submit();
    assert.equal((await journey.home()).claims?.["acr"], acr);

    peer.pass(301_000);
    await page.goto(asked);
    await journey.at("/ui/login/mfa");
    await page.getByText("Continue without a passkey").click();
    await journey.at("/ui/login/password");
    await journey.submit({ password });
    await journey.at("/ui/login/mfa");
    await page.getByText("Authenticator app").click();
    await journey.at("/ui/login/mfa/totp");
    await journey.submit({ code: alice.next() });
    assert.equal((await journey.home()).claims?.["acr"], "urn:idsvc:acr:mfa");
  });
});

describe("a passkey that the browser makes by itself", () => {
  // No Chromium without a window ends a conditional creation: it is answered as one that is asked for.
  const answersConditionally =
    "if (navigator.credentials) { const { credentials } = navigator; const create = credentials.create.bind(credentials); credentials.create = ({ mediation, ...more }) => create(more); }";
  // Else the authenticator would answer at once what waits behind the field of the login name.
  const onlyByButton =
    "if (globalThis.PublicKeyCredential) PublicKeyCredential.isConditionalMediationAvailable = async () => false";

  it("comes after the password, without a question; a log-in by it is all that is needed from then on", async () => {
    const { peer, app } = journeys;
    const { change } = loginPages(peer, app.client);
    await change("login", { prepare_passkeys: { set: true } });
    try {
      const alice = await addPersonNamed(peer);
      await using journey = await journeys.begin({ viewport: phone });
      const { page } = journey;
      for (const script of [answersConditionally, onlyByButton]) await page.addInitScript(script);
      await addAuthenticator(journey);
      await page.goto(app.login());
      await journey.signIn(alice.loginName);
      assert.deepEqual((await journey.home()).claims?.["amr"], ["pwd"]);
      await page.goto(`${peer.issuer}/ui/account/security/passkeys`);
      await journey.at("/ui/account/security/passkeys", "account-passkey-prepared");
      await page.getByText("Made by your browser after you signed in").waitFor();
      await page.context().clearCookies();
      await page.goto(app.login());
      await page.getByText("Sign in with a passkey").click();
      assert.equal((await journey.home()).claims?.sub, alice.id);
      await page.goto(`${peer.issuer}/ui/account/security/passkeys`);
      assert.equal(await page.getByText("Made by your browser").count(), 0);
    } finally {
      await change("login", { prepare_passkeys: { reset: true } });
    }
  });

  it("that never comes to be holds nobody up, and nobody without scripts sees of it", async () => {
    const { peer, app } = journeys;
    const { change } = loginPages(peer, app.client);
    await change("login", { prepare_passkeys: { set: true } });
    try {
      for (const javaScriptEnabled of [true, false]) {
        const alice = await addPersonNamed(peer);
        await using journey = await journeys.begin({ javaScriptEnabled });
        if (javaScriptEnabled) await addAuthenticator(journey);
        await journey.page.goto(app.login());
        await journey.signIn(alice.loginName);
        assert.equal((await journey.home()).claims?.sub, alice.id);
      }
    } finally {
      await change("login", { prepare_passkeys: { reset: true } });
    }
  });
});

describe("registration in a browser, where passwords are not allowed", () => {
  it("is with a passkey, by which the account is logged in to from then on; nobody is written to about it", async () => {
    const { peer, app } = journeys;
    const { change, lastMail, mails } = loginPages(peer, app.client);
    await change("login", { allow_username_password: { set: false } });
    try {
      await using journey = await journeys.begin({
        from: app.login({ prompt: "create" }),
        viewport: phone,
      });
      const { page } = journey;
      await addAuthenticator(journey);
      await journey.at("/ui/login/register");
      const email = `${uniqueName("nina").replace(" ", "")}@example.test`;
      await journey.submit({ given_name: "Nina", family_name: "Simone", email });
      await journey.at("/ui/login/verify");
      await journey.submit({ code: (await lastMail()).code });
      await journey.at("/ui/login/register/account", "register-passkey");
      const sent = await mails();
      await page.getByRole("button", { name: "Create a passkey" }).click();
      const { claims } = await journey.home();
      assert.deepEqual(claims?.["amr"], ["hwk", "user", "mfa"]);
      assert.equal(await mails(), sent);
      await page.context().clearCookies();
      await page.goto(app.login());
      await page.getByText("Sign in with a passkey").click();
      assert.equal((await journey.home()).claims?.sub, claims?.sub);
    } finally {
      await change("login", { allow_username_password: { reset: true } });
    }
  });
});

describe("setting up a second factor in a browser", () => {
  it("that is demanded: an app with codes, without scripts too; recovery codes are shown until they are saved", async () => {
    for (const javaScriptEnabled of [true, false]) {
      const loginName = await personWhoMustSetUp(journeys.peer);
      await using journey = await journeys.begin({ javaScriptEnabled, viewport: phone });
      const { page } = journey;
      await journey.signIn(loginName);
      await journey.at("/ui/login/mfa/setup");
      await page.getByText("Authenticator app").click();
      await journey.at("/ui/login/mfa/setup/totp");
      assert.ok(await page.getByRole("img", { name: /QR code/ }).isVisible());
      const secret = (await page.locator(".secret span").allInnerTexts()).join("");
      await journey.submit({ code: "000000" });
      await journey.at("/ui/login/mfa/setup/totp", "setup-totp-wrong");
      const { peer } = journeys;
      const totp = new TOTP({ secret });
      await journey.submit({ code: totp.generate({ timestamp: peer.now().getTime() }) });
      await page.locator(".recovery").waitFor();
      await journey.at("/ui/login/mfa/setup/recovery", "recovery-codes");
      const codes = await page.locator(".recovery li").allInnerTexts();
      assert.equal(codes.length, 10);
      for (const again of [() => page.reload(), () => page.goBack()]) {
        await again();
        await journey.at("/ui/login/mfa/setup/recovery");
        assert.deepEqual(await page.locator(".recovery li").allInnerTexts(), codes);
      }
      const download = page.waitForEvent("download");
      await page.getByText("Save as a file").click();
      assert.equal((await download).suggestedFilename(), "recovery-codes.txt");
      assert.equal(await page.getByText("Print").isVisible(), javaScriptEnabled);
      if (javaScriptEnabled) {
        await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
        await page.getByText("Copy").click();
        await page.getByText("Copied").waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        assert.deepEqual(copied.split("\n"), codes);
      }
      await journey.submit();
      await journey.at("/ui/login/consent");
      await journey.submit();
      assertWays((await journey.home()).claims);
    }
  });

  it("a passkey, which from then on is all that a login needs", async () => {
    const { app } = journeys;
    const loginName = await personWhoMustSetUp(journeys.peer);
    await using journey = await journeys.begin({ viewport: phone });
    const { page } = journey;
    const devtools = await addAuthenticator(journey);
    await devtools.send("WebAuthn.disable");
    await page.reload();
    await addAuthenticator(journey);
    await journey.signIn(loginName);
    await journey.at("/ui/login/mfa/setup");
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/mfa/setup/passkey");
    await journey.submit();
    await page.locator(".recovery").waitFor();
    await journey.at("/ui/login/mfa/setup/recovery", "recovery-codes-passkey");
    await journey.submit();
    await journey.at("/ui/login/consent");
    await journey.submit();
    const { claims } = await journey.home();
    await page.context().clearCookies();
    // The authenticator answers at once what waits behind the field of the login name.
    await page.goto(app.login({ scope: "openid" }));
    const silent = await journey.home();
    assert.equal(silent.claims?.sub, claims?.sub);
  });

  it("a passkey is used by the button of the first page as well", async () => {
    const { peer, app } = journeys;
    const loginName = await personWhoMustSetUp(journeys.peer);
    await using journey = await journeys.begin();
    const { page } = journey;
    // No passkeys in the list of a field: as in browsers that know only the button.
    await page.addInitScript(
      "if (globalThis.PublicKeyCredential) PublicKeyCredential.isConditionalMediationAvailable = async () => false",
    );
    await page.goto(app.login());
    await addAuthenticator(journey);
    await journey.signIn(loginName);
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/mfa/setup/passkey");
    await journey.submit();
    await page.locator(".recovery").waitFor();
    await journey.submit();
    await journey.at("/ui/login/consent");
    await journey.submit();
    const { claims } = await journey.home();
    await page.context().clearCookies();
    peer.pass(60_000);
    await page.goto(app.login());
    await journey.at("/ui/login/loginname");
    await page.getByText("Sign in with a passkey").click();
    assert.equal((await journey.home()).claims?.sub, claims?.sub);
  });
});
