import type { Page } from "playwright-core";
import { pages } from "../../src/console/routes.ts";
import { consoleTexts } from "../../src/texts/console-texts.ts";
import { startBrowser, type Visit } from "../support/browser.ts";

/** What there is to look at. Of what is told by a number, each has another. */
export type Data = {
  orgId: string;
  projectId: string;
  userId: (nth: number) => string;
  userName: (nth: number) => string;
};

export type Measured = {
  url: string;
  login: { name: string; password: string };
  data: Data;
  /** People with a role of the project. */
  grantedId: (nth: number) => string;
  /** In milliseconds, at the 95th percentile. */
  most: { shown: number; painted: number };
  row: (name: string, most: number, once: (nth: number) => Promise<number>) => Promise<void>;
};

const desk = { viewport: { width: 1440, height: 900 } };
/** How much slower the processor is made for the largest paint. */
const slowness = 4;

/** Measures pages of the console in Chromium, as somebody who owns the instance. */
export async function measurePages({
  url,
  login,
  data,
  grantedId,
  most,
  row,
}: Measured): Promise<void> {
  await using chromium = await startBrowser();
  await using visit = await chromium.visit(desk);
  const tab = visit.page;
  await logIn(tab, { url, login });

  /** Another page, in a console that has read nothing yet. */
  async function anew(): Promise<void> {
    await tab.goto(`${url}/ui/console/limits`);
    await tab.locator("tbody th").first().waitFor();
  }
  const shown = (name: string, where: (nth: number) => Where) =>
    row(`browser  ${name}`, most.shown, async (nth) => {
      await anew();
      return timeTo(tab, where(nth));
    });

  const texts: Record<string, string> = await consoleTexts("en");
  await shown("the first page", () => ({ path: "/", rows: "main figure", title: "Home" }));
  for (const page of pages) {
    if (page.shows !== "list") continue;
    const title = texts[page.word] ?? page.word;
    // Some have nothing in them.
    await shown(`list ${page.path}`, () => ({ path: page.path, rows: "main h1", title }));
  }
  for (const [name, where] of objectsOf(data, grantedId)) await shown(name, where);

  const { cookies } = await tab.context().storageState();
  for (const path of ["/", "/people"]) {
    await row(`paint    ${path}, ${slowness} times slower`, most.painted, async () => {
      await using fresh = await chromium.visit({ ...desk, storageState: { cookies, origins: [] } });
      return await largestPaint(fresh, `${url}/ui/console${path}`);
    });
  }
}

async function logIn(tab: Page, { url, login }: Pick<Measured, "url" | "login">): Promise<void> {
  await tab.goto(`${url}/ui/console/organizations`);
  await tab.fill("input[name=login_name]", login.name);
  await tab.click("button[type=submit]");
  await tab.fill("input[name=password]", login.password);
  await tab.click("button[type=submit]");
  await tab.getByRole("heading", { level: 1, name: "Organizations" }).waitFor();
}

/** A page, and what is there once it shows what it is about: its heading, where that is the same each time, and rows. */
type Where = { path: string; rows: string; title?: string };

/** Searches, and pages of objects with their tabs. */
const objectsOf = (
  { orgId, projectId, userId, userName }: Data,
  grantedId: Measured["grantedId"],
): [string, (nth: number) => Where][] => [
  [
    "people, by how a name begins",
    (nth) => ({
      path: `/people?q=${userName(nth)}`,
      rows: `tbody a[href*="/people/${userId(nth)}"]`,
    }),
  ],
  [
    "people of an organization",
    () => ({ path: `/people?org=${orgId}`, rows: `tbody a[href*="/people/bench-"]` }),
  ],
  ["a person", (nth) => ({ path: `/people/${userId(nth)}`, rows: 'main a[href*="tab=history"]' })],
  [
    "a person's roles",
    (nth) => ({
      path: `/people/${grantedId(nth)}?tab=access`,
      rows: `tbody a[href*="/projects/${projectId}"]`,
    }),
  ],
  [
    "a person's history",
    (nth) => ({
      path: `/people/${userId(nth)}?tab=history`,
      rows: "main tbody th time, main tbody td time",
    }),
  ],
  [
    "an organization",
    () => ({ path: `/organizations/${orgId}`, rows: 'main a[href*="tab=history"]' }),
  ],
  ["a project", () => ({ path: `/projects/${projectId}`, rows: 'main a[href*="tab=roles"]' })],
  [
    "people with roles of a project",
    () => ({ path: `/projects/${projectId}?tab=access`, rows: `tbody a[href*="/people/bench-"]` }),
  ],
];

/** From a click on a link to what it leads to, in the browser's own clock. */
const timeTo = (tab: Page, { path, rows, title = "" }: Where): Promise<number> =>
  tab.evaluate(
    async ([to = "", selector = "", heading = ""]) => {
      const began = performance.now();
      history.pushState(undefined, "", to);
      const isThere = () =>
        location.pathname + location.search === to &&
        (heading === "" || document.querySelector("main h1")?.textContent === heading) &&
        document.querySelector(selector) !== null &&
        (heading === "" || document.querySelector("main [aria-busy=true]") === null);
      while (!isThere()) {
        if (performance.now() - began > 30_000) throw new Error(`${to} does not show ${selector}`);
        await new Promise(requestAnimationFrame);
      }
      return performance.now() - began;
    },
    [`/ui/console${path}`, rows, title],
  );

/** When the largest part of a page is painted that a browser opens for the first time. */
async function largestPaint({ page }: Visit, address: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowness });
  await page.goto(address);
  await page.waitForFunction(
    () =>
      document.querySelector("main tbody td") !== null &&
      document.querySelector("main [aria-busy=true]") === null,
  );
  return page.evaluate(
    () =>
      new Promise<number>((found) => {
        new PerformanceObserver((list) => found(list.getEntries().at(-1)?.startTime ?? 0)).observe({
          type: "largest-contentful-paint",
          buffered: true,
        });
      }),
  );
}
