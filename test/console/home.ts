import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeliveryState } from "#gen/idsvc/resources/action/v3alpha/delivery_pb.ts";
import { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { until } from "../jobs/place.ts";
import { personWithTotp } from "../login/people.ts";
import { addPersonNamed } from "../support/login.ts";
import { bodyOf } from "../support/peer.ts";
import { enter, expectQuiet, faultsOf, logIn, openPrivately, peer, shoot } from "./visits.ts";
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
      const mail = health.getByRole("listitem").filter({ hasText: "Mail provider" });
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

    it("tells of deliveries that were given up, however many came since, and leads to them", async () => {
      await using visit = await enter("/ui/console/people");
      const { page } = visit;
      const { input, output } = DeliveryService.method.searchDeliveries;
      const dead = DeliveryState.DEAD;
      // One becomes so after a day.
      const body = toBinary(
        output,
        create(output, { result: [{ id: "given-up", state: dead, triggerName: "org.added" }] }),
      );
      await page.route(/SearchDeliveries$/, (route) => {
        const { filters } = fromBinary(input, route.request().postDataBuffer() ?? new Uint8Array());
        const isAsked = filters.some(
          ({ filter }) => filter.case === "state" && filter.value.state === dead,
        );
        return isAsked
          ? route.fulfill({ contentType: "application/proto", body: Buffer.from(body) })
          : route.continue();
      });
      await visit.go("/");
      const health = page
        .getByRole("listitem")
        .filter({ hasText: "Deliveries that were given up" });
      await health.getByText("Needs you: 1").waitFor();
      await health.getByRole("link").click();
      await page.getByRole("rowheader", { name: "org.added" }).waitFor();
      assert.equal(await page.getByLabel("State").inputValue(), "DELIVERY_STATE_DEAD");
      expectQuiet(visit);
    });

    it("shows first steps until all are taken, and leads to them from then on", async () => {
      await using visit = await enter("/ui/console/");
      const { page } = visit;
      const heading = page.getByRole("heading", { name: "First steps" });
      await heading.waitFor();
      const secured = page.getByRole("listitem").filter({ hasText: "second factor" });
      assert.equal(await secured.getByText("Done").count(), 0);
      assert.equal(await page.getByRole("link", { name: "First steps" }).count(), 0);
      // Somebody with a second factor in their place: one of their own would ask for it.
      const { id: other } = await personWithTotp(peer);
      const { input } = UserService.method.getUser;
      const body = toBinary(input, create(input, { id: other }));
      await page.route(/GetUser$/, (route) => route.continue({ postData: Buffer.from(body) }));
      await page.reload();
      const again = page.getByRole("link", { name: "First steps" });
      await again.waitFor();
      assert.equal(await heading.count(), 0);
      assert.deepEqual(await faultsOf(page), []);
      await again.click();
      await page.getByRole("heading", { level: 1, name: "First steps" }).waitFor();
      assert.equal(await page.getByRole("listitem").filter({ hasText: "Done" }).count(), 5);
      assert.deepEqual(await faultsOf(page), []);
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search" }).fill("first");
      await page.getByRole("option", { name: /First steps/ }).waitFor();
      await page.keyboard.press("Escape");
    });

    it("shows an administrator of one organization its log-ins, and nothing of the instance", async () => {
      const organizationId = await peer.addOrganization({ name: "Home of one" });
      await using visit = await enter("/ui/console/", { roles: ["ORG_OWNER"], organizationId });
      const { page } = visit;
      await page.getByRole("img", { name: "Sign-ins of the last days: 0" }).waitFor();
      assert.equal(await page.getByRole("heading", { name: "Health" }).count(), 0);
      expectQuiet(visit);
    });

    it("offers first steps only to who may take them", async () => {
      await using visit = await enter("/ui/console/", { roles: ["IAM_OWNER_VIEWER"] });
      const { page } = visit;
      await page.getByRole("listitem").filter({ hasText: "second factor" }).waitFor();
      const steps = page.locator("section", {
        has: page.getByRole("heading", { name: "First steps" }),
      });
      assert.equal(await steps.getByRole("listitem").count(), 1);
      expectQuiet(visit);
    });

    it("leads whoever administers nothing to their account, and offers no organizations", async () => {
      const { loginName } = await addPersonNamed(peer);
      await using visit = await openPrivately(`${peer.issuer}/ui/console/`);
      const { page } = visit;
      await logIn(page, loginName);
      await page.getByText("There is nothing here that you administer.").waitFor();
      const buttons = page.getByRole("banner").getByRole("button");
      assert.deepEqual(await buttons.allInnerTexts(), ["Search Ctrl K", "Sign out"]);
      assert.deepEqual(await faultsOf(page), []);
      assert.deepEqual(visit.misdeeds, []);
    });

    it("leads on whoever has nothing to look at there", async () => {
      const { organizationId } = world();
      await using visit = await enter("/ui/console/", {
        roles: ["ORG_SETTINGS_MANAGER"],
        organizationId,
      });
      const { page } = visit;
      await page.getByRole("main").getByRole("link", { name: "Branding" }).waitFor();
      await shoot(page, "home-bare");
      assert.deepEqual(await faultsOf(page), []);
      expectQuiet(visit);
    });
  });
}
