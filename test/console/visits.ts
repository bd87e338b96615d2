import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { systemResolver } from "../../src/egress/resolver.ts";
import { axe } from "../login/axe.ts";
import { type TestBrowser, startBrowser, type Visit } from "../support/browser.ts";
import { logInUnseen } from "../support/browser-login.ts";
import { addPersonNamed, password } from "../support/login.ts";
import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";

/** TXT records of the world outside, by name. */
export const txtRecords = new Map<string, string[]>();
const outside = systemResolver();

/** One service and one browser for all that is tried in the console. */
export const peer: OidcPeer = await startOidc({
  resolver: { ...outside, texts: async (name) => txtRecords.get(name) ?? [] },
});
// The first request for a page waits until the pages are built.
assert.equal((await fetch(`${peer.issuer}/ui/console`)).status, 200);
const browser: TestBrowser = await startBrowser();

export async function endVisits(): Promise<void> {
  await browser[Symbol.asyncDispose]();
  await peer[Symbol.asyncDispose]();
}

const pictures = process.env["IDSVC_TEST_PICTURES"];

export const phone = { width: 360, height: 740 };
export const desk = { width: 1440, height: 900 };
/** A name that runs scripts wherever it is not shown as text. */
export const evil = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;

/** What would run a script wherever it is taken for markup, an address, a style, a template or a script. */
const payloads = [
  evil,
  `</script><script>alert(3)</script>`,
  `'-alert(4)-'`,
  `"onfocus=alert(5) autofocus x="`,
  "javascript:alert(6)",
  `<svg/onload=alert(7)>`,
  "\u0024{alert(8)}",
  `<iframe srcdoc="<script>parent.alert(9)</script>">`,
  `&lt;img src=x onerror=alert(10)&gt;`,
  `<a href="data:text/html,<script>alert(11)</script>">x</a>`,
  `</style><style>*{background:url(//evil.test)}`,
  `__proto__`,
];
let nextPayload = 0;

/** The next of them: what a tenant may call something that is to be seen by its own name. */
export const payload = (name: string): string =>
  `${name} ${payloads[nextPayload++ % payloads.length]}`;

/** What on the page stands there because something was taken for more than a text. */
export const strangers = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll(
        "img[src=x], [onload], [onerror], [onfocus], [autofocus], iframe:not([title])",
      ),
      ...[...document.querySelectorAll("a")].filter(
        ({ protocol }) => !["http:", "https:"].includes(protocol),
      ),
      ...document.querySelectorAll("body script, body style"),
    ].map((each) => each.outerHTML),
  );

export type Entered = Visit & {
  id: string;
  loginName: string;
  refused: string[];
  /** Goes to another page of the console as a link does, and waits until all that it asked for has come. */
  go: (path: string) => Promise<void>;
};
export type EnterOptions = Parameters<TestBrowser["visit"]>[0] & {
  roles?: string[];
  /** Where the roles are held: in an organization or a project, else in the instance. */
  organizationId?: string;
  projectId?: string;
  /** Logs in on the pages of the log-in, as they come. Else the browser is given the cookies of a log-in without them. */
  byPages?: true;
};

/** Opens a page of the console in a new browser, as a person with roles in the instance or in an organization. */
export async function enter(path: string, options: EnterOptions = {}): Promise<Entered> {
  const { roles = ["IAM_OWNER"], organizationId, projectId, byPages, ...more } = options;
  const { id, loginName } = await addPersonNamed(peer);
  const ctx =
    organizationId !== undefined
      ? { org_id: organizationId }
      : projectId !== undefined
        ? { project_id: projectId }
        : { instance_id: peer.app.made.instance_id };
  bodyOf(await peer.post("/memberships", { ctx, user_id: id, roles }), 201);
  const visit = await browser.visit({ viewport: desk, ...more });
  const { page } = visit;
  if (byPages !== true) {
    const shown = await logInUnseen(page, `${peer.issuer}/ui/console/login`, loginName);
    assert.equal(shown.pathname, "/ui/console");
  }
  await page.goto(`${peer.issuer}${path}`);
  if (byPages === true) await logIn(page, loginName);
  await page.waitForURL((url) => url.pathname.startsWith("/ui/console/"));
  await page.getByRole("navigation").first().waitFor();
  visit.misdeeds.splice(0);
  const refused: string[] = [];
  page.on("response", (answer) => {
    if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()}`);
  });
  return { ...visit, id, loginName, refused, go: walker(page) };
}

let owner: Promise<Entered> | undefined;

/**
 * Goes to a page of the console as somebody who owns the instance, in a browser that others were in before: what is not about a page that
 * is new to the browser takes a tenth of the time so.
 */
export async function enterAgain(path: string): Promise<Entered> {
  const visit = await (owner ??= enter("/ui/console/people"));
  const { page } = visit;
  await page.unrouteAll();
  // Whoever was here before may have failed.
  if ((await page.getByRole("dialog").count()) > 0) await page.reload();
  await visit.go(path);
  visit.refused.splice(0);
  visit.misdeeds.splice(0);
  return { ...visit, [Symbol.asyncDispose]: async () => undefined };
}

const quietMs = 40;

function walker(page: Page): Entered["go"] {
  // The stream of events never ends.
  const counts = (url: string): boolean => !url.includes("/WatchEvents");
  let open = 0;
  let last = Date.now();
  const count = (url: string, by: number) => {
    if (!counts(url)) return;
    open += by;
    last = Date.now();
  };
  page.on("request", (request) => count(request.url(), 1));
  page.on("requestfinished", (request) => count(request.url(), -1));
  page.on("requestfailed", (request) => count(request.url(), -1));
  return async (path) => {
    await page.evaluate((to) => history.pushState(undefined, "", to), `/ui/console${path}`);
    last = Date.now();
    while (open > 0 || Date.now() - last < quietMs) await delay(10);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    // A part that is loaded when it is first shown asks for what is in it once it is there.
    await page.waitForFunction(() => document.querySelector("main [aria-busy=true]") === null);
  };
}

/** Opens an address in a window of its own, as a browser that nobody is signed in to. */
export async function openPrivately(address: string): Promise<Visit> {
  const visit = await browser.visit({ viewport: desk });
  await visit.page.goto(address);
  return visit;
}

/** Fills in the pages of the log-in that ask for a name and a password. */
export async function logIn(page: Page, loginName: string): Promise<void> {
  await page.fill("input[name=login_name]", loginName);
  await page.click("button[type=submit]");
  await page.fill("input[name=password]", password);
  await page.click("button[type=submit]");
}

/** A picture of the whole page, where somebody wants to look at it. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) {
    await page.screenshot({ path: `${pictures}/console-${name}.png`, fullPage: true });
  }
}

/** What is wrong with what the page shows: for readers with screen readers, and on this screen. */
export async function faultsOf(page: Page): Promise<unknown> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    const run = Reflect.get(globalThis, "axe") as {
      run: (
        options: object,
      ) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    };
    const { violations } = await run.run({ resultTypes: ["violations"] });
    const { scrollWidth, clientWidth } = document.documentElement;
    const small = [...document.querySelectorAll("button, input, select, summary, nav a")]
      .map((each) => ({ html: each.outerHTML, box: each.getBoundingClientRect() }))
      .filter(({ box }) => box.height > 0 && (box.height < 24 || box.width < 24));
    return [
      ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
      ...small.map(({ html }) => `too small: ${html}`),
      ...(scrollWidth > clientWidth ? [`${scrollWidth} wide in ${clientWidth}`] : []),
    ];
  });
}

/** Nothing was refused, and the page did nothing that no page may. */
export function expectQuiet({ misdeeds, refused }: Entered): void {
  assert.deepEqual(refused, []);
  assert.deepEqual(misdeeds, []);
}

/** Searches by a text get no answer until the function that is returned is called. */
export async function delaySearches(page: Page): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  await page.route(/SearchAll/, async (route) => {
    await released.promise;
    await route.continue();
  });
  return released.resolve;
}
