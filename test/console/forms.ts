import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { until } from "../jobs/place.ts";
import { bodyOf } from "../support/peer.ts";
import { basic, paths } from "../support/oidc.ts";
import { dialogOf } from "./tasks.ts";
import { delaySearches, enter, enterAgain, expectQuiet, faultsOf, peer, shoot } from "./visits.ts";
import type { ConsoleWorld } from "./world.ts";

/** @param world what is looked at, once it is made */
export function describeForms(world: () => ConsoleWorld): void {
  describe("the forms of the console", () => {
    it("lead on to the next step with the focus in its first field", async () => {
      await using visit = await enterAgain(`/people/${world().userId}?tab=credentials`);
      const { page } = visit;
      const add = page.getByRole("button", { name: "Add codes by e-mail" });
      await add.focus();
      await page.keyboard.press("Enter");
      await dialogOf(page).getByLabel("E-mail").fill("next@zoo.test");
      await page.keyboard.press("Enter");
      await dialogOf(page).getByRole("heading", { name: "Enter the code" }).waitFor();
      // The library of dialogs moves the focus in the frame after.
      await page.evaluate(async () => {
        for (const _ of Array(3)) await new Promise((frame) => requestAnimationFrame(frame));
      });
      const code = dialogOf(page).getByLabel("Code", { exact: true });
      assert.ok(await code.evaluate((input) => input === document.activeElement));
      await page.keyboard.press("Escape");
      await dialogOf(page).waitFor({ state: "detached" });
      expectQuiet(visit);
    });

    it("mark what has to be filled in, which screen readers say of the control", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.getByRole("button", { name: "Create a person" }).click();
      await dialogOf(page).locator("label").first().waitFor();
      const marks = await dialogOf(page).evaluate((dialog) =>
        [...dialog.querySelectorAll<HTMLInputElement>("input, select, textarea")].flatMap(
          (control) => {
            const beside = control.labels?.[0]?.nextElementSibling;
            return control.type === "radio" || control.type === "checkbox"
              ? []
              : [[control.required, beside?.textContent === "required"]];
          },
        ),
      );
      assert.ok(marks.some(([required]) => required) && marks.some(([required]) => !required));
      assert.ok(
        marks.every(([required, isMarked]) => required === isMarked),
        String(marks),
      );
      assert.deepEqual(await faultsOf(page), []);
      await page.keyboard.press("Escape");
      expectQuiet(visit);
    });

    it("mend a redirect address beside what was refused to the application", async () => {
      const client = await peer.addClient();
      const form = { grant_type: "client_credentials" };
      const wrong = await peer.send(paths.token, form, basic({ ...client, secret: "wrong" }));
      assert.equal(wrong.status, 401);
      await delay(1_100); // what was refused is written once a second
      await using visit = await enterAgain(`/applications/${client.appId}`);
      const { page } = visit;
      await page.getByRole("link", { name: "Refused attempts" }).click();
      await page.getByRole("row").filter({ hasText: paths.token }).waitFor();
      await shoot(page, "application-refusals");
      await page.getByRole("button", { name: "Change the redirect addresses" }).click();
      const failed = "https://shop.test/authorize?redirect_uri=https%3A%2F%2Fshop.test%2Fmended";
      await dialogOf(page)
        .getByLabel(/^Redirect addresses/)
        .fill(failed);
      await dialogOf(page).getByRole("button", { name: "Save" }).click();
      await page.getByRole("status").getByText("Done: Change the redirect addresses").waitFor();
      const { app } = bodyOf(await peer.get(`/apps/${client.appId}`));
      assert.deepEqual(app.app.oidc.redirect_uris, ["https://shop.test/mended"]);
      assert.deepEqual(await faultsOf(page), []);
      expectQuiet(visit);
    });

    it("choose the organization where there is one alone, until the reader takes it out", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      const { output } = OrganizationService.method.searchOrganizations;
      const only = { details: { id: "1" }, organization: { name: "The only one" } };
      const body = toBinary(output, create(output, { result: [only] }));
      await page.route(/SearchOrganizations$/, (route) =>
        route.fulfill({ contentType: "application/proto", body: Buffer.from(body) }),
      );
      // What the page has asked before it does not ask again.
      await page.reload();
      await page.getByRole("button", { name: "Create a person" }).click();
      const field = dialogOf(page).getByRole("combobox", { name: "Organization" });
      await until(async () => (await field.inputValue()) === "The only one", "the only one");
      const help = dialogOf(page).getByText("The ID in another system", { exact: false });
      await help.waitFor();
      await field.fill("");
      await page.getByRole("option", { name: /^The only one/ }).waitFor();
      assert.equal(await field.inputValue(), "");
      await page.keyboard.press("Escape");
      await page.unroute(/SearchOrganizations$/);
      await page.reload();
    });

    it("say that an ID is taken where nothing is found by name", async () => {
      const { projectId, partnerId } = world();
      await using visit = await enter(`/ui/console/projects/${projectId}?tab=access`, {
        roles: ["PROJECT_OWNER"],
        projectId,
      });
      const { page } = visit;
      await page.getByRole("button", { name: "Grant to an organization" }).click();
      const field = dialogOf(page).getByRole("combobox", { name: "Organization" });
      await field.fill("Zoo partner");
      await dialogOf(page).getByText("The whole ID is taken as well.", { exact: false }).waitFor();
      await shoot(page, "picked-by-id");
      assert.deepEqual(await faultsOf(page), []);
      await field.fill(partnerId);
      await dialogOf(page).getByRole("checkbox").first().check();
      assert.equal(await field.inputValue(), partnerId);
      expectQuiet(visit);
    });

    it("choose what the text names that is typed, though what an older one found is shown", async () => {
      for (const name of ["Marsh one", "Marsh two"]) await peer.addOrganization({ name });
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.getByRole("button", { name: "Create a person" }).click();
      const field = dialogOf(page).getByRole("combobox", { name: "Organization" });
      for (const key of ["Tab", "Enter"]) {
        await field.fill("Marsh one");
        await page.getByRole("option", { name: /^Marsh one/ }).waitFor();
        const release = await delaySearches(page);
        await field.fill("marsh tw");
        await page.keyboard.press(key);
        assert.notEqual(await field.inputValue(), "Marsh one");
        release();
        await until(
          async () => (await field.inputValue()) === "Marsh two",
          `the other one by ${key}`,
        );
      }
      await page.keyboard.press("Escape");
      expectQuiet(visit);
    });

    it("ask of a provider first what it gave, and say what it wants to know", async () => {
      await using visit = await enterAgain("/providers");
      const { page } = visit;
      await page.getByRole("button", { name: "OpenID Connect" }).click();
      const labels = dialogOf(page).locator("label");
      await labels.first().waitFor();
      assert.deepEqual((await labels.allInnerTexts()).slice(0, 3), ["Name", "Issuer", "Client ID"]);
      const client = dialogOf(page).getByLabel("Client ID");
      const hint = await client.evaluate(
        (input) => document.getElementById(input.getAttribute("aria-describedby") ?? "")?.innerText,
      );
      assert.match(hint ?? "", /^The provider gives it .* http:\/\/\S+\/idps\/callback\.$/);
      await page.keyboard.press("Escape");
      const [id = ""] = world().objects["/providers/saml/$id"] ?? [];
      await visit.go(`/providers/saml/${id}?tab=guide`);
      const { origin } = new URL(page.url());
      const told = page.getByRole("figure").locator("code");
      assert.deepEqual((await told.allInnerTexts()).slice(0, 2), [
        `${origin}/idps/${id}/saml/metadata`,
        `${origin}/idps/${id}/saml/acs`,
      ]);
      expectQuiet(visit);
    });
  });
}
