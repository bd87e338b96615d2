// Run: shared, browser, turns
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addPersonNamed, password } from "../support/login.ts";
import { noticesSent } from "../support/notices.ts";
import { uniqueName } from "../support/peer.ts";
import { turns } from "../support/turns.ts";
import { type Journeys, phone, startJourneys } from "./journey.ts";

let journeys: Journeys;

before(async () => {
  journeys = await startJourneys();
});
after(() => journeys[Symbol.asyncDispose]());

/** The code and the link of the last message, as the page for developers shows it. */
async function lastMail() {
  await noticesSent(journeys.peer.app);
  await using journey = await journeys.begin({ from: `${journeys.peer.issuer}/ui/dev/mail` });
  await journey.at("/ui/dev/mail");
  const text = await journey.page.locator("article pre").first().innerText();
  const links = journey.page.locator("article").first().locator("a");
  return {
    code: /Code: (\S+)/.exec(text)?.[1] ?? "",
    link:
      (await links.count()) === 0
        ? ""
        : await links.first().evaluate((a) => (a as HTMLAnchorElement).href),
  };
}

const inTurn = turns();
const withScripts = () =>
  inTurn<[string, boolean]>([
    ["with scripts", true],
    ["without scripts", false],
  ]);

describe("registration in a browser", () => {
  const [scripts, javaScriptEnabled] = withScripts();
  it(`makes an account, proves the address, and leads back to the app: ${scripts}`, async () => {
    const name = uniqueName("nina").replace(" ", "");
    await using journey = await journeys.begin({ javaScriptEnabled, viewport: phone });
    const { page } = journey;
    await journey.at("/ui/login/loginname");
    await page.getByText("Create an account").click();
    await journey.at("/ui/login/register");
    const values = { given_name: "Nina", family_name: "Simone", email: `${name}@exmaple.test` };
    await journey.submit({ ...values, email: "nobody" });
    await journey.at("/ui/login/register", "register-wrong");
    assert.equal(await page.inputValue('input[name="given_name"]'), values.given_name);
    await journey.submit(values);
    await journey.at("/ui/login/verify");
    assert.ok(await page.getByText(values.email).isVisible());
    // It was mistyped.
    const email = `${name}@example.test`;
    await page.getByText("Is the address wrong?").click();
    await page.fill('input[name="email"]', email);
    await page.getByText("Send the code to this address").click();
    await journey.at("/ui/login/verify", "verify-other");
    assert.ok(await page.getByText(email).first().isVisible());
    await journey.submit({ code: "WRONG" });
    await journey.at("/ui/login/verify", "verify-wrong");
    const { code } = await lastMail();
    await journey.submit({ code });
    await journey.at("/ui/login/register/account", "register-account");
    await journey.submit({ new_password: "short" });
    await journey.at("/ui/login/register/account", "register-account-wrong");
    await page.reload();
    const ticked = page.locator("[data-rule=length].met");
    await journey.fill({ new_password: "short" });
    assert.equal(await ticked.count(), 0);
    await journey.fill({ new_password: password });
    assert.equal(await ticked.count(), javaScriptEnabled ? 1 : 0);
    await journey.submit();
    const { claims } = await journey.home();
    assert.ok(claims?.sub);
  });

  it("by prompt=create begins at once", async () => {
    await using journey = await journeys.begin({ from: journeys.app.login({ prompt: "create" }) });
    await journey.at("/ui/login/register", "create");
  });
});

describe("a forgotten password in a browser", () => {
  const newPassword = "completely different words";
  const personWithMail = async () => {
    const address = `${uniqueName("mail").replace(" ", "")}@example.test`;
    return addPersonNamed(journeys.peer, {
      contact: { email: { address, is_verified: true } },
    });
  };

  const [scripts, javaScriptEnabled] = withScripts();
  it(`is set anew by the link in the mail, in another browser too: ${scripts}`, async () => {
    const { loginName, id } = await personWithMail();
    await using journey = await journeys.begin({ javaScriptEnabled, viewport: phone });
    const { page } = journey;
    await journey.at("/ui/login/loginname");
    await journey.submit({ login_name: loginName });
    await journey.at("/ui/login/password");
    await page.getByText("Forgot your password?").click();
    await journey.at("/ui/login/password/forgot");
    assert.equal(await page.inputValue('input[name="login_name"]'), loginName);
    await journey.submit();
    await journey.at("/ui/login/password/reset");
    const { link } = await lastMail();
    await using other = await journeys.begin({ from: link, javaScriptEnabled, viewport: phone });
    await other.at("/ui/login/password/reset", "reset-by-link");
    await other.submit({ new_password: newPassword });
    await other.at("/ui/login/password", "reset-done");
    assert.ok(await other.page.getByText("Your new password is saved").isVisible());
    await other.submit({ password: newPassword });
    await other.at("/ui/account");
    // The login that waits goes on with the new password.
    await page.goto(journeys.app.login());
    await journey.at("/ui/login/loginname");
    await journey.submit({ login_name: loginName });
    await journey.at("/ui/login/password");
    await journey.submit({ password: newPassword });
    assert.equal((await journey.home()).claims?.sub, id);
  });

  it("by the code, on the page that is open, leads back to the app", async () => {
    const { loginName, id } = await personWithMail();
    await using journey = await journeys.begin();
    const { page } = journey;
    await journey.submit({ login_name: loginName });
    await journey.at("/ui/login/password");
    await page.getByText("Forgot your password?").click();
    await journey.submit();
    await journey.at("/ui/login/password/reset");
    const { code } = await lastMail();
    await journey.submit({ code: "WRONGCODE1", new_password: newPassword });
    await journey.at("/ui/login/password/reset", "reset-wrong");
    journeys.peer.pass(61_000);
    await page.getByText("Send a new code").click();
    await journey.at("/ui/login/password/reset", "reset-resent");
    const again = (await lastMail()).code;
    assert.notEqual(again, code);
    await journey.submit({ code: again, new_password: newPassword });
    await journey.at("/ui/login/password");
    await journey.submit({ password: newPassword });
    assert.equal((await journey.home()).claims?.sub, id);
  });
});
