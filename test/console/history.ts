import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bodyOf } from "../support/peer.ts";
import { enter, enterAgain, expectQuiet, faultsOf, peer, shoot } from "./visits.ts";

export function describeHistory(): void {
  describe("the history of an object in the console (K9)", () => {
    it("says what stood in a field before and after each change", async () => {
      const { details } = bodyOf(await peer.post("/organizations", { name: "Quoll" }), 201);
      const { id } = details;
      bodyOf(await peer.patch(`/organizations/${id}`, { name: "Quoll North" }));
      bodyOf(await peer.patch(`/organizations/${id}`, { name: "Quoll South" }));
      await using visit = await enterAgain(`/organizations/${id}?tab=history`);
      const { page } = visit;
      await page.locator('summary[title="org.changed"]').first().waitFor();
      // What is opened moves what is below it.
      for (const each of await page.locator("main details").all()) {
        await each.locator("summary").click();
        await each.locator("dl > div").first().waitFor();
      }
      const written = async (type: string, nth: number) =>
        page
          .locator("details", { has: page.locator(`summary[title="${type}"]`) })
          .nth(nth)
          .locator("dl > div", { has: page.locator("dt", { hasText: /^name$/ }) })
          .locator("dd")
          .allInnerTexts();
      assert.deepEqual(await written("org.changed", 0), [
        "Before Quoll North",
        "After Quoll South",
      ]);
      assert.deepEqual(await written("org.changed", 1), ["Before Quoll", "After Quoll North"]);
      assert.deepEqual(await written("org.added", 0), ["Quoll"]);
      await shoot(page, "history-changes");
      assert.deepEqual(await faultsOf(page), []);
      expectQuiet(visit);
    });

    it("leads to all that the request did", async () => {
      const id = await peer.addPerson({ username: "quoll-gone" });
      const { details } = bodyOf(await peer.post("/organizations", { name: "Quoll East" }), 201);
      const ctx = { org_id: details.id };
      const given = { ctx, user_id: id, roles: ["ORG_OWNER"] };
      bodyOf(await peer.post("/memberships", given), 201);
      bodyOf(await peer.remove(`/users/${id}`));
      bodyOf(await peer.post("/organizations", { name: "Quoll West" }), 201);
      await using visit = await enterAgain("/events");
      const { page } = visit;
      const removed = page.getByRole("row").filter({ hasText: id }).first();
      await removed.waitFor();
      await removed.getByRole("link").last().click();
      await page.waitForURL(/request=.+&near=\d+/);
      await page.getByText("What one request did:").waitFor();
      await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 2);
      await shoot(page, "history-request");
      assert.deepEqual(await faultsOf(page), []);
      await page.getByRole("link", { name: "All", exact: true }).click();
      await page.waitForFunction(() => document.querySelectorAll("tbody tr").length > 2);
      assert.equal(new URL(page.url()).search, "");
      expectQuiet(visit);
    });

    it("leads nobody to what a request did who may not read events", async () => {
      const organizationId = await peer.addOrganization({ name: "Quoll Coast" });
      const id = await peer.addPerson({ username: "quoll-reader" }, organizationId);
      const path = `/ui/console/people/${id}?tab=history`;
      await using visit = await enter(path, { roles: ["ORG_USER_MANAGER"], organizationId });
      const { page } = visit;
      await page.getByRole("rowheader").first().waitFor();
      assert.equal(await page.locator('main a[href*="/events"]').count(), 0);
      // What is not there for the reader is no page without anything.
      await visit.go(`/people/${id}?tab=guide`);
      await page.getByRole("definition").filter({ hasText: "quoll-reader" }).first().waitFor();
      expectQuiet(visit);
    });
  });
}
