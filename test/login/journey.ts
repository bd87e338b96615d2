import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page, Response } from "playwright-core";
import type { TestOptions } from "../support/app.ts";
import { startBrowser, type TestBrowser } from "../support/browser.ts";
import { password } from "../support/login.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { type RelyingParty, startRelyingParty, type Told } from "../support/relying-party.ts";
import { keepsPages, notePage } from "../support/pages-seen.ts";
import { faultsOfLayout } from "./page-checks.ts";

export const phone = { width: 360, height: 740 };
export const desktop = { width: 1100, height: 800 };

const pictures = process.env["IDSVC_TEST_PICTURES"];
let count = 0;

/** A person at a browser, before the running service and an app. */
export type Journey = AsyncDisposable & {
  page: Page;
  /** The page that is shown is that one, fits, and does nothing it may not; its picture is taken if wanted. */
  at(path: string, picture?: string): Promise<void>;
  fill(values: Record<string, string>): Promise<void>;
  submit(values?: Record<string, string>): Promise<void>;
  /** Gives name and password on the pages that ask for them. */
  signIn(loginName: string): Promise<void>;
  /** Waits for the app, and gives what it was told. */
  home(): Promise<Told>;
};

export type Journeys = AsyncDisposable & {
  peer: OidcPeer;
  browser: TestBrowser;
  app: RelyingParty;
  begin(options?: BrowserContextOptions & { from?: string }): Promise<Journey>;
};

/** Where browsers reach the service: elsewhere than clients, behind a proxy. */
type Front = { options?: TestOptions; origin?: string };

/** The service, an app, and a browser. */
export async function startJourneys({ options, origin }: Front = {}): Promise<Journeys> {
  const peer = await startOidc(options);
  const issuer = origin ?? peer.issuer;
  const app = await startRelyingParty(peer);
  const browser = await startBrowser();
  return {
    peer,
    app,
    browser,
    begin: ({ from = app.login(), ...more } = {}) =>
      begin(issuer, app, browser, { viewport: desktop, ...more }, from),
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
    },
  };
}

/** Keeps a page that was shown, for the gallery. */
function note(response: Response): void {
  // Of one that leads on, or of a page that is left already, there is no body.
  const noted = response.text().then((html) => notePage(new URL(response.url()).pathname, html));
  noted.catch(() => undefined);
}

async function begin(
  issuer: string,
  app: RelyingParty,
  browser: TestBrowser,
  options: BrowserContextOptions,
  from: string,
): Promise<Journey> {
  const visit = await browser.visit(options);
  const { page, misdeeds } = visit;
  if (keepsPages()) page.on("response", (response) => note(response));

  // The status of an error page stands in the console of every browser.
  const check = () =>
    assert.deepEqual(
      misdeeds.filter(({ text }) => !text.startsWith("Failed to load resource")),
      [],
    );

  const journey: Journey = {
    page,
    async at(path, picture) {
      await page.waitForURL((url) => url.pathname === path && url.origin === issuer);
      await page.waitForLoadState();
      if (pictures !== undefined) {
        mkdirSync(pictures, { recursive: true });
        const name = picture ?? path.replaceAll("/", "-").slice(1);
        count += 1;
        await page.screenshot({ path: join(pictures, `${count}-${name}.png`), fullPage: true });
      }
      assert.deepEqual(await page.evaluate(faultsOfLayout), [], path);
      check();
    },
    async fill(values) {
      for (const [name, value] of Object.entries(values)) {
        await page.fill(`input[name="${name}"]:visible`, value);
      }
    },
    async submit(values = {}) {
      await journey.fill(values);
      await page.click("#submit");
    },
    async signIn(loginName) {
      await journey.at("/ui/login/loginname");
      await journey.submit({ login_name: loginName });
      await journey.at("/ui/login/password");
      await journey.submit({ password });
    },
    async home() {
      await page.waitForURL((url) => url.origin === app.origin && url.pathname === "/cb");
      await page.waitForLoadState();
      check();
      return app.last();
    },
    async [Symbol.asyncDispose]() {
      check();
      await visit[Symbol.asyncDispose]();
    },
  };
  await page.goto(from);
  return journey;
}
