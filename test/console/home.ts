import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../jobs/place.ts";
import { bodyOf } from "../support/peer.ts";
import { enter, expectQuiet, faultsOf, peer, shoot } from "./visits.ts";
import type { ConsoleWorld } from "./world.ts";

type Day = { day: string; count: string };
const countsOf = async (query = ""): Promise<Day[]> =>
  bodyOf(await peer.get(`/log_ins${query}`)).result;

/** @param world what is looked at, once it is made */
export function describeHome(world: () => ConsoleWorld): void {
  describe("the first page of the console", () => {
    it("shows what needs somebody, and the log-ins of the last days, as a chart and as a table", async () => {
      const before = Number((await countsOf()).at(-1)?.count);
      await using visit = await enter("/ui/console/");
      const { page } = visit;
      await until(async () => Number((await countsOf()).at(-1)?.count) > before, "the log-in");
      await page.reload();
      const health = page.locator("section", {
        has: page.getByRole("heading", { name: "Health" }),
      });
      const mail = health.getByRole("listitem").filter({ hasText: "Sending mail" });
      const [needed, fine] = ["Needs you: 1", "In order"];
      await mail.getByText(fine).waitFor();
      await health.getByRole("listitem").filter({ hasText: "Limits" }).getByText(fine).waitFor();
      const days = await countsOf();
      const all = days.reduce((sum, { count }) => sum + Number(count), 0);
      await page.getByRole("img", { name: `Sign-ins of the last days: ${all}` }).waitFor();
      await page.getByText("As a table").click();
      const cells = page.locator("figure").getByRole("cell");
      assert.deepEqual(
        await cells.allInnerTexts(),
        days.map(({ count }) => count),
      );
      await shoot(page, "home");
      assert.deepEqual(await faultsOf(page), []);
      const [provider] = world().objects["/mail/$id"] ?? [];
      bodyOf(await peer.post(`/smtp_providers/${provider}/_deactivate`));
      await page.reload();
      await mail.getByText(needed).waitFor();
      bodyOf(await peer.post(`/smtp_providers/${provider}/_activate`));
      expectQuiet(visit);
    });

    it("shows an administrator of one organization its log-ins, and nothing of the instance", async () => {
      const organizationId = await peer.addOrganization({ name: "Home of one" });
      await using visit = await enter("/ui/console/", { roles: ["ORG_OWNER"], organizationId });
      const { page } = visit;
      await page.getByRole("img", { name: "Sign-ins of the last days: 0" }).waitFor();
      assert.equal(await page.getByRole("heading", { name: "Health" }).count(), 0);
      expectQuiet(visit);
    });
  });
}
