// Run: alone, early, turns
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { everyOther } from "../support/turns.ts";
import { startBrowser, type TestBrowser, type Visit } from "../support/browser.ts";
import { hideDecoration, prepareAxe, violations } from "./axe.ts";
import { faultsOfLayout, reachedByTab } from "./page-checks.ts";
import { nonce, type PageServer, startPageServer } from "./page-server.ts";
import { type SampleOptions, samples } from "./samples.ts";

const devices = { phone: { width: 320, height: 640 }, desktop: { width: 1280, height: 800 } };
// Pages on which all uses of the brand's colours are seen.
const colourful = ["login-name", "password-wrong", "accounts", "setup-totp", "logged-out"];
const themes = ["light", "dark"] as const;
const onDesktop = { viewport: devices.desktop };
// With scripts and without, each device has each theme once.
const formsOf = {
  true: [
    ["phone", "dark"],
    ["desktop", "light"],
  ],
  false: [
    ["phone", "light"],
    ["desktop", "dark"],
  ],
} as const;

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
  // To open a page takes the browser longer than to look at it, so each is opened once for all that is judged of it.
  for (const javaScriptEnabled of [true, false]) {
    describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
      const layout: Record<string, unknown> = {};
      const order: Record<string, unknown> = {};
      const serious: Record<string, unknown> = {};
      let misdeeds: Visit["misdeeds"];
      before(async () => {
        await using visit = await browser.visit({ ...onDesktop, javaScriptEnabled });
        ({ misdeeds } = visit);
        const look: Look = async (name, page) => {
          for (const [device, colorScheme] of formsOf[`${javaScriptEnabled}`]) {
            await page.setViewportSize(devices[device]);
            await page.emulateMedia({ colorScheme });
            const faults = await page.evaluate(faultsOfLayout);
            if (faults.length > 0) layout[`${name}, ${device}, ${colorScheme}`] = faults;
          }
        };
        if (!javaScriptEnabled) {
          await eachScriptedPage(visit, {}, look);
          return;
        }
        const press: Look = async (name, page) => {
          const { reached, wanted } = await reachedByTab(page);
          if (reached.toSorted().join() !== wanted.toSorted().join())
            order[name] = { reached, wanted };
        };
        const judged: Look = (name, page) =>
          judge(name, page, { light: {}, dark: ofColours }, serious);
        const names = Map.groupBy(shown({}), ([, html]) => isScripted(html));
        const [plain = [], scripted = []] = [false, true].map((is) =>
          names.get(is)?.map(([name]) => name),
        );
        await eachPage(visit, { only: plain }, async (name, page) => {
          await look(name, page);
          await press(name, page);
        });
        // Each page that is opened with axe makes it anew, which takes as long as to judge the page: those without scripts are put into one.
        await prepareAxe(visit.page);
        await eachPage(visit, { only: scripted }, async (name, page) => {
          await look(name, page);
          await judged(name, page);
          await press(name, page);
        });
        await eachInPlace(visit, { only: plain }, judged, {
          isOpened: () => false,
          showsAll: false,
        });
      });

      it("keeps its policy", () => assert.deepEqual(misdeeds, []));

      it("fits, and is large enough to press, on phone and desktop", () =>
        assert.deepEqual(layout, {}));

      if (!javaScriptEnabled) return;

      it("is walked through with the tabulator, from the skip link on", () =>
        assert.deepEqual(order, {}));

      it("has nothing that axe calls serious, in both themes", () => assert.deepEqual(serious, {}));
    });
  }

  for (const language of everyOther(["de", "pl", "ja"] as const)) {
    it(`fits a phone in ${language}`, async () => {
      await using visit = await browser.visit({ viewport: devices.phone });
      const found: Record<string, unknown> = {};
      await eachText(visit, { language }, async (name, page) => {
        const faults = await page.evaluate(faultsOfLayout);
        if (faults.length > 0) found[name] = faults;
      });
      assert.deepEqual(found, {});
    });
  }

  for (const primaryColor of everyOther(["#ffeb3b", "#ffffff", "#000000", "#808080", "#e11d48"])) {
    it(`can be read in the brand colour ${primaryColor}, in both themes`, async () => {
      await using visit = await browser.visit(onDesktop);
      await prepareAxe(visit.page);
      const branding = { primaryColor, backgroundColor: primaryColor };
      const found: Record<string, unknown> = {};
      await eachText(visit, { branding, only: colourful }, (name, page) =>
        judge(name, page, { light: ofColours, dark: ofColours }, found),
      );
      assert.deepEqual(found, {});
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
  // One text that leaves attributes, elements whose content is text, and addresses.
  const payload =
    `javascript:alert(1)//"><script>alert(1)</script>'"><img src=x onerror=alert(1)>" autofocus onfocus="alert(1)" x="` +
    `</title></style></script></textarea><svg/onload=alert(1)>\${alert(1)}{{alert(1)}}<!--`;

  it("runs no script, and sets no attribute", async () => {
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
type Chosen = SampleOptions & { only?: readonly string[] };
type Look = (name: string, page: Page) => Promise<void>;

async function eachPage({ page }: Visit, chosen: Chosen, look: Look): Promise<void> {
  for (const name of shown(chosen).keys()) {
    await page.goto(`${server.origin}/${name}`);
    await look(name, page);
  }
}

/**
 * The same without scripts: a page that has none was opened as it is with them, and is put in the place of the one before, which takes a
 * tenth of opening it.
 */
const eachScriptedPage = (visit: Visit, chosen: Chosen, look: Look): Promise<void> =>
  eachInPlace(visit, chosen, look, { isOpened: isScripted, showsAll: false });

const isScripted = (html: string): boolean => /<(?:no)?script/.test(html);

/** The same for what follows from texts and styles alone. None of the scripts runs, and all that they would show is shown. */
const eachText = (visit: Visit, chosen: Chosen, look: Look): Promise<void> =>
  eachInPlace(visit, chosen, look, { isOpened: () => false, showsAll: true });

async function eachInPlace(
  { page }: Visit,
  chosen: Chosen,
  look: Look,
  { isOpened, showsAll }: { isOpened: (html: string) => boolean; showsAll: boolean },
): Promise<void> {
  let loaded: string | undefined;
  for (const [name, html] of shown(chosen)) {
    const styles = html.match(/<link rel="stylesheet".*>/g)?.join();
    if (styles !== loaded || isOpened(html)) await page.goto(`${server.origin}/${name}`);
    loaded = styles;
    if (!isOpened(html)) await page.evaluate(showInstead, { html, showsAll });
    await look(name, page);
  }
}

function shown({ only, ...options }: Chosen): Map<string, string> {
  const all = samples({ ...options, nonce });
  all.delete("form-post");
  all.delete("prepare-passkey");
  server.show(all);
  return new Map([...all].filter(([name]) => only?.includes(name) ?? true));
}

/** Runs in a page. */
function showInstead({ html, showsAll }: { html: string; showsAll: boolean }): void {
  const page = new DOMParser().parseFromString(html, "text/html");
  const { documentElement: root, body } = page;
  document.title = page.title;
  for (const { name, value } of root.attributes) document.documentElement.setAttribute(name, value);
  const hidden = showsAll ? body.querySelectorAll<HTMLElement>("[hidden]:not(input)") : [];
  for (const each of hidden) each.hidden = false;
  document.body.replaceWith(body);
}

// A theme and a brand change colours: what else axe judges is the same in both, and is judged once.
const ofColours = { runOnly: ["color-contrast", "link-in-text-block"] };

/** Adds to `found` what axe finds on the page that is open, by theme. */
async function judge(
  name: string,
  page: Page,
  rules: Record<(typeof themes)[number], object>,
  found: Record<string, unknown>,
): Promise<void> {
  await hideDecoration(page);
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    const bad = await violations(page, rules[colorScheme]);
    if (bad.length > 0) found[`${colorScheme} ${name}`] = bad;
  }
}
