import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { enterAgain, expectQuiet } from "./visits.ts";

export function describeNotices(): void {
  describe("what the console says was done", () => {
    it("goes when the same begins again, and when the reader goes to another page", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      const notice = page.getByRole("status").getByText(/^Done: Save as CSV/);
      await page.getByRole("button", { name: "Save as CSV" }).click();
      await notice.waitFor();
      const released = Promise.withResolvers<void>();
      await page.route("**/*.UserService/SearchUsers", async (route) => {
        await released.promise;
        await route.continue();
      });
      await page.getByRole("button", { name: "Save as CSV" }).click();
      await notice.waitFor({ state: "detached" });
      released.resolve();
      await notice.waitFor();
      await visit.go("/organizations");
      assert.equal(await notice.count(), 0);
      expectQuiet(visit);
    });
  });
}
