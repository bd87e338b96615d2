import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bodyOf } from "../support/peer.ts";
import { dialogOf, rowOf } from "./tasks.ts";
import { enter, enterAgain, expectQuiet, faultsOf, peer, shoot } from "./visits.ts";
import type { ConsoleWorld } from "./world.ts";

/** @param world what is looked at, once it is made */
export function describeAccess(world: () => ConsoleWorld): void {
  describe("who may do what with an object (K9)", () => {
    it("is told by role and by person, of what belongs to the instance", async () => {
      const [target = ""] = world().objects["/targets/$id"] ?? [];
      await using visit = await enter(`/ui/console/targets/${target}?tab=access`, {
        roles: ["IAM_OWNER_VIEWER"],
      });
      const { page, id } = visit;
      const cellsOf = async (text: string) =>
        rowOf(page, text).first().getByRole("cell").allInnerTexts();
      await rowOf(page, "action.target.read").waitFor();
      assert.deepEqual(await cellsOf("action.target.read"), [
        "IAM_OWNER\nIAM_OWNER_VIEWER",
        "action.target.read",
      ]);
      assert.deepEqual(await cellsOf("action.target.write"), ["IAM_OWNER", "action.target.write"]);
      const own = page.getByRole("row").filter({ has: page.locator(`a[href*="${id}"]`) });
      await own.waitFor();
      assert.deepEqual(await own.getByRole("cell").allInnerTexts(), ["IAM_OWNER_VIEWER", "See"]);
      await shoot(page, "access-target");
      assert.deepEqual(await faultsOf(page), []);
      expectQuiet(visit);
    });

    it("is decided by an organization for itself, of a provider of the instance", async () => {
      const { organizationId, objects } = world();
      const [id = ""] = objects["/providers/oidc/$id"] ?? [];
      const stateIn = async (query: string) =>
        bodyOf(await peer.get(`/idps/oidc/${id}${query}`)).idp.state;
      await using visit = await enter(`/ui/console/providers/oidc/${id}?org=${organizationId}`, {
        roles: ["ORG_OWNER"],
        organizationId,
      });
      const { page } = visit;
      const decide = async (state: string) => {
        await page.getByRole("button", { name: /^Allow it here or not: / }).click();
        await dialogOf(page).getByLabel(state, { exact: true }).check();
        await shoot(page, "provider-decide");
        assert.deepEqual(await faultsOf(page), []);
        await dialogOf(page).getByRole("button", { name: "Allow it here or not" }).click();
        await page.getByRole("status").getByText("Done: ").waitFor();
      };
      await decide("Inactive");
      assert.equal(await stateIn(`?ctx.org_id=${organizationId}`), "EFFECTIVE_STATE_INACTIVE");
      assert.equal(await stateIn(""), "EFFECTIVE_STATE_ACTIVE");
      assert.equal(await page.getByRole("button", { name: /^(Edit|Delete)/ }).count(), 0);
      await page.getByRole("link", { name: "Access" }).click();
      await rowOf(page, "idp.write").waitFor();
      const text = await rowOf(page, "idp.write").innerText();
      assert.match(text, /IAM_OWNER/);
      assert.match(text, /ORG_SETTINGS_MANAGER/);
      await shoot(page, "access-provider");
      assert.deepEqual(await faultsOf(page), []);
      await using beside = await enterAgain(`/providers/oidc/${id}?tab=access`);
      const decided = rowOf(beside.page, "Inactive");
      await decided.waitFor();
      assert.equal(
        await decided.getByRole("link").getAttribute("href"),
        `/ui/console/organizations/${organizationId}`,
      );
      await shoot(beside.page, "access-provider-instance");
      expectQuiet(beside);
      await page.getByRole("link", { name: "Overview" }).click();
      await decide("As in the instance");
      assert.equal(await stateIn(`?ctx.org_id=${organizationId}`), "EFFECTIVE_STATE_ACTIVE");
      expectQuiet(visit);
    });

    it("leaves out the refused attempts of an application for whoever may read no sessions", async () => {
      const { projectId, objects } = world();
      const [app = "", api = ""] = objects["/applications/$id"] ?? [];
      await using visit = await enter(`/ui/console/applications/${app}?tab=refusals`, {
        roles: ["PROJECT_OWNER"],
        projectId,
      });
      await visit.page.getByRole("button", { name: /^Edit: / }).waitFor();
      assert.equal(await visit.page.getByRole("link", { name: "Refused attempts" }).count(), 0);
      expectQuiet(visit);
      // An owner reads them; an API has no redirect addresses.
      await using other = await enterAgain(`/applications/${app}?tab=refusals`);
      const redirects = other.page.getByRole("button", { name: "Change the redirect addresses" });
      await redirects.waitFor();
      await other.go(`/applications/${api}?tab=refusals`);
      await other.page.getByText("What was refused to the API", { exact: false }).waitFor();
      assert.equal(await redirects.count(), 0);
      expectQuiet(other);
    });

    it("says what buttons are for only to who has them", async () => {
      const lead = "Add a provider of the kind";
      await using visit = await enter("/ui/console/providers", { roles: ["IAM_OWNER_VIEWER"] });
      await visit.page.locator("tbody tr").first().waitFor();
      assert.equal(await visit.page.getByText(lead).count(), 0);
      expectQuiet(visit);
      await using other = await enterAgain("/providers");
      await other.page.getByText(lead).waitFor();
      expectQuiet(other);
    });

    it("calls the reader by their name who may read nobody else", async () => {
      const { organizationId, objects } = world();
      const [provider = ""] = objects["/providers/oidc/$id"] ?? [];
      const path = `/ui/console/providers/oidc/${provider}?org=${organizationId}&tab=access`;
      await using visit = await enter(path, { roles: ["ORG_SETTINGS_MANAGER"], organizationId });
      const { page } = visit;
      const own = rowOf(page, "ORG_SETTINGS_MANAGER").filter({ hasText: "Ada Lovelace" });
      await own.first().waitFor();
      assert.equal(await own.first().getByRole("link").count(), 0);
      expectQuiet(visit);
    });
  });
}
