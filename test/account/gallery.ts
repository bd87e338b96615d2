import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { accountPaths as paths } from "../../src/account/paths.ts";
import { addPersonNamed, password } from "../support/login.ts";
import { uniqueName } from "../support/peer.ts";
import { addAuthenticator } from "../login/authenticators.ts";
import { axe, hideDecoration, violations } from "../login/axe.ts";
import { desktop, type Journey, phone, startJourneys } from "../login/journey.ts";
import { codesOf } from "../login/people.ts";
import { faultsOfLayout } from "../login/page-checks.ts";
import { lastCode } from "./account-world.ts";

// `npm run account:gallery -- <folder> [language ...]` does the tasks of an account in a browser, in three languages or in those that are
// named, and writes a picture of each page that they lead to, light and dark, on a phone and on a desk. It ends with 1 for a page on which
// axe finds something, that does not fit, or that is larger than 30 KB.

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error("wants a folder");
const languages = wanted.length > 0 ? wanted : ["en", "de", "ja"];
const largest = 30 * 1024;
const colours = { runOnly: ["color-contrast", "link-in-text-block"] };

await using journeys = await startJourneys();
const { peer } = journeys;
let pictures = 0;
const faults: string[] = [];
for (const language of languages) await tour(language);
console.log(`${pictures} pictures`);
for (const fault of faults) console.log(fault);
if (faults.length > 0) process.exitCode = 1;

/** Takes the pictures of the page that is open, in all its forms. */
async function look(page: Page, language: string, name: string): Promise<void> {
  const bytes = Buffer.byteLength(await page.content());
  const note = (found: readonly string[], form: string) =>
    void faults.push(...found.map((fault) => `${language} ${name} ${form}: ${fault}`));
  if (bytes > largest) note([`${bytes} bytes`], "");
  await page.evaluate(axe);
  await hideDecoration(page);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const [device, viewport] of Object.entries({ phone, desktop })) {
      await page.setViewportSize(viewport);
      note(await page.evaluate(faultsOfLayout), `${colorScheme} ${device}`);
      const file = `${language}-${colorScheme}-${device}-${name}.png`;
      await page.screenshot({ path: join(resolve(String(folder)), file), fullPage: true });
      pictures += 1;
    }
    note(await violations(page, colorScheme === "light" ? {} : colours), colorScheme);
  }
}

/** Does the tasks, in one language, as a person who is new. */
async function tour(language: string): Promise<void> {
  mkdirSync(String(folder), { recursive: true });
  const address = `${uniqueName("tour").replaceAll(" ", "")}@example.test`;
  const contact = { email: { address, is_verified: true } };
  const person = await addPersonNamed(peer, { contact });
  const scope = "openid offline_access urn:idsvc:iam:org:project:id:idsvc:aud";
  await using elsewhere = await journeys.begin({
    from: journeys.app.login({ scope }),
    locale: language,
  });
  await elsewhere.signIn(person.loginName);
  await look(elsewhere.page, language, "consent");
  await elsewhere.submit();
  await elsewhere.home();

  await using journey = await journeys.begin({
    from: `${peer.issuer}/ui/account`,
    locale: language,
  });
  const { page } = journey;
  await addAuthenticator(journey);
  const seen = (name: string) => look(page, language, name);
  const open = async (path: string, name: string) => {
    await page.goto(`${peer.issuer}${path}`);
    assert.equal(new URL(page.url()).pathname, path);
    await seen(name);
  };
  /** Presses the button of the page, or another one, and waits for the page that follows. */
  const press = async (button = "#submit") => {
    const shown = page.waitForEvent("load");
    await page.click(button);
    await shown;
  };

  await page.goto(`${peer.issuer}/ui/account`);
  await seen("sign-in");
  await journey.fill({ login_name: person.loginName });
  await press();
  await seen("password");
  await journey.fill({ password });
  await press();
  await seen("overview");
  await open(paths.profile, "profile");
  await open(paths.contact, "contact");
  await changeAddress(journey, open, press, seen);
  await open(paths.phone, "phone");
  await open(paths.security, "security");
  await open(paths.password, "password-change");
  await journey.fill({ password: "wrong", new_password: "short" });
  await press();
  await seen("password-change-wrong");
  // A new factor is asked for from then on: the strongest comes last.
  await setUpApp(journey, open, press, seen);
  await addPasskey(journey, open, press, seen);
  for (const [name, path] of Object.entries(paths)) {
    if (["providers", "sessions", "apps", "history", "organizations", "data"].includes(name)) {
      await open(path, name);
    }
  }
  await open(paths.remove, "delete");
  peer.pass(400_000);
  await page.goto(`${peer.issuer}${paths.authenticator}`);
  await press('button[name="remove"]');
  await seen("step-up");
}

type Open = (path: string, name: string) => Promise<void>;
type Press = (button?: string) => Promise<void>;
type Seen = (name: string) => Promise<void>;

async function changeAddress({ fill }: Journey, open: Open, press: Press, seen: Seen) {
  await open(paths.email, "email");
  await fill({ address: "no address" });
  await press();
  await seen("email-wrong");
  await fill({ address: `${uniqueName("new").replaceAll(" ", "")}@example.test` });
  await press();
  await seen("email-code");
  await fill({ code: "000000" });
  await press();
  await seen("email-code-wrong");
  await fill({ code: await lastCode(journeys) });
  await press();
  await seen("contact-changed");
}

async function addPasskey({ fill }: Journey, open: Open, press: Press, seen: Seen) {
  await open(paths.passkeys, "passkeys-none");
  await fill({ name: "My laptop" });
  await press();
  await seen("passkey-new");
  await press();
  await seen("passkeys");
  await press(`a[href^="${paths.passkeyName}"]`);
  await seen("passkey-name");
}

async function setUpApp({ page, fill }: Journey, open: Open, press: Press, seen: Seen) {
  await open(paths.authenticator, "authenticator");
  await press();
  await seen("authenticator-new");
  const secret = (await page.locator("#secret").innerText()).replaceAll(/\s/g, "");
  await fill({ code: "000000" });
  await press();
  await seen("authenticator-wrong");
  await fill({ code: codesOf(peer, secret)() });
  await press();
  await seen("authenticator-on");
  await open(paths.recoveryCodes, "recovery-none");
  await press();
  await seen("recovery-new");
  await press();
  await seen("recovery-saved");
}
