// Run: alone, early
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { startBrowser, type TestBrowser, type Visit } from "../support/browser.ts";
import { prepareAxe, violations } from "./axe.ts";
import { faultsOfLayout, reachedByTab } from "./page-checks.ts";
import { nonce, type PageServer, startPageServer } from "./page-server.ts";
import { type SampleOptions, samples } from "./samples.ts";

const phone = { width: 320, height: 640 };
const desktop = { width: 1280, height: 800 };
// Pages on which all uses of the brand's colours are seen.
const colourful = ["login-name", "password-wrong", "accounts", "setup-totp", "logged-out"];
const themes = ["light", "dark"] as const;
// A colour that is on its way from one theme to the other is none that anybody has chosen.
const unmoved = { viewport: desktop, reducedMotion: "reduce" } as const;

let server: PageServer;
let browser: TestBrowser;

before(async () => {
  server = await startPageServer();
  browser = await startBrowser();
});

after(async () => {
  await browser[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

describe("every page of the login", () => {
  for (const javaScriptEnabled of [true, false]) {
    const scripts = javaScriptEnabled ? "with scripts" : "without scripts";
    it(`keeps its policy, fits, and is large enough to press, in both themes, on phone and desktop: ${scripts}`, async () => {
      await using visit = await browser.visit({ javaScriptEnabled });
      const found: Record<string, unknown> = {};
      await eachPage(visit, {}, async (name, page) => {
        for (const [device, viewport] of Object.entries({ phone, desktop })) {
          await page.setViewportSize(viewport);
          for (const colorScheme of themes) {
            await page.emulateMedia({ colorScheme });
            const faults = await page.evaluate(faultsOfLayout);
            if (faults.length > 0) found[`${name}, ${device}, ${colorScheme}`] = faults;
          }
        }
      });
      assert.deepEqual(found, {});
      assert.deepEqual(visit.misdeeds, []);
    });
  }

  for (const language of ["de", "pl", "ja"] as const) {
    it(`fits a phone in ${language}`, async () => {
      await using visit = await browser.visit({ viewport: phone });
      const found: Record<string, unknown> = {};
      await eachPage(visit, { language }, async (name, page) => {
        const faults = await page.evaluate(faultsOfLayout);
        if (faults.length > 0) found[name] = faults;
      });
      assert.deepEqual(found, {});
    });
  }

  it("is walked through with the tabulator, from the skip link on", async () => {
    await using visit = await browser.visit({ viewport: desktop });
    await eachPage(visit, {}, async (name, page) => {
      const { reached, wanted } = await reachedByTab(page);
      assert.deepEqual(reached.toSorted(), wanted.toSorted(), name);
    });
  });

  it("has nothing that axe calls serious, in both themes", async () => {
    await using visit = await browser.visit(unmoved);
    await eachPage(visit, {}, expectNoViolations);
  });

  for (const primaryColor of ["#ffeb3b", "#ffffff", "#000000", "#808080", "#e11d48"]) {
    it(`can be read in the brand colour ${primaryColor}, in both themes`, async () => {
      await using visit = await browser.visit(unmoved);
      const branding = { primaryColor, backgroundColor: primaryColor };
      await eachPage(visit, { branding, only: colourful }, expectLegible);
    });
  }
});

describe("a theme that the owner has set", () => {
  for (const theme of themes) {
    it(`is kept whatever the reader has: ${theme}`, async () => {
      const colorScheme = theme === "dark" ? "light" : "dark";
      await using visit = await browser.visit({ colorScheme });
      server.show(samples({ nonce, branding: { theme } }));
      await visit.page.goto(`${server.origin}/password`);
      const scheme = await visit.page.evaluate(
        () => getComputedStyle(document.documentElement).colorScheme,
      );
      assert.equal(scheme, theme);
    });
  }
});

describe("text from outside in any page (D78)", () => {
  const payloads = [
    `"><script>alert(1)</script>'"><img src=x onerror=alert(1)>" autofocus onfocus="alert(1)" x="`,
    `</title></style></script></textarea><svg/onload=alert(1)>\${alert(1)}{{alert(1)}}<!--`,
    "javascript:alert(1)//",
  ];
  for (const payload of payloads) {
    it(`runs no script: ${payload}`, async () => {
      await using visit = await browser.visit();
      const say = (text: string) => `${payload}${text}`;
      const branding = {
        logo: payload,
        primaryColor: `red}${payload}`,
        backgroundColor: `#fff;${payload}`,
      };
      await eachPage(visit, { say, branding }, async (name, page) => {
        const planted = await page.evaluate(() =>
          [...document.querySelectorAll("*")]
            .filter(
              (element) =>
                element.getAttributeNames().some((attribute) => /^on|^style$/.test(attribute)) ||
                /^\s*javascript:/i.test(element.getAttribute("href") ?? "") ||
                (element.localName === "script" && !element.hasAttribute("src")),
            )
            .map((element) => element.outerHTML),
        );
        assert.deepEqual(planted, [], name);
      });
      assert.deepEqual(visit.misdeeds, []);
    });
  }

  it("would be noticed", async () => {
    await using visit = await browser.visit();
    server.show(
      new Map([
        ["bad", `<!doctype html><title>x</title><script>alert(1)</script>`],
        ["worse", `<!doctype html><title>x</title><script nonce="${nonce}">alert(1)</script>`],
      ]),
    );
    await visit.page.goto(`${server.origin}/bad`);
    await visit.page.goto(`${server.origin}/worse`);
    const kinds = visit.misdeeds.map(({ kind }) => kind).filter((kind) => kind !== "console");
    assert.deepEqual(kinds, ["policy", "dialog"]);
  });
});

/** Opens all pages, apart from those that send themselves away. */
async function eachPage(
  visit: Visit,
  { only, ...options }: SampleOptions & { only?: readonly string[] },
  look: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  const pages = samples({ ...options, nonce });
  pages.delete("form-post");
  pages.delete("prepare-passkey");
  server.show(pages);
  for (const name of only ?? pages.keys()) {
    await visit.page.goto(`${server.origin}/${name}`);
    await look(name, visit.page);
  }
}

// A theme and a brand change colours: what else axe judges is the same in both, and is judged once.
const ofColours = { runOnly: ["color-contrast", "link-in-text-block"] };

const expectNoViolations = (name: string, page: Page) =>
  expectNone(name, page, { light: {}, dark: ofColours });

const expectLegible = (name: string, page: Page) =>
  expectNone(name, page, { light: ofColours, dark: ofColours });

async function expectNone(
  name: string,
  page: Page,
  rules: Record<(typeof themes)[number], object>,
): Promise<void> {
  await prepareAxe(page);
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    const found = await violations(page, rules[colorScheme]);
    assert.deepEqual(found, [], `${colorScheme} ${name}`);
  }
}
