import assert from "node:assert/strict";
import { bodyOf } from "../../support/peer.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { startMessageSink } from "../../support/message-sink.ts";
import { text as allOf } from "node:stream/consumers";
import type { Download, Locator, Page } from "playwright-core";
import { aName, dialogOf, done, go, load, rowOf, type Task, titled } from "../tasks.ts";
import { startFakeProvider } from "../../support/fake-provider.ts";
import { openPrivately, peer, txtRecords } from "../visits.ts";

/** The log-in as it will look. */
const previewIn = (within: Page | Locator) =>
  within.frameLocator('iframe[title="How the sign-in will look"]');

export const instance: readonly Task[] = [
  {
    name: "17 adds a provider and tests its log-in in a private window",
    role: "ORG_SETTINGS_MANAGER",
    async run({ page, open, confirm, follow, fill, check }, { organizationId }) {
      await using provider = await startFakeProvider();
      const name = aName("provider");
      await go(page, `/providers?org=${organizationId}`);
      await open("OpenID Connect");
      for (const [label, text] of Object.entries({
        Name: name,
        Issuer: provider.issuer,
        "Client ID": provider.clientId,
        "Client secret": provider.secret,
      })) {
        await fill(label, text);
      }
      await check("People may be created");
      await check("Create people automatically");
      await confirm("Save");
      await titled(page, name);
      await page.getByRole("status").getByText("Provider added: OpenID Connect").waitFor();
      await follow("Guide");
      await page.getByText(`${peer.issuer}/idps/callback`, { exact: true }).waitFor();
      const address = await page
        .getByText("/ui/console/login?idp=", { exact: false })
        .last()
        .textContent();
      await using beside = await openPrivately(address ?? "");
      await beside.page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
      await beside.page.getByText("Mona Lisa").waitFor();
    },
  },
  {
    name: "18 sees why a log-in with a provider failed",
    role: "IAM_OWNER_VIEWER",
    async run({ page, follow }) {
      await using provider = await startFakeProvider();
      provider.script.error = "access_denied";
      const name = aName("provider");
      const config = {
        issuer: provider.issuer,
        client_id: provider.clientId,
        client_secret: provider.secret,
      };
      const made = bodyOf(await peer.post("/idps/oidc", { idp: { name }, config }), 201);
      const query = new URLSearchParams({ idp: String(made.details.id) });
      await using beside = await openPrivately(`${peer.issuer}/ui/console/login?${query}`);
      await beside.page.waitForURL((url) => url.pathname.startsWith("/ui/login"));
      await beside.page.getByRole("heading", { level: 1 }).waitFor();
      await go(page, "/providers");
      await follow("Failed sign-ins with providers");
      await rowOf(page, name).filter({ hasText: "The provider did not let them in" }).waitFor();
    },
  },
  {
    name: "19 changes the colour of the log-in pages of an organization, and sees them before",
    role: "ORG_SETTINGS_MANAGER",
    async run({ page, open, confirm, fill, select }, { organizationId }) {
      await go(page, `/settings/branding?org=${organizationId}`);
      const colour = `#00${String(1_000 + Number(aName("n").slice(2)))}`;
      await open("Change: Primary colour");
      await fill("Primary colour", colour);
      await dialogOf(page).locator(`iframe[srcdoc*="--light-brand: ${colour}"]`).waitFor();
      const button = previewIn(dialogOf(page)).locator("button[type=submit]").first();
      const shown = await button.evaluate((each) => getComputedStyle(each).backgroundColor);
      assert.match(shown, /^rgb\(0, /);
      await confirm("Save");
      await done(page, "Change");
      await rowOf(page, "Primary colour").filter({ hasText: colour }).waitFor();
      await open("Change: Light or dark");
      await select("Light or dark", "dark");
      await confirm("Save");
      await done(page, "Change");
      const changed = rowOf(page, "Light or dark").locator('td[data-title="Value"]');
      await changed.getByText("Dark", { exact: true }).waitFor();
    },
  },
  {
    name: "20 changes a text in one language, and sees it before",
    role: "ORG_SETTINGS_MANAGER",
    async run({ page, open, confirm, fill }, { organizationId }) {
      const text = aName("Who are you?");
      await go(page, `/texts?org=${organizationId}&language=de&q=WORD.title`);
      await open("Change: password.title");
      await fill("Value", text);
      await previewIn(dialogOf(page)).getByRole("heading", { name: text }).waitFor();
      await confirm("Save");
      await done(page, "Change");
      await rowOf(page, text).filter({ hasText: "Set here" }).waitFor();
    },
  },
  {
    name: "21 changes the policy of passwords and second factors of an organization and sees whom it concerns",
    role: "ORG_SETTINGS_MANAGER",
    async run({ page, open, confirm, fill, check }, { organizationId }) {
      await go(page, `/settings/password?org=${organizationId}`);
      // The passwords of other tasks are longer.
      const length = String(9 + (Number(aName("n").slice(2)) % 6));
      await open("Change: Shortest password");
      await fill("Shortest password", length);
      await confirm("Save");
      await done(page, "Change");
      await rowOf(page, "Shortest password").filter({ hasText: length }).waitFor();
      await page.getByText("This concerns everybody who belongs to the organization.").waitFor();
      const name = "Second factor demanded of everybody";
      await go(page, `/settings/login?org=${organizationId}`);
      await open(`Change: ${name}`);
      await check(name);
      await confirm("Save");
      await done(page, "Change");
      await rowOf(page, name).filter({ hasText: "Yes" }).filter({ hasText: "Set here" }).waitFor();
      await page.getByText("This concerns everybody who belongs to the organization.").waitFor();
      // Other tasks log people of the organization in.
      await open(`Use the inherited value: ${name}`);
      await confirm("Use the inherited value");
      await done(page, "Use the inherited value");
    },
  },
  {
    name: "22 adds a domain and proves it",
    role: "ORG_SETTINGS_MANAGER",
    async run({ page, open, confirm, fill, select }, { organizationId }) {
      const name = `${aName("heron")}.test`;
      await go(page, `/organizations/${organizationId}`);
      await titled(page, "Heron");
      await open("Add a domain");
      await fill("Domain", name);
      await select("Way of proof", "DOMAIN_VALIDATION_TYPE_DNS");
      await confirm("Add a domain");
      const told = (what: string) =>
        dialogOf(page).getByRole("figure").filter({ hasText: what }).locator("code").textContent();
      const record = await told("Name of the TXT record");
      txtRecords.set(record ?? "", [(await told("Token")) ?? ""]);
      await confirm("Close");
      await done(page, "Add a domain");
      await open(`Check the proof: ${name}`);
      await confirm("Check the proof");
      await done(page, "Check the proof");
      const row = rowOf(page, name);
      await row.getByRole("button", { name: `Make it the primary one: ${name}` }).waitFor();
    },
  },
  {
    name: "23 creates an organization with its administrator",
    role: "IAM_ORG_MANAGER",
    async run({ page, open, confirm, fill }) {
      const name = aName("Newcomers");
      await go(page, "/organizations");
      await open("Create an organization with its administrator");
      for (const [label, text] of Object.entries({
        Organization: name,
        Username: "first",
        "Given name": "First",
        "Family name": "Owner",
        "E-mail": "first@new.test",
      })) {
        await fill(label, text);
      }
      await confirm("Create an organization with its administrator");
      await titled(page, name);
    },
  },
  {
    name: "25 adds a webhook, tests it, reads what was delivered and delivers it again",
    role: "IAM_OWNER",
    async run({ page, open, confirm, fill, check }) {
      await using sink = await startMessageSink();
      const name = aName("hook");
      await go(page, "/targets");
      await open("Create a target");
      await fill("Name", name);
      await check("A notice (webhook)");
      await fill("Address", `${sink.url}/${name}`);
      await confirm("Create a target");
      await dialogOf(page).getByText("This is shown once", { exact: false }).waitFor();
      await confirm("Close");
      await titled(page, name);
      await open(`Test it: ${name}`);
      await confirm("Test it");
      await dialogOf(page).getByText("Delivered", { exact: true }).waitFor();
      await dialogOf(page).getByText("2xx", { exact: true }).waitFor();
      await confirm("Close");
      await sink.count(1);
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      const execution = { condition: { event: { event: "project.added" } }, targets: [id] };
      await peer.post("/executions", execution);
      bodyOf(await peer.post("/projects", { name: aName("told") }), 201);
      await sink.count(2);
      await load(page, `/targets/${id}?tab=deliveries`);
      await rowOf(page, "project.added").filter({ hasText: "Delivered" }).waitFor();
      await load(page, "/deliveries");
      const test = rowOf(page, "Test").filter({ hasText: name }).first();
      await test.waitFor();
      // What a test sent is not kept.
      assert.equal(await test.getByRole("button").count(), 0);
      await rowOf(page, "project.added").filter({ hasText: "Delivered" }).first().waitFor();
      // The newest is the first.
      const again = page.getByRole("button", { name: "Deliver again: project.added" }).first();
      await again.focus();
      await page.keyboard.press("Enter");
      await confirm("Deliver again");
      await done(page, "Deliver again");
      await sink.count(3);
    },
  },
  {
    name: "26 reads what a person did in a period and keeps it",
    role: "IAM_OWNER_VIEWER",
    async run({ page, press, follow, fill }) {
      const organization = await peer.addOrganization();
      const { userId, token } = await peer.addMember(organization, ["ORG_OWNER"]);
      const project = { name: aName("Done") };
      const headers = { "x-idsvc-orgid": organization };
      bodyOf(await peer.post("/projects", project, { headers, token }), 201);
      const today = new Date().toISOString().slice(0, 10);
      await go(page, `/people/${userId}`);
      await follow("What they did");
      await fill("From", today);
      await fill("To, with this day", today);
      await page.getByRole("rowheader").first().waitFor();
      const kept = page.waitForEvent("download");
      await press("Save as CSV");
      assert.match(await textOf(await kept), new RegExp(`project,.*${userId}|${userId}.*project`));
    },
  },
  {
    name: "27 sets up mail and sends a test",
    role: "IAM_OWNER",
    async run({ page, open, confirm, fill }) {
      await using server = await startMailServer();
      const name = aName("mail");
      await go(page, "/mail");
      await open("Add a mail provider");
      await fill("Description", name);
      await fill("Sender", "idsvc@example.com");
      await fill("Host and port", server.host);
      await confirm("Add a mail provider");
      await titled(page, name);
      await open(`Send a test: ${name}`);
      await fill("To whom", `${name}@example.com`);
      await confirm("Send a test");
      await done(page, "Send a test");
      await server.mailTo(`${name}@example.com`);
    },
  },
  {
    name: "28 makes a signing key and signs with it",
    role: "IAM_OWNER",
    async run({ page, open, confirm, check }) {
      await go(page, "/keys");
      // The service has a default for what is not chosen.
      await open("Create a key");
      await confirm("Create a key");
      await done(page, "Create a key");
      await open("Create a key");
      await check("Ed25519");
      await confirm("Create a key");
      await done(page, "Create a key");
      await page
        .getByRole("button", { name: /^Sign with it/ })
        .first()
        .click();
      await confirm("Sign with it");
      await done(page, "Sign with it");
      await rowOf(page, "Signs").waitFor();
    },
  },
  {
    name: "29 imports people, first on trial",
    role: "IAM_OWNER",
    async run({ page, press, follow }, { organizationId }) {
      const user = {
        userName: aName("brought"),
        profile: { firstName: "Brought", lastName: "In" },
      };
      const record = {
        orgId: organizationId,
        humanUsers: [
          { userId: aName("brought-id"), user: { ...user, email: { email: "b@in.test" } } },
        ],
      };
      await load(page, "/transfer");
      await page.getByLabel("File (JSON)").setInputFiles({
        name: "people.jsonl",
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(record)),
      });
      for (const isTrial of [true, false]) {
        await press(isTrial ? "Import" : "Import people.jsonl now");
        if (!isTrial)
          await page.getByRole("button", { name: /^Import/ }).waitFor({ state: "detached" });
        await page.getByText("Completed: 1 / 1").waitFor();
        const kept = page.waitForEvent("download");
        await press("Save the report");
        assert.match(await textOf(await kept), /,Created,/);
        // Whoever left the page finds the import in the list.
        await follow("Imports");
        await titled(page, "Import and export");
        const latest = page.locator("tbody tr").filter({ hasText: "Completed" }).first();
        await follow(await latest.getByRole("link").innerText());
        await page.getByText("Completed: 1 / 1").waitFor();
        assert.equal(await page.getByRole("button", { name: /^Import/ }).count(), isTrial ? 1 : 0);
      }
      const filters = [{ username: { name: user.userName } }];
      assert.equal(bodyOf(await peer.post("/users/_search", filters)).result.length, 1);
    },
  },
  {
    name: "30 reads the limits of the instance, and reads and sets a feature",
    role: "IAM_OWNER",
    async run({ page, open, confirm, follow, check }) {
      await go(page, "/limits");
      await titled(page, "Limits and use");
      await rowOf(page, "People and machines").filter({ hasText: "Not limited" }).waitFor();
      await follow("Features");
      await titled(page, "Features");
      const change = page.getByRole("button", { name: /^Change: / }).first();
      await change.waitFor();
      const name = ((await change.getAttribute("aria-label")) ?? "").replace("Change: ", "");
      await open(`Change: ${name}`);
      await check(name);
      await confirm("Save");
      await done(page, "Change");
      await rowOf(page, name).filter({ hasText: "Set here" }).waitFor();
      await open(`Use the inherited value: ${name}`);
      await confirm("Use the inherited value");
      await done(page, "Use the inherited value");
    },
  },
];

async function textOf(download: Download): Promise<string> {
  return allOf(await download.createReadStream());
}
