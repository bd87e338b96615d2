import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { permissionsPath } from "./console-agents.ts";
import { enter, enterAgain, expectQuiet, openPrivately, peer } from "./visits.ts";
import type { ConsoleWorld } from "./world.ts";

const patienceMs = 20_000;

/** @param world what is looked at, once it is made */
export function describeAhead(world: () => ConsoleWorld): void {
  describe("the page of an object", () => {
    it("asks for its lists before the object has come, and once", async () => {
      const { projectId } = world();
      await using visit = await enterAgain("/organizations");
      const { page } = visit;
      const asked: string[] = [];
      page.on("request", (each) => asked.push(each.url().replace(/.*\//, "")));
      const lists = ["SearchUserGrants", "SearchProjectGrants"].map((each) =>
        page.waitForRequest(new RegExp(each), { timeout: patienceMs }),
      );
      await page.route(/GetProject$/, async (route) => {
        await Promise.all(lists);
        await route.continue();
      });
      await visit.go(`/projects/${projectId}?tab=access`);
      await page.getByRole("heading", { name: "People with roles of the project" }).waitFor();
      for (const each of ["GetProject", "SearchUserGrants", "SearchProjectGrants"]) {
        assert.equal(asked.filter((name) => name === each).length, 1, each);
      }
      expectQuiet(visit);
    });

    it("asks for nothing but the object where its reader may read lists in one place alone", async () => {
      const { projectId } = world();
      const organizationId = await peer.addOrganization({ name: "Ahead" });
      await using visit = await enter("/ui/console/organizations", {
        roles: ["ORG_OWNER"],
        organizationId,
      });
      await visit.go(`/projects/${projectId}?tab=access`);
      await visit.page.getByRole("alert").waitFor();
      const refused = new Set(visit.refused.map((each) => each.replace(/.*\//, "")));
      assert.deepEqual([...refused], ["GetProject"]);
    });
  });
}

/** What a browser asks of the console that nobody is signed in to. */
export function describeSignedOut(): void {
  describe("a visitor of the console who is not signed in", () => {
    const open = async (lead: (page: Page, address: string) => Promise<unknown>) => {
      await using visit = await openPrivately("about:blank");
      const { page } = visit;
      const asked: string[] = [];
      page.on("request", (each) => asked.push(new URL(each.url()).pathname));
      await lead(page, `${peer.issuer}/ui/console/people?q=ada`);
      await page.locator("input[name=login_name]").waitFor();
      return asked.filter((path) => path === permissionsPath).length;
    };

    it("is led to the log-in before anything is asked", async () => {
      assert.equal(await open((page, address) => page.goto(address)), 0);
    });

    it("is asked for where a page of another site leads here, as no browser sends the cookie then", async () => {
      const asked = await open(async (page, address) => {
        await page.setContent(`<a href="${address}">console</a>`);
        await page.click("a");
      });
      assert.equal(asked, 1);
    });
  });
}
