// Run: alone, long
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { addressesOf } from "./addresses.ts";
import {
  desk,
  endVisits,
  enter,
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

let world: ConsoleWorld;
before(async () => {
  // Braces mean something in texts.
  world = await makeConsoleWorld(peer, (kind) => (kind === "text" ? evil : payload(kind)));
});
after(endVisits);

/** What each button of the page says that opens a dialog; of rows that are alike, once. */
const opening = async (page: Page): Promise<string[]> => {
  const said = await page.locator("main button[aria-haspopup=dialog]").allInnerTexts();
  return [...new Set(said)];
};

/** Opens each dialog of the page, and tells what is wrong with it. */
async function open(page: Page, address: string): Promise<string[]> {
  const found: string[] = [];
  for (const text of await opening(page)) {
    const name = new RegExp(`^${RegExp.escape(text)}(:|$)`);
    await page.locator("main").getByRole("button", { name }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.getByRole("status").getByText("Loading").waitFor({ state: "detached" });
    // Some are forms with several ways, each with fields of its own.
    const ways = await dialog.getByRole("radio").all();
    for (const way of ways.length === 0 ? [undefined] : ways) {
      await way?.check();
      const wrong = [...(await strangers(page)), ...((await faultsOf(page)) as unknown[])];
      found.push(...wrong.map((each) => `${address}, ${text}: ${String(each)}`));
    }
    await shoot(page, `dialog${address.replaceAll(/\W+/g, "-")}-${text.replaceAll(/\W+/g, "-")}`);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  return found;
}

describe("every dialog of the console", () => {
  for (const [name, viewport] of [["desk", desk] as const, ["phone", phone] as const]) {
    it(`shows every name as text, and is readable and reachable for everybody: ${name}`, async () => {
      await using visit = await enter("/ui/console/people", { viewport });
      const { page } = visit;
      const found: string[] = [];
      let dialogs = 0;
      for (const address of addressesOf(world)) {
        await visit.go(address);
        dialogs += (await opening(page)).length;
        found.push(...(await open(page, address)));
      }
      assert.deepEqual(found, []);
      assert.ok(dialogs > 100, String(dialogs));
      expectQuiet(visit);
    });
  }
});
