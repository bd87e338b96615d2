import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { password } from "../support/login.ts";
import { bodyOf } from "../support/peer.ts";
import { enter, enterAgain, expectQuiet, faultsOf, logIn, peer, shoot } from "./visits.ts";

const dialogOf = (page: Page) => page.getByRole("dialog");
const press = (page: Page, name: string) =>
  page.getByRole("button", { name, exact: true }).first().click();
const save = (page: Page) => dialogOf(page).locator("button[type=submit]").click();
const gone = (page: Page) => dialogOf(page).waitFor({ state: "detached" });

async function made(path: string, body: Record<string, string>): Promise<string> {
  return String(bodyOf(await peer.post(path, body), 201).details.id);
}
const organization = (name: string) => made("/organizations", { name });

/** What holds of every change in the console, tried with a few of them. */
export function describeChanges(): void {
  describe("a change in the console (K7)", () => {
    it("is made in a dialog, and what is shown follows at once", async () => {
      const id = await organization("Badger");
      await using visit = await enterAgain(`/organizations/${id}`);
      const { page } = visit;
      await press(page, "Edit: Badger");
      const name = dialogOf(page).getByLabel("Name");
      assert.equal(await name.inputValue(), "Badger");
      await name.fill("Badger & Co");
      await dialogOf(page).getByText("As code").click();
      await dialogOf(page).getByText("curl -X PATCH", { exact: false }).waitFor();
      await shoot(page, "dialog");
      assert.deepEqual(await faultsOf(page), []);
      await save(page);
      await gone(page);
      await page.getByRole("heading", { level: 1, name: "Badger & Co" }).waitFor();
      await page.getByRole("status").getByText("Done: Edit").waitFor();
      expectQuiet(visit);
    });

    it("says at its field what is wrong with it, and keeps what was typed", async () => {
      await using visit = await enterAgain("/organizations");
      const { page } = visit;
      await press(page, "Create an organization");
      await dialogOf(page).getByLabel("Name").fill("A\u0007B");
      await dialogOf(page).getByLabel("Domain").fill("not a domain");
      await save(page);
      const alert = dialogOf(page).getByRole("alert");
      await alert.waitFor();
      const domain = dialogOf(page).getByLabel("Domain");
      assert.equal(await domain.getAttribute("aria-invalid"), "true");
      assert.equal(await domain.inputValue(), "not a domain");
      assert.equal(await dialogOf(page).getByLabel("Name").getAttribute("aria-invalid"), "true");
      await shoot(page, "dialog-wrong");
      assert.deepEqual(await faultsOf(page), []);
    });

    it("shows what somebody else changed meanwhile, and sends what was typed only when told", async () => {
      const id = await organization("Civet");
      await using visit = await enterAgain(`/organizations/${id}`);
      const { page } = visit;
      await press(page, "Edit: Civet");
      await dialogOf(page).getByLabel("Name").fill("Mine");
      bodyOf(await peer.patch(`/organizations/${id}`, { name: "Theirs" }));
      await save(page);
      const alert = dialogOf(page).getByRole("alert");
      await alert.getByText("Somebody changed this meanwhile").waitFor();
      const cells = await alert.getByRole("cell").allTextContents();
      assert.deepEqual(cells, ["Civet", "Theirs", "Mine"]);
      await shoot(page, "dialog-conflict");
      assert.deepEqual(await faultsOf(page), []);
      assert.equal(
        bodyOf(await peer.get(`/organizations/${id}`)).organization.organization.name,
        "Theirs",
      );
      await press(page, "Send mine nevertheless");
      await gone(page);
      await page.getByRole("heading", { level: 1, name: "Mine" }).waitFor();
    });

    it("of a row stays open when the list goes on, and shows what somebody else wrote there", async () => {
      const id = await organization("Lemur");
      const set = async (value: string) => {
        const body = [{ key: "password.title", language: "en", set: value }];
        const path = `/settings/v3alpha/texts?ctx.org_id=${id}`;
        bodyOf(await peer.peer.rest("PATCH", path, body, { token: peer.app.token }));
      };
      await set("First");
      await using visit = await enterAgain(`/texts?org=${id}&q=password.title`);
      const { page } = visit;
      await press(page, "Change: password.title");
      await dialogOf(page).getByLabel("Value").fill("Mine");
      await set("Theirs");
      await save(page);
      const alert = dialogOf(page).getByRole("alert");
      await alert.getByText("Somebody changed this meanwhile").waitFor();
      assert.deepEqual(await alert.getByRole("cell").allTextContents(), [
        "First",
        "Theirs",
        "Mine",
      ]);
      await press(page, "Send mine nevertheless");
      await gone(page);
      await page.getByRole("row").filter({ hasText: "Mine" }).waitFor();
    });

    it("keeps what was typed when the service cannot be reached", async () => {
      const id = await organization("Dingo");
      await using visit = await enterAgain(`/organizations/${id}`);
      const { page } = visit;
      await press(page, "Edit: Dingo");
      await dialogOf(page).getByLabel("Name").fill("Dingo 2");
      await page.context().setOffline(true);
      await save(page);
      await dialogOf(page).getByText("The service could not be reached").waitFor();
      assert.equal(await dialogOf(page).getByLabel("Name").inputValue(), "Dingo 2");
      await page.context().setOffline(false);
      await save(page);
      await gone(page);
      await page.getByRole("heading", { level: 1, name: "Dingo 2" }).waitFor();
    });

    it("goes on after a log-in beside it when the session has ended", async () => {
      const id = await organization("Echidna");
      await using visit = await enter(`/ui/console/organizations/${id}`);
      const { page } = visit;
      await press(page, "Edit: Echidna");
      await dialogOf(page).getByLabel("Name").fill("Echidna 2");
      const { result } = bodyOf(await peer.post("/sign_ins/_search", [{ user_id: visit.id }]));
      for (const { details } of result) bodyOf(await peer.remove(`/sign_ins/${details.id}`));
      await save(page);
      await dialogOf(page).getByText("You are signed out").waitFor();
      const [beside] = await Promise.all([
        page.waitForEvent("popup"),
        press(page, "Sign in in another window"),
      ]);
      await logIn(beside, visit.loginName);
      await gone(page);
      await page.getByRole("heading", { level: 1, name: "Echidna 2" }).waitFor();
      assert.equal(beside.isClosed(), true);
    });

    it("asks with the name before something is lost, and leads to the list", async () => {
      const id = await organization("Ferret");
      await using visit = await enterAgain(`/organizations/${id}`);
      const { page } = visit;
      await press(page, "Delete: Ferret");
      await dialogOf(page).getByText("Ferret", { exact: true }).waitFor();
      await dialogOf(page).getByText("It is deleted for good", { exact: false }).waitFor();
      await press(page, "Cancel");
      await gone(page);
      await press(page, "Delete: Ferret");
      await dialogOf(page).getByRole("button", { name: "Delete", exact: true }).click();
      await page.waitForURL((url) => url.pathname.endsWith("/organizations"));
      assert.equal(
        (await peer.get(`/organizations/${id}`)).refusal?.reason,
        "ORGANIZATION_NOT_FOUND",
      );
      expectQuiet(visit);
    });

    it("names what it is about as its list does, and not by an ID or by a time for programs", async () => {
      await using visit = await enterAgain("/administrators");
      const { page, go } = visit;
      const row = "Instance Administrator";
      await page.getByRole("button", { name: `Take the roles away: ${row}` }).click();
      await dialogOf(page).getByText(`This concerns “${row}”`, { exact: false }).waitFor();
      assert.doesNotMatch(await dialogOf(page).innerText(), /\d{9}/);
      await page.keyboard.press("Escape");
      const id = await peer.addPerson({
        authenticators: { password: { password: "correct-Horse-9-battery" } },
      });
      const membership = { ctx: { org_id: await organization("Named") }, user_id: id };
      bodyOf(await peer.post("/memberships", { ...membership, roles: ["ORG_OWNER_VIEWER"] }), 201);
      await go(`/people/${id}?tab=access`);
      await page.getByRole("button", { name: "Take the roles away: ORG_OWNER_VIEWER" }).waitFor();
      await go(`/people/${id}?tab=credentials`);
      const buttons = page.getByRole("button", { name: /^Remove: / });
      const names = await buttons.evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel ?? ""));
      assert.match(names.join(), /^Remove: [A-Z][a-z]+ \d+, \d{4}, [\d:]+.[AP]M$/u);
      expectQuiet(visit);
    });

    it("is taken back from the notice that it was done", async () => {
      const id = await organization("Heron Gull");
      await using visit = await enterAgain(`/organizations/${id}`);
      const { page } = visit;
      await press(page, "Deactivate: Heron Gull");
      await dialogOf(page).getByRole("button", { name: "Deactivate", exact: true }).click();
      await gone(page);
      await press(page, "Undo");
      await page.getByRole("status").getByText("Done: Undo").waitFor();
      const { state } = bodyOf(await peer.get(`/organizations/${id}`)).organization;
      assert.equal(state, "EFFECTIVE_STATE_ACTIVE");
      await page.getByRole("button", { name: "Deactivate: Heron Gull" }).waitFor();
      expectQuiet(visit);
    });

    it("is told on the page that it concerns, until another one is opened", async () => {
      const id = await organization("Numbat");
      await using visit = await enterAgain(`/organizations/${id}`);
      const { page } = visit;
      const status = page.getByRole("status").first();
      await press(page, "Deactivate: Numbat");
      await dialogOf(page).getByRole("button", { name: "Deactivate", exact: true }).click();
      await gone(page);
      await status.getByText("Done: Deactivate").waitFor();
      await page.getByRole("link", { name: "History", exact: true }).click();
      await page.getByRole("rowheader").first().waitFor();
      assert.equal(await status.textContent(), "Done: Deactivate: Numbat");
      await page.getByRole("main").getByRole("link", { name: "Organizations" }).first().click();
      await page.getByRole("table").waitFor();
      assert.equal(await status.textContent(), "");
      assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
      await press(page, "Create an organization");
      await dialogOf(page).getByLabel("Name").fill("Numbat 2");
      await save(page);
      await page.getByRole("heading", { level: 1, name: "Numbat 2" }).waitFor();
      await status.getByText("Done: Create an organization").waitFor();
      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "Organizations" }).waitFor();
      assert.equal(await status.textContent(), "");
      expectQuiet(visit);
    });

    it("that ends when its page has been left leads nobody away and says nothing elsewhere", async () => {
      await using visit = await enterAgain("/people");
      const { page } = visit;
      await page.getByRole("link", { name: "Organizations", exact: true }).first().click();
      await press(page, "Create an organization");
      let go = () => {};
      const held = new Promise<void>((resolve) => (go = resolve));
      await page.route(/CreateOrganization/, async (route) => {
        await held;
        await route.continue();
      });
      await dialogOf(page).getByLabel("Name").fill("Okapi");
      const asked = page.waitForRequest(/CreateOrganization/);
      await save(page);
      await asked;
      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
      const read = page.waitForRequest(/SearchUsers/);
      go();
      // What is shown is read anew when all else is done.
      await read;
      assert.equal(await page.getByRole("status").first().textContent(), "");
      assert.match(page.url(), /\/people$/);
      expectQuiet(visit);
    });

    it("is made to all rows that are marked, with what became of each", async () => {
      const id = await organization("Ibis");
      for (const username of ["ibis-1", "ibis-2"]) await peer.addPerson({ username }, id);
      await using visit = await enterAgain(`/people?org=${id}`);
      const { page } = visit;
      await page.getByLabel("Mark: ibis-1").check();
      await page.getByLabel("Mark: ibis-2").check();
      await shoot(page, "marked");
      assert.deepEqual(await faultsOf(page), []);
      await press(page, "Deactivate (2)");
      await dialogOf(page).getByText("ibis-1, ibis-2", { exact: false }).waitFor();
      await dialogOf(page).getByRole("button", { name: "Deactivate", exact: true }).click();
      await dialogOf(page).getByText("Done: 2 / 2").waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await dialogOf(page).getByRole("button", { name: "Close" }).click();
      await gone(page);
      await page.getByRole("row").filter({ hasText: "Inactive" }).nth(1).waitFor();
      expectQuiet(visit);
    });

    it("of others is shown as it happens", async () => {
      await using visit = await enterAgain("/events");
      const { page } = visit;
      await page.getByRole("rowheader").first().waitFor();
      const before = page.getByRole("rowheader");
      const first = await page.getByRole("row").nth(1).textContent();
      await organization("Jackdaw");
      await page.waitForFunction(
        (text) => document.querySelectorAll("tbody tr")[0]?.textContent !== text,
        first,
      );
      assert.ok((await before.count()) > 0);
      expectQuiet(visit);
    });

    it("stays where it is while something is chosen from a list, so that the next click meets what it is meant for", async () => {
      const project = { project_id: await made("/projects", { name: "Heath" }) };
      const role = { ...project, key: "reader", display_name: "Reader" };
      bodyOf(await peer.post("/project_roles", role), 201);
      await using visit = await enterAgain(`/projects/${project.project_id}?tab=access`);
      const { page } = visit;
      await press(page, "Grant to an organization");
      await dialogOf(page).getByRole("option").first().waitFor();
      const box = dialogOf(page).getByLabel("Reader", { exact: true });
      const before = await box.boundingBox();
      await dialogOf(page).getByRole("heading", { level: 2 }).click();
      await dialogOf(page).getByRole("option").first().waitFor({ state: "hidden" });
      assert.deepEqual(await box.boundingBox(), before);
      await box.click();
      assert.ok(await box.isChecked());
    });

    it("offers what there is now, after what was there before", async () => {
      const project = { project_id: await made("/projects", { name: "Moor" }) };
      const addRole = async (key: string) =>
        String(
          bodyOf(await peer.post("/project_roles", { ...project, key, display_name: key }), 201)
            .details.id,
        );
      const reader = await addRole("reader");
      await using visit = await enterAgain(`/projects/${project.project_id}?tab=access`);
      const { page } = visit;
      const box = (name: string) => dialogOf(page).getByLabel(name, { exact: true });
      const open = async () => {
        await press(page, "Grant to an organization");
        // The organizations to choose from lie above the roles.
        await dialogOf(page).getByRole("heading", { level: 2 }).click();
      };
      await open();
      await box("reader").waitFor();
      await press(page, "Cancel");
      await gone(page);

      await addRole("writer");
      bodyOf(await peer.remove(`/project_roles/${reader}`));
      let go = () => {};
      const held = new Promise<void>((resolve) => (go = resolve));
      await page.route(/SearchRoles/, async (route) => {
        await held;
        await route.continue();
      });
      await open();
      await box("reader").check();
      go();
      await box("writer").waitFor();
      // What was chosen meanwhile can be taken back.
      await box("reader").click();
      await box("reader").waitFor({ state: "detached" });
      expectQuiet(visit);
    });

    it("is refused in the reader’s language, where the reason is known there", async () => {
      await organization("Kestrel");
      await using visit = await enter("/ui/console/organizations", { locale: "de" });
      const { page } = visit;
      await press(page, "Organisation anlegen");
      await dialogOf(page).getByLabel("Name").fill("Kestrel");
      await save(page);
      const alert = dialogOf(page).getByRole("alert");
      await alert.getByText("Das ist schon vergeben", { exact: false }).waitFor();
      await alert.getByText("ORGANIZATION_NAME_TAKEN").waitFor();
    });

    it("is not offered to who may only read", async () => {
      const id = await organization("Gecko");
      await using visit = await enter(`/ui/console/organizations/${id}`, {
        roles: ["IAM_OWNER_VIEWER"],
      });
      const { page } = visit;
      await page.getByRole("heading", { level: 1, name: "Gecko" }).waitFor();
      for (const path of ["/organizations", "/people", "/projects", "/settings/login"]) {
        await visit.go(path);
        await page.getByRole("table").first().waitFor();
        const buttons = await page.getByRole("main").getByRole("button").allTextContents();
        const reading = new Set(["Show more", "Save as CSV"]);
        assert.deepEqual(
          buttons.filter((text) => !reading.has(text)),
          [],
          path,
        );
      }
      expectQuiet(visit);
    });

    it("of one’s own credentials asks to prove who one is, in a window beside it", async () => {
      await using visit = await enter("/ui/console/people");
      const { page, id } = visit;
      await page.goto(`${peer.issuer}/ui/console/people/${id}?tab=credentials`);
      await press(page, "Set the password");
      const field = dialogOf(page).getByLabel("Password", { exact: true });
      await field.fill("another-Correct-horse-9");
      await dialogOf(page).getByLabel("To be changed at the next sign-in").uncheck();
      peer.pass(6 * 60_000);
      await save(page);
      await dialogOf(page).getByText("Prove once more who you are").waitFor();
      assert.equal(await field.inputValue(), "another-Correct-horse-9");
      await shoot(page, "dialog-step-up");
      assert.deepEqual(await faultsOf(page), []);
      const [beside] = await Promise.all([
        page.waitForEvent("popup"),
        press(page, "Sign in in another window"),
      ]);
      await beside.fill("input[name=password]", password);
      await beside.click("button[type=submit]");
      await gone(page);
      await page.getByRole("status").getByText("Done: Set the password").waitFor();
    });
  });
}
