import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { delaySearches, enterAgain, expectQuiet, faultsOf, shoot } from "./visits.ts";

/** The box for everything; the world of `pages.spec` has what begins with "aardvark". */
export function describeSearch(): void {
  describe("the search of the console", () => {
    it("finds everything with the keyboard alone", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.keyboard.press("Control+k");
      const box = page.getByRole("combobox", { name: "Search" });
      await box.waitFor();
      await page.keyboard.type("aardvark");
      await page.getByRole("option").filter({ hasText: "Aardvark app" }).waitFor();
      await shoot(page, "search");
      assert.deepEqual(await faultsOf(page), []);
      const chosen = page.locator('[role=option][aria-selected="true"]');
      while (!(await chosen.textContent())?.includes("Aardvark app")) {
        await page.keyboard.press("ArrowDown");
      }
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/applications\//);
      await page.getByRole("heading", { level: 1 }).getByText("Aardvark app").waitFor();
      await page.keyboard.press("Control+k");
      await box.waitFor();
      await page.keyboard.type("organ");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/organizations$/);
      await page.keyboard.press("Control+k");
      await box.waitFor();
      await page.keyboard.press("Escape");
      await box.waitFor({ state: "detached" });
      expectQuiet(visit);
    });

    it("keeps for the search what is typed before it is loaded", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
      const released = Promise.withResolvers<void>();
      await page.route("**/*.js", async (route) => {
        await released.promise;
        await route.continue();
      });
      await page.keyboard.press("Control+k");
      await page.keyboard.type("aard");
      const box = page.getByRole("combobox", { name: "Search" });
      assert.equal(await box.count(), 0);
      released.resolve();
      await box.waitFor();
      await page.keyboard.type("vark");
      assert.equal(await box.inputValue(), "aardvark");
      await page.getByRole("option").filter({ hasText: "Aardvark app" }).waitFor();
      await page.keyboard.press("Escape");
      expectQuiet(visit);
    });

    it("goes where the text leads that is typed, though the answer to an older one is shown", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.keyboard.press("Control+k");
      const box = page.getByRole("combobox", { name: "Search" });
      await box.fill("aardvark-0");
      const options = page.getByRole("option");
      await options.filter({ hasText: "aardvark-00" }).first().waitFor();
      const release = await delaySearches(page);
      await box.fill("aardvark-17");
      await page.keyboard.press("Enter");
      assert.ok((await options.count()) > 1, "those of the older answer");
      release();
      await page.waitForURL(/\/people\/\d+/);
      await page.getByRole("heading", { level: 1 }).getByText("Number 17").waitFor();
      expectQuiet(visit);
    });

    it("goes to what was chosen of an older answer, and nowhere where nothing is found", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.keyboard.press("Control+k");
      const box = page.getByRole("combobox", { name: "Search" });
      await box.fill("nobody of that name");
      await page.keyboard.press("Enter");
      const nothing = page.getByRole("status").getByText("Nothing found");
      await nothing.waitFor();
      assert.equal(await box.count(), 1);
      const answer = await delaySearches(page);
      await box.fill("aardvark-2");
      await nothing.waitFor({ state: "detached" });
      answer();
      const options = page.getByRole("option");
      await options.filter({ hasText: "aardvark-29" }).waitFor();
      const release = await delaySearches(page);
      await box.fill("aardvark-3");
      await page.keyboard.press("ArrowDown");
      const chosen = page.locator('[role=option][aria-selected="true"]');
      await chosen.filter({ hasText: "aardvark-21" }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/people\/\d+/);
      release();
      await page.getByRole("heading", { level: 1 }).getByText("Number 21").waitFor();
      expectQuiet(visit);
    });
  });
}
