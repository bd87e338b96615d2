import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import type { Page } from "playwright-core";
import { until } from "../jobs/place.ts";
import { bodyOf } from "../support/peer.ts";
import { password } from "../support/login.ts";
import { dialogOf, done, rowOf } from "./tasks.ts";
import { enter, enterAgain, expectQuiet, faultsOf, peer, phone, shoot } from "./visits.ts";

/** A person of an organization with a number of sessions of their own. */
async function personWithSessions(organizationId: string, name: string, count: number) {
  const data = { given_name: name, family_name: "Heron" };
  const userId = await peer.addPerson({ username: name.toLowerCase(), data }, organizationId);
  const ids: string[] = [];
  for (let nth = 1; nth <= count; nth++) {
    const description = `Browser ${nth} of ${name}`;
    const session: JsonValue = {
      checks: { user: { user_id: userId }, password: { password } },
      user_agent: { description, ip: "203.0.113.7" },
    };
    ids.push(bodyOf(await peer.post("/sessions", session), 201).session_id);
  }
  return { userId, ids };
}

const mark = (page: Page, id: string) =>
  page.getByRole("checkbox", { name: new RegExp(`^Mark: .* ${id}$`) }).check();

const livesOn = async (id: string): Promise<boolean> =>
  (await peer.get(`/sessions/${id}`)).status === 200;

export function describeSessions(): void {
  describe("the sessions of everybody in the console", () => {
    it("are those of the organization that somebody administers, each with its person, who is a link away", async () => {
      const organizationId = await peer.addOrganization({ name: "Sessions of one" });
      const elsewhere = await peer.addOrganization({ name: "Sessions elsewhere" });
      const { userId } = await personWithSessions(organizationId, "Ibis", 2);
      const { ids } = await personWithSessions(elsewhere, "Egret", 1);
      const visit = await enter("/ui/console/people", {
        roles: ["ORG_USER_MANAGER"],
        organizationId,
      });
      await using _ = visit;
      const { page } = visit;
      await page.getByRole("navigation", { name: "People" }).getByText("Sessions").click();
      // An ID stands there until the names have come.
      await rowOf(page, "Browser 2 of Ibis").filter({ hasText: "Ibis Heron" }).waitFor();
      const rows = page.locator("tbody tr");
      assert.equal(await rows.count(), 2);
      // The newest come first.
      assert.match(
        (await rows.first().textContent()) ?? "",
        /Ibis Heron.*Browser 2.*203\.0\.113\.7/,
      );
      assert.ok(await livesOn(ids[0] ?? ""));
      await shoot(page, "sessions");
      assert.deepEqual(await faultsOf(page), []);
      await rows.first().getByRole("link", { name: "Ibis Heron" }).click();
      await page.waitForURL(new RegExp(`/people/${userId}`));
      await page.getByRole("heading", { level: 1, name: "Ibis Heron" }).waitFor();
      expectQuiet(visit);
    });

    it("are filtered by a person and by days, which the address says, with the keyboard alone", async () => {
      const organizationId = await peer.addOrganization({ name: "Sessions of two" });
      const { userId } = await personWithSessions(organizationId, "Bittern", 1);
      await personWithSessions(organizationId, "Spoonbill", 1);
      await using visit = await enterAgain(`/sessions?org=${organizationId}`);
      const { page } = visit;
      await rowOf(page, "Spoonbill").waitFor();
      await page.getByRole("combobox", { name: "Person" }).focus();
      await page.keyboard.type("bittern");
      await page.getByRole("option", { name: /Bittern Heron/ }).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.searchParams.get("person") === userId);
      await rowOf(page, "Spoonbill").waitFor({ state: "detached" });
      await rowOf(page, "Browser 1 of Bittern").waitFor();
      await page.reload();
      await rowOf(page, "Browser 1 of Bittern").waitFor();
      const person = page.getByRole("combobox", { name: "Person" });
      await until(async () => (await person.inputValue()) === "Bittern Heron", "the name");
      const day = (days: number): string => {
        const at = new Date(peer.now().getTime() + days * 86_400_000);
        return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
      };
      await page.getByLabel("From").fill(day(2));
      await page.getByText("Nothing matches this filter.").waitFor();
      await page.getByLabel("From").fill(day(-1));
      await rowOf(page, "Browser 1 of Bittern").waitFor();
      await page.getByLabel("To, with this day").fill(day(-2));
      await page.getByText("Nothing matches this filter.").waitFor();
      expectQuiet(visit);
    });

    it("are ended one by one, and many with a report of each", async () => {
      const organizationId = await peer.addOrganization({ name: "Sessions of three" });
      const { ids } = await personWithSessions(organizationId, "Curlew", 3);
      const [first = "", second = "", third = ""] = ids;
      await using visit = await enter(`/ui/console/sessions?org=${organizationId}`, {
        roles: ["ORG_USER_MANAGER"],
        organizationId,
        viewport: phone,
      });
      const { page } = visit;
      await rowOf(page, "Browser 3 of Curlew").waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await shoot(page, "sessions-phone");
      await page
        .getByRole("button", { name: `End: Curlew Heron Browser 1 of Curlew ${first}` })
        .click();
      await dialogOf(page).getByRole("button", { name: "End", exact: true }).click();
      await done(page, "End");
      await rowOf(page, "Browser 1 of Curlew").waitFor({ state: "detached" });
      assert.ok(!(await livesOn(first)));
      assert.ok(await livesOn(second));
      for (const id of [second, third]) await mark(page, id);
      await page.getByRole("button", { name: "End (2)" }).click();
      await dialogOf(page).getByRole("button", { name: "End", exact: true }).click();
      await dialogOf(page).getByText("Done: 2 / 2").waitFor();
      await dialogOf(page).getByRole("button", { name: "Close" }).click();
      await page.getByText("There is nothing here yet").waitFor();
      assert.ok(!(await livesOn(second)) && !(await livesOn(third)));
      expectQuiet(visit);
    });

    it("of somebody who outranks the reader stay, and the report says why", async () => {
      const organizationId = await peer.addOrganization({ name: "Sessions of four" });
      const { ids: weak } = await personWithSessions(organizationId, "Dunlin", 1);
      const { userId } = await personWithSessions(organizationId, "Osprey", 1);
      const ctx = { instance_id: peer.app.made.instance_id };
      const membership = { ctx, user_id: userId, roles: ["IAM_OWNER"] };
      bodyOf(await peer.post("/memberships", membership), 201);
      const [ofOsprey = ""] = await sessionsOf(userId);
      await using visit = await enter(`/ui/console/sessions?org=${organizationId}`, {
        roles: ["ORG_OWNER"],
        organizationId,
      });
      const { page } = visit;
      for (const id of [weak[0] ?? "", ofOsprey]) await mark(page, id);
      await page.getByRole("button", { name: "End (2)" }).click();
      await dialogOf(page).getByRole("button", { name: "End", exact: true }).click();
      await dialogOf(page)
        .getByText(/Done: 1 \/ 2/)
        .waitFor();
      await shoot(page, "sessions-report");
      assert.ok(await livesOn(ofOsprey));
      assert.ok(!(await livesOn(weak[0] ?? "")));
    });
  });

  describe("the limits of a session of the console (K4)", () => {
    it("are set with the security settings, refused at their field, and reset", async () => {
      await using visit = await enterAgain("/settings/security");
      const { page } = visit;
      const word = "Unused sessions of the console end after";
      const row = rowOf(page, word);
      await row.getByText("1 hour").waitFor();
      await row.getByRole("button", { name: `Change: ${word}` }).click();
      const field = dialogOf(page).getByLabel(word, { exact: true });
      assert.equal(await field.inputValue(), "1");
      await field.fill("9999");
      await dialogOf(page).getByRole("button", { name: "Save" }).click();
      await dialogOf(page).getByText("must be from 1m to 720h").first().waitFor();
      assert.equal(await field.getAttribute("aria-invalid"), "true");
      await dialogOf(page).getByLabel(`${word}: unit`).selectOption({ label: "minutes" });
      await field.fill("30");
      await dialogOf(page).getByRole("button", { name: "Save" }).click();
      await done(page, "Change");
      await row.getByText("30 minutes").waitFor();
      const path = "/settings/v3alpha/security";
      const stored = async () => {
        const answer = await peer.peer.rest("GET", path, undefined, { token: peer.app.token });
        return bodyOf(answer).settings.console_idle_expiration;
      };
      assert.deepEqual(await stored(), { value: "1800s" });
      await row.getByRole("button", { name: `Use the inherited value: ${word}` }).click();
      await dialogOf(page).locator("button[type=submit]").click();
      await row.getByText("1 hour").waitFor();
      assert.equal((await stored()).value, "3600s");
    });
  });
}

/** The sessions of a user; where an owner's were ended when they came to power, a new one. */
async function sessionsOf(userId: string): Promise<string[]> {
  const { result } = bodyOf(await peer.post("/sessions/_search", [{ user_id: userId }]));
  const found = result.map(({ details }: { details: { id: string } }) => details.id);
  if (found.length > 0) return found;
  const checks = { user: { user_id: userId }, password: { password } };
  return [bodyOf(await peer.post("/sessions", { checks }), 201).session_id];
}
