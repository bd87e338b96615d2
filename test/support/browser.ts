import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** What a page did that no page of ours may do. */
export type Misdeed = { kind: "console" | "exception" | "policy" | "dialog"; text: string };

export type Visit = AsyncDisposable & { page: Page; misdeeds: Misdeed[] };

export type TestBrowser = AsyncDisposable & {
  browser: Browser;
  /** A page of its own, with what it does wrong. Without scripts if told so. */
  visit(options?: BrowserContextOptions): Promise<Visit>;
};

// NOTE: Playwright colours the log of an error with a library that sets `__proto__` of functions, which throws in the process
// of the tests, and the call that failed would never end. Here such a setting makes a property that means nothing.
// oxlint-disable-next-line no-extend-native -- of the process of a test, for the library that drives the browser
Object.defineProperty(Function.prototype, "__proto__", { writable: true, value: undefined });

const places = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

// The last list of features counts, so this has those that Playwright turns off. To make a document of its own for each page that is
// opened, even the empty one before it, takes a quarter of the time of opening it.
const featuresOff = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "RenderDocument",
];
// Nobody looks at the pages of a test, but for its pictures: without memory for them they are laid out and not drawn, which is a quarter
// more.
const draws =
  process.env["NODE_TEST_CONTEXT"] === undefined ||
  process.env["IDSVC_TEST_PICTURES"] !== undefined;

/**
 * A Chromium without a window. Tests that need one fail where there is none. Specs of a process share it, each by a connection of
 * its own, whose pages go with it.
 *
 * @param here names of hosts that are this machine to it
 * @throws Error when no browser is installed
 */
export async function startBrowser(here: readonly string[] = []): Promise<TestBrowser> {
  const hosts = here.map((host) => `MAP ${host} 127.0.0.1`).join(",");
  const endpoint = endpoints.get(hosts) ?? launch(hosts);
  endpoints.set(hosts, endpoint);
  const browser = await connect(await endpoint);
  return {
    browser,
    visit: (options) => visit(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** Where a Chromium of this process is reached, by the names that are this machine to it. */
const endpoints = new Map<string, Promise<string>>();

/**
 * It is driven from a process of its own: Playwright makes functions of texts, which the process of the tests may not. That ends with
 * this one, and keeps it from nothing.
 */
async function launch(hosts: string): Promise<string> {
  const path = process.env["IDSVC_TEST_BROWSER"] ?? places.find((place) => existsSync(place));
  if (path === undefined) {
    throw new Error(
      "no Chromium: apt-get install chromium-headless-shell, or name one in IDSVC_TEST_BROWSER",
    );
  }
  const script = join(import.meta.dirname, "browser-process.ts");
  const args = [
    `--host-resolver-rules=${hosts}`,
    `--disable-features=${featuresOff.join(",")}`,
    ...(draws ? [] : ["--force-gpu-mem-available-mb=0"]),
  ];
  const driver = spawn(process.execPath, [script, path, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [endpoint] = await Promise.race([
    once(createInterface(driver.stdout), "line"),
    once(driver, "exit").then(() => Promise.reject(new Error(`${path} did not start`))),
  ]);
  for (const each of [driver, driver.stdin, driver.stdout]) if ("unref" in each) each.unref();
  return String(endpoint);
}

const connectMs = 20_000;

// A browser on a busy machine may leave its first connection without an answer for ever.
async function connect(endpoint: string): Promise<Browser> {
  for (let tries = 1; ; tries++) {
    const signal = AbortSignal.timeout(connectMs);
    const late = once(signal, "abort").then(() => undefined);
    const browser = await Promise.race([chromium.connect(endpoint), late]);
    if (browser !== undefined) return browser;
    if (tries === 3) throw new Error("Chromium does not answer");
  }
}

async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  // What moves is drawn sixty times a second, and waited for until it stands still.
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const misdeeds: Misdeed[] = [];
  const note = (kind: Misdeed["kind"], text: string) => void misdeeds.push({ kind, text });
  page.on("pageerror", (error) => note("exception", error.message));
  page.on("dialog", (dialog) => {
    note("dialog", dialog.message());
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    const text = message.text();
    if (/Content Security Policy|Refused to/.test(text)) note("policy", text);
    else if (["error", "warning"].includes(message.type())) note("console", text);
  });
  return { page, misdeeds, [Symbol.asyncDispose]: () => context.close() };
}
