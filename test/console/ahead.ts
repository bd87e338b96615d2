import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { enter, enterAgain, expectQuiet, peer } from "./visits.ts";
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
