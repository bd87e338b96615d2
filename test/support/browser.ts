import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** What a page did that no page of ours may do. */
export type Misdeed = { kind: "console" | "exception" | "policy" | "dialog"; text: string };

export type Visit = AsyncDisposable & { page: Page; misdeeds: Misdeed[] };

export type TestBrowser = AsyncDisposable & {
  browser: Browser;
  /** A page of its own, with what it does wrong. Without scripts if told so. */
  visit(options?: BrowserContextOptions): Promise<Visit>;
};

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/**
 * A Chromium without a window. Tests that need one fail where there is none.
 *
 * @throws Error when no browser is installed (Debian: `apt-get install chromium`, or `IDSVC_TEST_BROWSER`)
 */
export async function startBrowser(): Promise<TestBrowser> {
  const executablePath =
    process.env["IDSVC_TEST_BROWSER"] ?? places.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "no Chromium: install it (apt-get install chromium), or name it in IDSVC_TEST_BROWSER",
    );
  }
  // The sandbox of Chromium does not run as root.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  return {
    browser,
    visit: (options) => visit(browser, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options);
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
