// Run: alone, long
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { rolesOf } from "../../src/authz/roles.ts";
import { endVisits, type EnterOptions, enter, expectQuiet, peer } from "./visits.ts";
import { type ConsoleWorld, makeConsoleWorld } from "./world.ts";

let world: ConsoleWorld;
before(async () => {
  world = await makeConsoleWorld(peer, (kind) => `Zoo ${kind}`);
});
after(endVisits);

/** Of pages that differ only in the object or organization that they are about, one is enough. */
const kindOf = (address: string): string => {
  const { pathname, searchParams } = new URL(address);
  const tab = searchParams.get("tab") ?? "";
  return `${pathname.replaceAll(/\d{6,}/g, "$id")} ${tab} ${searchParams.has("org")}`;
};

const linksOf = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("a")]
      .map(({ href }) => href)
      .filter((href) => new URL(href).pathname.startsWith("/ui/console")),
  );

/** Follows all links from the first page on. */
async function walk(options: EnterOptions): Promise<number> {
  await using visit = await enter("/ui/console/", options);
  const { page } = visit;
  const seen = new Set<string>();
  const open = await linksOf(page);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (seen.has(kindOf(next))) continue;
    seen.add(kindOf(next));
    const { pathname, search } = new URL(next);
    await visit.go(`${pathname.replace("/ui/console", "")}${search}`);
    assert.equal(await page.getByRole("alert").count(), 0, next);
    expectQuiet(visit);
    open.push(...(await linksOf(page)));
  }
  return seen.size;
}

describe("whoever follows all links of the console meets no refused call (K5)", () => {
  for (const role of rolesOf("instance")) {
    it(role, async () => assert.ok((await walk({ roles: [role] })) > 0));
  }
  for (const role of rolesOf("organization")) {
    it(role, async () => {
      assert.ok((await walk({ roles: [role], organizationId: world.organizationId })) > 0);
    });
  }
  for (const role of rolesOf("project")) {
    it(role, async () => {
      assert.ok((await walk({ roles: [role], projectId: world.projectId })) > 0);
    });
  }
});
