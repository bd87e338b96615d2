// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed } from "../support/login.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { addAuthenticator } from "../login/authenticators.ts";
import { onDevices } from "../login/devices.ts";
import { type Journeys, startJourneys } from "../login/journey.ts";
import { codesOf, personWithTotp } from "../login/people.ts";
import { journeyAtAccount, lastCode, stepUp } from "./account-world.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

const onDevice = onDevices();

const userOf = async (id: string) => bodyOf(await journeys.peer.get(`/users/${id}`)).user.user;
const old = () => journeys.peer.pass(6 * 60_000);

/** A person whose e-mail address is proven. */
async function personWithMail() {
  const address = `${uniqueName("mail").replaceAll(" ", "")}@example.test`;
  const contact = { email: { address, is_verified: true } };
  return { ...(await addPersonNamed(journeys.peer, { contact })), address };
}

describe("a way to log in, or an address, in a browser", () => {
  onDevice("changes the e-mail address, which counts once its code was typed", async (device) => {
    const { peer } = journeys;
    const alice = await personWithMail();
    const address = `new-${alice.address}`;
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/contact`);
    await journey.at("/ui/account/contact");
    await page.getByRole("link", { name: /E.mail address/ }).click();
    await journey.at("/ui/account/contact/email");
    old();
    await journey.submit({ address });
    await stepUp(journey);
    await journey.at("/ui/account/contact/email", "email-after-step-up");
    assert.equal(await page.inputValue('input[name="address"]'), address);
    await journey.submit();
    await journey.at("/ui/account/contact/email", "email-code");
    const sent = await lastCode(journeys);
    assert.deepEqual((await userOf(alice.id)).contact.email, {
      address: alice.address,
      is_verified: true,
    });
    await journey.submit({ code: "WRONG" });
    await journey.at("/ui/account/contact/email", "email-code-wrong");
    await journey.submit({ code: sent });
    await journey.at("/ui/account/contact", "contact-confirmed");
    assert.deepEqual((await userOf(alice.id)).contact.email, { address, is_verified: true });
  });

  onDevice("sets up an authenticator app, and removes it by a code of it", async (device) => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, device);
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/security`);
    await journey.at("/ui/account/security", "security");
    await page.getByRole("link", { name: /Authenticator app/ }).click();
    await journey.at("/ui/account/security/authenticator");
    await journey.submit();
    await journey.at("/ui/account/security/authenticator", "authenticator-new");
    const secret = (await page.locator("#secret").innerText()).replaceAll(/\s/g, "");
    const next = codesOf(peer, secret);
    await journey.submit({ code: "000000" });
    await journey.at("/ui/account/security/authenticator", "authenticator-wrong");
    await journey.submit({ code: next() });
    await journey.at("/ui/account/security/authenticator", "authenticator-on");
    assert.equal((await userOf(alice.id)).authenticators.totps[0].is_verified, true);
    old();
    await page.getByRole("button", { name: "Remove" }).click();
    await journey.at("/ui/login/mfa/totp", "step-up-totp");
    await journey.submit({ code: next() });
    await journey.at("/ui/account/security/authenticator", "authenticator-step-up-done");
    await page.getByRole("button", { name: "Remove" }).click();
    await journey.at("/ui/account/security/authenticator", "authenticator-removed");
    assert.equal((await userOf(alice.id)).authenticators.totps.length, 0);
  });

  onDevice(
    "makes recovery codes, which are shown until they are saved, and lets save them as a file",
    async (device) => {
      const { peer } = journeys;
      const alice = await personWithTotp(peer);
      await using journey = await journeys.begin({ from: `${peer.issuer}/ui/account`, ...device });
      const { page } = journey;
      await journey.signIn(alice.loginName);
      await journey.at("/ui/login/mfa/totp");
      await journey.submit({ code: alice.next() });
      await journey.at("/ui/account");
      await page.goto(`${peer.issuer}/ui/account/security/recovery`);
      await journey.at("/ui/account/security/recovery", "recovery-none");
      await journey.submit();
      await journey.at("/ui/account/security/recovery", "recovery-new");
      const codes = await page.locator("#codes li").allInnerTexts();
      assert.equal(codes.length, 10);
      await page.reload();
      assert.deepEqual(await page.locator("#codes li").allInnerTexts(), codes);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "Save as a file" }).click(),
      ]);
      assert.equal(download.suggestedFilename(), "recovery-codes.txt");
      await journey.submit();
      await journey.at("/ui/account/security/recovery", "recovery-saved");
      assert.equal(await page.locator("#codes").count(), 0);
      assert.equal((await userOf(alice.id)).authenticators.recovery_codes.remaining, 10);
    },
  );
});

describe("a passkey of the account, in a browser", () => {
  it("is added, named and removed, and proves who removes it", async () => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName);
    const { page } = journey;
    await addAuthenticator(journey);
    await page.goto(`${peer.issuer}/ui/account/security/passkeys`);
    await journey.at("/ui/account/security/passkeys", "passkeys-none");
    await journey.submit({ name: "My laptop" });
    await journey.at("/ui/account/security/passkeys/new", "passkey-new");
    await journey.submit();
    await journey.at("/ui/account/security/passkeys", "passkeys-one");
    assert.ok(await page.getByText("My laptop").first().isVisible());
    const [made] = (await userOf(alice.id)).authenticators.web_auth_n;
    assert.equal(made.name, "My laptop");
    assert.ok(made.creation_date);
    await page.getByRole("link", { name: "Rename My laptop" }).click();
    await journey.at("/ui/account/security/passkeys/name", "passkey-name");
    await journey.submit({ name: " " });
    await journey.at("/ui/account/security/passkeys/name", "passkey-name-missing");
    await journey.submit({ name: "Laptop at home" });
    await journey.at("/ui/account/security/passkeys", "passkey-renamed");
    assert.ok(await page.getByText("Laptop at home").first().isVisible());
    const [renamed] = (await userOf(alice.id)).authenticators.web_auth_n;
    assert.deepEqual(renamed, { ...made, name: "Laptop at home" });
    old();
    await page.getByRole("button", { name: /Remove/ }).click();
    await journey.at("/ui/login/mfa", "step-up-passkey");
    // Nothing weaker will do.
    assert.equal(await page.getByText("Continue without a passkey").count(), 0);
    // Whoever does not want to goes back without.
    await page.getByText("Back to your account").click();
    await journey.at("/ui/account/security/passkeys");
    await page.getByRole("button", { name: /Remove/ }).click();
    await journey.at("/ui/login/mfa");
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/passkey");
    await journey.submit();
    await journey.at("/ui/account/security/passkeys", "passkeys-step-up-done");
    await page.getByRole("button", { name: /Remove/ }).click();
    await page.waitForURL((url) => url.search.includes("REMOVED"));
    assert.equal((await userOf(alice.id)).authenticators.web_auth_n.length, 0);
  });

  it("is told to the browser as one that counts until it is removed, and never as unknown", async () => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName);
    const { page } = journey;
    await page.addInitScript(() => {
      const told: [string, object][] = [];
      Object.assign(globalThis, { told });
      for (const name of [
        "signalAllAcceptedCredentials",
        "signalCurrentUserDetails",
        "signalUnknownCredential",
      ]) {
        const note = async (options: object) => void told.push([name, options]);
        Object.assign(PublicKeyCredential, { [name]: note });
      }
    });
    const told = async () => {
      await page.waitForFunction(() => Reflect.get(globalThis, "told").length === 2);
      return page.evaluate((): [string, Record<string, unknown>][] =>
        Reflect.get(globalThis, "told"),
      );
    };
    await addAuthenticator(journey);
    await page.goto(`${peer.issuer}/ui/account/security/passkeys`);
    const [none, named] = await told();
    assert.equal(none?.[0], "signalAllAcceptedCredentials");
    assert.deepEqual(none?.[1]["allAcceptedCredentialIds"], []);
    assert.equal(named?.[0], "signalCurrentUserDetails");
    assert.equal(named?.[1]["displayName"], "Ada Lovelace");
    await journey.submit({ name: "My laptop" });
    await journey.at("/ui/account/security/passkeys/new");
    const { user } = JSON.parse(
      (await page.locator("form[data-passkey]").getAttribute("data-options")) ?? "{}",
    );
    await journey.submit();
    await journey.at("/ui/account/security/passkeys");
    const [[, one] = ["", {}]] = await told();
    assert.equal(one["userId"], user.id);
    assert.equal(one["rpId"], "localhost");
    assert.equal(Object(one["allAcceptedCredentialIds"]).length, 1);
    await page.getByRole("button", { name: /Remove/ }).click();
    await journey.at("/ui/login/mfa");
    await page.getByText("Passkey or security key").click();
    await journey.at("/ui/login/passkey");
    await journey.submit();
    await journey.at("/ui/account/security/passkeys");
    await page.getByRole("button", { name: /Remove/ }).click();
    await page.waitForURL((url) => url.search.includes("REMOVED"));
    assert.deepEqual((await told())[0]?.[1]["allAcceptedCredentialIds"], []);
  });

  it("needs scripts: without them the page says so", async () => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    await using journey = await journeyAtAccount(journeys, alice.loginName, {
      javaScriptEnabled: false,
    });
    const { page } = journey;
    await page.goto(`${peer.issuer}/ui/account/security/passkeys`);
    await journey.submit({ name: "My laptop" });
    await journey.at("/ui/account/security/passkeys/new", "passkey-without-scripts");
    assert.match(await page.innerText("main"), /Passkeys need JavaScript/);
  });

  it("is proven by a recovery code where it is not at hand", async () => {
    const { peer } = journeys;
    const alice = await addPersonNamed(peer);
    const codes = bodyOf(await peer.post(`/users/${alice.id}/recovery_codes`)).recovery_codes;
    await using journey = await journeyAtAccount(journeys, alice.loginName);
    const { page } = journey;
    const device = await addAuthenticator(journey);
    await page.goto(`${peer.issuer}/ui/account/security/passkeys`);
    await journey.submit({ name: "Lost" });
    await journey.at("/ui/account/security/passkeys/new");
    await journey.submit();
    await journey.at("/ui/account/security/passkeys");
    await device.send("WebAuthn.disable");
    old();
    await page.getByRole("button", { name: /Remove/ }).click();
    await journey.at("/ui/login/mfa");
    await page.getByText("Recovery code").click();
    await journey.at("/ui/login/mfa/recovery");
    await journey.submit({ code: codes[0] ?? "" });
    await journey.at("/ui/account/security/passkeys");
    await page.getByRole("button", { name: /Remove/ }).click();
    await page.waitForURL((url) => url.search.includes("REMOVED"));
  });
});
