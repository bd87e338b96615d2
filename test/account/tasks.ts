import assert from "node:assert/strict";
import { text as textOf } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { accountPaths as paths } from "../../src/account/paths.ts";
import { addAuthenticator } from "../login/authenticators.ts";
import { axe, hideDecoration, violations } from "../login/axe.ts";
import { desktop, type Journey, phone, startJourneys } from "../login/journey.ts";
import { faultsOfLayout } from "../login/page-checks.ts";
import { codesOf } from "../login/people.ts";
import { startFakeProvider } from "../support/fake-provider.ts";
import { addPersonNamed, password } from "../support/login.ts";
import { loginPages } from "../support/login-pages.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { userAgent } from "../support/user-agent.ts";

// `npm run account:tasks -- [language ...]` does the twelve tasks of an account in a browser, in English, German and Japanese or in the
// languages that are named, on a phone and on a desk, with scripts and without, and has axe judge each page, light and dark. It ends with
// 1 for a task that cannot be done, a page on which axe finds something, that does not fit, or that is larger than 30 KB.

const largest = 30 * 1024;
const colours = { runOnly: ["color-contrast", "link-in-text-block"] };
const changed = "another horse battery staple";
const reset = "a third horse battery staple";
const wanted = process.argv.slice(2);
const languages = wanted.length > 0 ? wanted : ["en", "de", "ja"];

await using journeys = await startJourneys();
await using fake = await startFakeProvider();
const { peer } = journeys;
const { issuer, clientId: client_id, secret: client_secret } = fake;
const idp = { name: "Forge", options: { is_linking_allowed: true } };
bodyOf(
  await peer.post("/idps/forge_b", { idp, config: { issuer, client_id, client_secret } }),
  201,
);

for (const language of languages)
  for (const [device, viewport] of Object.entries({ phone, desktop }))
    for (const javaScriptEnabled of [true, false]) {
      const name = `${language}, ${device}, ${javaScriptEnabled ? "with" : "without"} scripts`;
      try {
        const judged = await doTasks({ locale: language, viewport, javaScriptEnabled });
        console.log(`${name}: ${judged.pages} pages`);
        for (const fault of judged.faults) console.log(`  ${fault}`);
        if (judged.faults.length > 0) process.exitCode = 1;
      } catch (error) {
        console.log(`${name}: ${String(error instanceof Error ? error.stack : error)}`);
        process.exitCode = 1;
      }
    }

type Options = { locale: string; viewport: typeof phone; javaScriptEnabled: boolean };
type Judged = { pages: number; faults: string[] };

/** Somebody who does the tasks: their browser, and what they prove themselves by now. */
type Person = {
  id: string;
  loginName: string;
  password: string;
  /** The next code of their authenticator app. */
  next: (() => string) | undefined;
  page: Page;
  journey: Journey;
  judged: Judged;
  /** Where scripts do not run axe runs in none of the pages: it judges copies of them here. */
  mirror: { page: Page } | undefined;
};

async function doTasks(options: Options): Promise<Judged> {
  const judged: Judged = { pages: 0, faults: [] };
  fake.reset();
  const address = `${uniqueName("tasks").replaceAll(" ", "")}@example.test`;
  const contact = { email: { address, is_verified: true } };
  const named = await addPersonNamed(peer, { contact });
  const scope = "openid offline_access urn:idsvc:iam:org:project:id:idsvc:aud";
  await using journey = await journeys.begin({ ...options, from: journeys.app.login({ scope }) });
  await using copies = await journeys.browser.visit({ viewport: options.viewport });
  const mirror = options.javaScriptEnabled ? undefined : copies;
  const { page } = journey;
  const person = { ...named, password, next: undefined, page, journey, judged, mirror };
  await signIn(person);
  await press(person);
  await journey.home();
  await changeNameAndLanguage(person, options.locale);
  await changeAddress(person, `new-${address}`);
  await changePassword(person);
  const notice = await endOthers(person);
  await takeBackAccess(person);
  await fetchData(person);
  if (options.javaScriptEnabled) await addAndRemovePasskey(person);
  await linkAndUnlink(person);
  await setUpApp(person);
  await makeRecoveryCodes(person);
  await readHistory(person);
  await answerNotice(person, notice);
  await deleteAccount(person);
  return judged;
}

function pathOf(page: Page): string {
  return new URL(page.url()).pathname;
}

/** Gives name and password, and whatever else is asked for. */
async function signIn(person: Person): Promise<void> {
  await judge(person);
  await person.journey.fill({ login_name: person.loginName });
  await press(person);
  assert.ok(await prove(person));
}

/** Presses a button of the page that is open, and has the page judged that follows. */
async function press(person: Person, button = "#submit"): Promise<void> {
  const { page } = person;
  const shown = page.waitForEvent("load");
  await page.click(button);
  await shown;
  if (page.url().startsWith(peer.issuer)) await judge(person);
}

/** Answers the pages that ask for a proof; tells whether there were any. */
async function prove(person: Person): Promise<boolean> {
  const { page, journey } = person;
  for (let pages = 0; ; pages += 1) {
    assert.ok(pages < 8, `${page.url()} leads to no end`);
    switch (pathOf(page)) {
      case "/ui/login/password":
        await journey.fill({ password: person.password });
        break;
      case "/ui/login/mfa/totp":
        await journey.fill({ code: person.next?.() ?? "" });
        break;
      case "/ui/login/mfa":
        await press(person, 'button[value="passkey"]');
        continue;
      case "/ui/login/passkey":
        break;
      default:
        return pages > 0;
    }
    await press(person);
  }
}

/** Opens a page of the account. */
async function open(person: Person, path: string): Promise<void> {
  await person.page.goto(`${peer.issuer}${path}`);
  await judge(person);
  await prove(person);
  assert.equal(pathOf(person.page), path);
}

/** Makes a change; whoever is asked to prove themselves before does, and makes it then. */
async function change(person: Person, values: Record<string, string>, button?: string) {
  for (let isMade = false; !isMade; isMade = !(await prove(person))) {
    await person.journey.fill(values);
    await press(person, button);
  }
}

/** Has axe judge the page that is open, light and dark, and looks whether it fits. */
async function judge({ page, judged, mirror }: Person): Promise<void> {
  const note = (found: readonly string[]) =>
    void judged.faults.push(...found.map((fault) => `${pathOf(page)}: ${fault}`));
  await page.waitForLoadState();
  judged.pages += 1;
  const bytes = Buffer.byteLength(await page.content());
  if (bytes > largest) note([`${bytes} bytes`]);
  note(await page.evaluate(faultsOfLayout));
  const judging = mirror === undefined ? page : mirror.page;
  if (judging !== page) await judging.setContent(withoutScripts(await page.content()));
  await judging.evaluate(axe);
  await hideDecoration(judging);
  for (const [colorScheme, rules] of [
    ["dark", colours],
    ["light", {}],
  ] as const) {
    await judging.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    note(await violations(judging, rules));
  }
}

/** A page as it is where scripts do not run, for a browser in which axe does. */
function withoutScripts(html: string): string {
  return html.replaceAll(/<script\b[^>]*><\/script>|<\/?noscript\b[^>]*>/g, "");
}

async function userOf({ id }: Person) {
  return bodyOf(await peer.get(`/users/${id}`)).user.user;
}

async function lastMail(): Promise<string> {
  return (await loginPages(peer, journeys.app.client).lastMail()).text;
}

/** The code of a mail, in whichever language it is. */
function codeIn(mail: string): string {
  return /(?:code=|[:：] ?)([0-9A-Z]{6,})\b/.exec(mail)?.[1] ?? "";
}

async function changeNameAndLanguage(person: Person, language: string): Promise<void> {
  await open(person, paths.profile);
  await person.page.selectOption('select[name="preferred_language"]', language);
  await change(person, { given_name: "Alicia", family_name: "Keys" });
  const { data } = await userOf(person);
  assert.deepEqual(
    [data.given_name, data.family_name, data.preferred_language],
    ["Alicia", "Keys", language],
  );
  assert.equal(await person.page.locator("html").getAttribute("lang"), language);
}

async function changeAddress(person: Person, address: string): Promise<void> {
  await open(person, paths.contact);
  await open(person, paths.email);
  await change(person, { address });
  await change(person, { code: codeIn(await lastMail()) });
  assert.deepEqual((await userOf(person)).contact.email, { address, is_verified: true });
}

async function changePassword(person: Person): Promise<void> {
  await open(person, paths.security);
  await open(person, paths.password);
  await change(person, { password: person.password, new_password: changed });
  assert.equal(pathOf(person.page), paths.security);
  person.password = changed;
}

/** Ends one other log-in and then all others; the link of the notice that the last one was told by. */
async function endOthers(person: Person): Promise<string> {
  const others = [userAgent(peer.issuer), userAgent(peer.issuer), userAgent(peer.issuer)];
  for (const agent of others) {
    await agent.open(paths.overview);
    await agent.submit({ login_name: person.loginName });
    await agent.submit({ password: person.password });
    assert.equal(agent.last.url.pathname, paths.overview);
  }
  const text = await lastMail();
  await open(person, paths.sessions);
  const ends = person.page.locator('button[name="end"]');
  assert.equal(await ends.count(), 3);
  await press(person, 'button[name="end"]');
  assert.equal(await ends.count(), 2);
  await press(person, 'button[name="others"]');
  assert.equal(await ends.count(), 0);
  for (const agent of others) {
    assert.equal((await agent.open(paths.overview)).url.pathname, "/ui/login/loginname");
  }
  return /https?:[^\s"]+/.exec(text)?.[0].replaceAll("&amp;", "&") ?? "";
}

async function takeBackAccess(person: Person): Promise<void> {
  await open(person, paths.apps);
  await press(person, 'button[name="revoke"]');
  const search = [{ user_id: person.id }];
  assert.equal(bodyOf(await peer.post("/consents/_search", search)).result.length, 0);
}

async function fetchData(person: Person): Promise<void> {
  const { page } = person;
  await open(person, paths.data);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#submit")]);
  const all = JSON.parse(await textOf(await download.createReadStream()));
  assert.deepEqual([all.user.details.id, all.is_complete], [person.id, true]);
}

async function addAndRemovePasskey(person: Person): Promise<void> {
  await addAuthenticator(person.journey);
  await open(person, paths.passkeys);
  await change(person, { name: "My laptop" });
  await press(person);
  await press(person, `a[href^="${paths.passkeyName}"]`);
  await change(person, { name: "Laptop at home" });
  assert.equal((await userOf(person)).authenticators.web_auth_n[0].name, "Laptop at home");
  await change(person, {}, 'button[name="remove"]');
  assert.equal((await userOf(person)).authenticators.web_auth_n.length, 0);
}

async function linkAndUnlink(person: Person): Promise<void> {
  const { page } = person;
  const links = async () => (await userOf(person)).authenticators.identity_providers.length;
  await open(person, paths.providers);
  await page.click('button[name="link"]');
  await page.waitForURL((url) => url.search.includes("LINKED"));
  await judge(person);
  assert.equal(await links(), 1);
  await change(person, {}, 'button[name="remove"]');
  assert.equal(await links(), 0);
}

async function setUpApp(person: Person): Promise<void> {
  await open(person, paths.authenticator);
  await change(person, {});
  const secret = (await person.page.locator("#secret").innerText()).replaceAll(/\s/g, "");
  person.next = codesOf(peer, secret);
  await person.journey.fill({ code: person.next() });
  await press(person);
  assert.equal((await userOf(person)).authenticators.totps[0].is_verified, true);
}

async function makeRecoveryCodes(person: Person): Promise<void> {
  const { page } = person;
  await open(person, paths.recoveryCodes);
  await change(person, {});
  assert.equal(await page.locator("#codes li").count(), 10);
  const file = page.locator('a[href*="as=file"]');
  const [download] = await Promise.all([page.waitForEvent("download"), file.click()]);
  assert.equal(download.suggestedFilename(), "recovery-codes.txt");
  await press(person);
  assert.equal((await userOf(person)).authenticators.recovery_codes.remaining, 10);
}

async function readHistory(person: Person): Promise<void> {
  await open(person, paths.history);
  assert.match(await person.page.innerText("main"), /Chrome · [\s\S]*(?:127\.0\.0\.1|::1)/);
}

/** It was not them: all sessions end, and a new password follows. */
async function answerNotice(person: Person, notice: string): Promise<void> {
  const { page } = person;
  await page.goto(notice);
  assert.equal(pathOf(page), "/ui/login/notme");
  await judge(person);
  await press(person);
  assert.equal(pathOf(page), "/ui/login/password/forgot");
  await press(person);
  assert.equal(pathOf(page), "/ui/login/password/reset");
  const mail = await lastMail();
  await person.journey.fill({ code: codeIn(mail), new_password: reset });
  await press(person);
  const shown = await page.innerText("main");
  assert.notEqual(pathOf(page), "/ui/login/password/reset", `${shown} ${mail}`);
  person.password = reset;
}

async function deleteAccount(person: Person): Promise<void> {
  const { page } = person;
  await page.goto(`${peer.issuer}${paths.overview}`);
  if (pathOf(page) === "/ui/login/loginname") await signIn(person);
  await prove(person);
  await open(person, paths.remove);
  for (let isMade = false; !isMade; isMade = !(await prove(person))) {
    await page.check('input[name="sure"]');
    await press(person);
  }
  assert.equal(pathOf(page), "/ui/login/logout/done");
  assert.equal((await peer.get(`/users/${person.id}`)).status, 404);
}
