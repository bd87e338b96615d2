// Run: shared
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { faultsOfLayout } from "../login/page-checks.ts";
import { phone } from "../login/journey.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { startBrowser, type TestBrowser } from "../support/browser.ts";
import { makeCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free-port.ts";

const host = "id.example.test";
const pictures = process.env["IDSVC_TEST_PICTURES"];
const folder = mkdtempSync(join(tmpdir(), "idsvc-first-"));
const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
let browser: TestBrowser;
before(async () => {
  makeCertificate(cert, key);
  browser = await startBrowser([host]);
});
after(async () => {
  await browser[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** A new service that others reach. */
async function startOutside(now: () => Date): Promise<TestApp & { origin: string }> {
  const port = await freePort();
  const origin = `https://${host}:${port}`;
  const env = {
    IDSVC_PORT: String(port),
    IDSVC_EXTERNAL_URL: origin,
    IDSVC_TLS_CERT: cert,
    IDSVC_TLS_KEY: key,
  };
  return { ...(await startTestApp({ env, now })), origin };
}

async function isAt(page: Page, path: string): Promise<void> {
  await page.waitForURL((url) => url.pathname === path);
  if (pictures !== undefined) {
    const name = path.replaceAll("/", "-");
    await page.screenshot({ path: join(pictures, `first${name}.png`), fullPage: true });
  }
  assert.deepEqual(await page.evaluate(faultsOfLayout), [], path);
}

async function signIn(page: Page, { login_name, password }: TestApp["made"]["admin"]) {
  await isAt(page, "/ui/login/loginname");
  await page.fill("#login-name", login_name);
  await page.click("#submit");
  await isAt(page, "/ui/login/password");
  await page.fill("#password", password);
  await page.click("#submit");
}

describe("the first log-in of an owner outside loopback (J21)", () => {
  for (const javaScriptEnabled of [true, false]) {
    it(`sets up a second factor and gives recovery codes, scripts ${javaScriptEnabled ? "on" : "off"}`, async () => {
      let shift = 0;
      const now = () => new Date(Date.now() + shift);
      await using service = await startOutside(now);
      const { admin } = service.made;
      const options = { viewport: phone, ignoreHTTPSErrors: true, javaScriptEnabled };
      await using first = await browser.visit(options);
      const { page } = first;
      await page.goto(`${service.origin}/ui/login`);
      await signIn(page, admin);
      await isAt(page, "/ui/login/mfa/setup");
      assert.match(await page.innerText("main"), /Make somebody else an owner too/);
      assert.equal(await page.getByText("Not now").count(), 0);
      // Nothing else leads on.
      await page.goto(`${service.origin}/ui/login`);
      await signIn(page, admin);
      await page.getByText("Authenticator app").click();
      await isAt(page, "/ui/login/mfa/setup/totp");
      const secret = (await page.locator(".secret span").allInnerTexts()).join("");
      const totp = new TOTP({ secret: Secret.fromBase32(secret) });
      const code = () => totp.generate({ timestamp: now().getTime() });
      await page.fill("[name=code]", code());
      await page.click("#submit");
      await page.waitForSelector(".recovery");
      if (pictures !== undefined) {
        await page.screenshot({ path: join(pictures, "first-codes.png"), fullPage: true });
      }
      const codes = await page.locator(".recovery code").allInnerTexts();
      assert.equal(codes.length, 10);
      await page.click("#submit");
      await isAt(page, "/ui/account");

      // From now on it asks for it.
      shift = 31_000;
      await using second = await browser.visit(options);
      await second.page.goto(`${service.origin}/ui/login`);
      await signIn(second.page, admin);
      await second.page.waitForURL((url) => url.pathname.startsWith("/ui/login/mfa"));
      assert.equal(await second.page.locator(".recovery").count(), 0);
      assert.deepEqual([first.misdeeds, second.misdeeds], [[], []]);
    });
  }
});
