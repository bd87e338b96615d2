// Run: alone, early
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bodyOf } from "../support/peer.ts";
import { roundsOf } from "../support/rounds.ts";
import { describeAccess } from "./access.ts";
import { describeAhead } from "./ahead.ts";
import { addressesOf } from "./addresses.ts";
import { describeForms } from "./forms.ts";
import { describeHome } from "./home.ts";
import { describeSearch } from "./search.ts";
import {
  desk,
  endVisits,
  enter,
  enterAgain,
  evil,
  expectQuiet,
  faultsOf,
  payload,
  peer,
  phone,
  shoot,
  strangers,
} from "./visits.ts";
import { type ConsoleWorld, makeConsoleWorld } from "./world.ts";

let organizationId = "";
let world: ConsoleWorld;

before(async () => {
  world = await makeConsoleWorld(peer, (kind) => {
    if (["organization", "app"].includes(kind)) return `Aardvark ${kind} ${evil}`;
    // Braces mean something in texts.
    return kind === "text" ? evil : payload(kind);
  });
  organizationId = world.organizationId;
  const inside = { headers: { "x-idsvc-orgid": organizationId } };
  for (let n = 0; n < 55; n++) {
    const data = { given_name: evil, family_name: `Number ${n}` };
    const username = `aardvark-${String(n).padStart(2, "0")}`;
    bodyOf(await peer.post("/users", { username, data }, inside), 201);
  }
});
after(endVisits);

/** An organization with people whose names are of usual length. */
async function anOrganizationOf(usernames: readonly string[]): Promise<string> {
  const id = await peer.addOrganization({ name: "Birds" });
  for (const username of usernames) {
    const email = { address: `${username}@birds.test`, is_verified: true };
    await peer.addPerson({ username, contact: { email } }, id);
  }
  return id;
}

describe("the console in a browser", () => {
  it("leads whoever is not signed in through the log-in to the page that they asked for", async () => {
    await using visit = await enter("/ui/console/people?q=aardvark-0", { byPages: true });
    const { page } = visit;
    assert.equal(new URL(page.url()).search, "?q=aardvark-0");
    await page.getByRole("link", { name: "aardvark-00" }).waitFor();
    assert.equal(await page.getByRole("row").count(), 11);
    expectQuiet(visit);
    const stored = await page.evaluate(
      () => JSON.stringify([localStorage, sessionStorage].map(Object.entries)) + document.cookie,
    );
    assert.doesNotMatch(stored, /idsvc_|eyJ/);
  });

  it("shows lists page by page, filters by the address, and opens what is chosen", async () => {
    await using visit = await enterAgain(`/people?org=${organizationId}`);
    const { page } = visit;
    await page.getByRole("link", { name: "aardvark-49" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "aardvark-54" }).count(), 0);
    await page.getByRole("status").getByText("Shown so far: 50").waitFor();
    await page.keyboard.press("End");
    await page.getByRole("link", { name: "aardvark-54" }).waitFor();
    await page
      .getByRole("status")
      .getByText(/^Shown, all: \d+$/)
      .waitFor();
    assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
    await page.getByLabel("Begins with").fill("AARDVARK-5");
    await page.waitForURL(/q=AARDVARK-5/);
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 5);
    await page.reload();
    await page.getByRole("link", { name: "aardvark-50" }).click();
    await page.getByRole("heading", { level: 1 }).getByText(evil, { exact: false }).waitFor();
    await page.getByRole("link", { name: "History" }).click();
    await page.waitForURL(/tab=history/);
    await page.getByRole("rowheader").first().waitFor();
    await page.getByRole("link", { name: "As code" }).click();
    await page.getByText("grpcurl -plaintext -H").waitFor();
    await page.goBack();
    await page.waitForURL(/tab=history/);
    expectQuiet(visit);
  });

  it("shows an administrator of one organization what they may do, without a refused call", async () => {
    await using visit = await enter("/ui/console/people", {
      roles: ["ORG_USER_MANAGER"],
      organizationId,
    });
    const { page } = visit;
    // They work in the one that they administer, and there is nothing to choose.
    await page.getByRole("banner").getByText("Aardvark", { exact: false }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Where you work/ }).count(), 0);
    const rail = page.getByRole("navigation", { name: "Areas" });
    // They may read projects and policies.
    const areas = ["Home", "People", "Organizations", "Applications", "Sign-in", "Settings"];
    assert.deepEqual(await rail.getByRole("link").allTextContents(), areas);
    await page.getByRole("link", { name: "aardvark-00" }).waitFor();
    await rail.getByRole("link", { name: "Organizations" }).click();
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
    await page.getByRole("link", { name: "Aardvark" }).click();
    await page.getByRole("heading", { level: 1 }).getByText("Aardvark").waitFor();
    expectQuiet(visit);
  });

  it("tells whoever has a project alone what its organization is called, which they may not open", async () => {
    const { projectId } = world;
    await using visit = await enter(`/ui/console/projects/${projectId}`, {
      roles: ["PROJECT_OWNER"],
      projectId,
    });
    const { page } = visit;
    const named = { hasText: "Aardvark organization" };
    await page.getByRole("banner").locator("span").filter(named).first().waitFor();
    await page.getByRole("definition").filter(named).waitFor();
    assert.equal(await page.getByRole("link").filter(named).count(), 0);
    expectQuiet(visit);
  });

  it("works in the organization that is chosen, of several or of all", async () => {
    const second = await peer.addOrganization({ name: "Bandicoot" });
    await using visit = await enter("/ui/console/settings/password", {
      roles: ["ORG_OWNER"],
      organizationId,
    });
    const { page, id } = visit;
    const choose = async (name: string) => {
      await page.getByRole("button", { name: /^Where you work/ }).click();
      await page.getByRole("dialog").getByRole("link", { name }).click();
      await page.getByRole("button", { name: `Where you work: ${name}` }).waitFor();
    };
    const membership = { ctx: { org_id: second }, user_id: id, roles: ["ORG_OWNER"] };
    bodyOf(await peer.post("/memberships", membership), 201);
    await page.reload();
    await choose("Bandicoot");
    await page.waitForURL((url) => url.search === `?org=${second}`);
    await page.getByRole("heading", { level: 1, name: "Password policy" }).waitFor();
    await page.getByRole("row").nth(1).waitFor();
    await page.getByRole("button", { name: /^Where you work/ }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Aardvark" }).waitFor();
    assert.deepEqual(await faultsOf(page), []);
    await shoot(page, "context");
    await page.keyboard.press("Escape");
    // There are no settings of several organizations.
    await choose("All your organizations");
    await page.waitForURL((url) => url.pathname === "/ui/console/" && url.search === "");
    await page.goto(`${peer.issuer}/ui/console/settings/password`);
    await page.getByRole("row").nth(1).waitFor();
    expectQuiet(visit);
  });

  it("shows the pages of an area in one row on a phone, at the one that is open", async () => {
    await using visit = await enter("/ui/console/settings/security", { viewport: phone });
    const { page } = visit;
    const area = ["/settings/security", "/settings/login", "/schemas", "/providers", "/texts"];
    for (const path of area) {
      await visit.go(path);
      const row = page.locator("main nav");
      const whole = await row.boundingBox();
      const open = await row.locator("[aria-current=page]").boundingBox();
      assert.ok(whole !== null && open !== null, path);
      assert.ok(whole.height > 24 && whole.height < 60, `${path}: ${whole.height} high`);
      // A row scrolls by whole pixels.
      const [ahead, behind] = [open.x - whole.x, whole.x + whole.width - open.x - open.width];
      assert.ok(ahead > -1 && behind > -1, `${path}: ${ahead} before it, ${behind} behind`);
    }
    expectQuiet(visit);
  });

  it("shows tables of many columns whole on every width, and a time in one line on a laptop", async () => {
    // Of who did something and is gone there is an ID where others have a name.
    const gone = await peer.addMember(organizationId, ["ORG_OWNER"]);
    bodyOf(await peer.post("/projects", { name: "Left behind" }, { token: gone.token }), 201);
    bodyOf(await peer.remove(`/users/${gone.userId}`));
    // German words are the longest.
    await using visit = await enter("/ui/console/people", { locale: "de" });
    const { page } = visit;
    const organization = `/organizations/${organizationId}`;
    const lists = ["/", "/people", "/sessions", "/events", "/refusals", "/administrators"];
    for (const path of [...lists, organization]) {
      await visit.go(path);
      for (const width of [960, 1024, 1200, 1280, 1366]) {
        await page.setViewportSize({ width, height: 800 });
        const shown = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(shown <= width, `${path} is ${shown} wide in ${width}`);
      }
    }
    expectQuiet(visit);
    const birds = await anOrganizationOf(["ibis", "jackdaw", "kestrel"]);
    await using english = await enter(`/ui/console/people?org=${birds}`, {
      viewport: { width: 1280, height: 800 },
    });
    await english.page.getByRole("link", { name: "kestrel" }).waitFor();
    const lines = await english.page
      .locator("tbody time")
      .evaluateAll((times) => times.map((each) => each.getClientRects().length));
    assert.deepEqual(lines, [1, 1, 1]);
    expectQuiet(english);
  });

  it("keeps the pages of an area where they are, whichever is open", async () => {
    await using visit = await enter("/ui/console/settings/login", { locale: "de" });
    const { page } = visit;
    const links = page.locator("main nav a");
    const places = () =>
      links.evaluateAll((all) =>
        all.map((each) => each.getBoundingClientRect().toJSON() as object),
      );
    const first = await places();
    assert.ok(first.length > 6, `${first.length} pages`);
    for (let n = 0; n < first.length; n++) {
      await links.nth(n).click();
      await page.waitForFunction(
        (nth) => document.querySelectorAll("main nav a")[nth]?.ariaCurrent === "page",
        n,
      );
      assert.deepEqual(await places(), first, await links.nth(n).innerText());
    }
    expectQuiet(visit);
  });

  it("says why something is not shown, with what to tell who can help", async () => {
    await using visit = await enterAgain("/people/404");
    const { page } = visit;
    const alert = page.getByRole("alert");
    await alert.waitFor();
    const text = (await alert.textContent()) ?? "";
    assert.match(text, /USER_NOT_FOUND/);
    assert.match(text, /Request/);
    await shoot(page, "problem");
    assert.deepEqual(await faultsOf(page), []);
  });

  it("leads to the log-in when the session has ended, and back", async () => {
    await using visit = await enter("/ui/console/people");
    const { page, id } = visit;
    const { result } = bodyOf(await peer.post("/sign_ins/_search", [{ user_id: id }]));
    for (const { details } of result) bodyOf(await peer.remove(`/sign_ins/${details.id}`));
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${peer.issuer}/ui/console/organizations`);
    await page.waitForURL((url) => url.pathname.startsWith("/ui/login"));
  });

  it("signs out", async () => {
    await using visit = await enter("/ui/console/people");
    const { page } = visit;
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL((url) => !url.pathname.startsWith("/ui/console"));
    await page.goto(`${peer.issuer}/ui/console/people`);
    await page.waitForURL((url) => url.pathname.startsWith("/ui/login"));
  });

  it("cannot be framed", async () => {
    const { headers } = await fetch(`${peer.issuer}/ui/console/people`);
    assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.match(headers.get("content-security-policy") ?? "", /script-src 'self' 'nonce-/);
    assert.doesNotMatch(headers.get("content-security-policy") ?? "", /unsafe/);
  });

  const looks = [
    { name: "desk-light-en", viewport: desk, colorScheme: "light", locale: "en" },
    { name: "phone-dark-ja", viewport: phone, colorScheme: "dark", locale: "ja" },
    { name: "desk-forced-de", viewport: desk, forcedColors: "active", locale: "de" },
    { name: "desk-dark-de", viewport: desk, colorScheme: "dark", locale: "de" },
    { name: "phone-light-en", viewport: phone, colorScheme: "light", locale: "en" },
  ] as const;
  // Each page in one of the looks; with more rounds each page in all of them.
  const chosen = looks.slice(0, roundsOf(3));
  const isWhole = roundsOf(3) > 3;
  for (const [turn, { name, ...look }] of chosen.entries()) {
    it(`is readable and reachable for everybody, and shows every name as text: ${name}`, async () => {
      await using visit = await enter("/ui/console/people", look);
      const { page } = visit;
      const some = addressesOf(world).filter((_, at) => isWhole || at % chosen.length === turn);
      for (const path of some) {
        await visit.go(path);
        await shoot(page, `${path.replaceAll(/\W+/g, "-").slice(1)}-${name}`);
        assert.deepEqual(await strangers(page), [], `${path} ${name}`);
        // Four hundred rows are alike, and take axe as long as all other pages of a look.
        if (path === "/texts") await visit.go(`${path}?q=password`);
        assert.deepEqual(await faultsOf(page), [], `${path} ${name}`);
      }
      assert.equal(await page.evaluate(() => document.documentElement.lang), look.locale);
      expectQuiet(visit);
    });
  }
});

describeSearch();
describeHome(() => world);
describeAccess(() => world);
describeAhead(() => world);
describeForms(() => world);
