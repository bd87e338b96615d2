import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { bodyOf } from "../support/peer.ts";
import { everyOther } from "../support/turns.ts";
import { mouse } from "./hands.ts";
import { dialogOf } from "./tasks.ts";
import { enter, faultsOf, logIn, peer, shoot } from "./visits.ts";

/** Something that is edited in a dialog of the console, by one of its fields. */
type Edited = {
  path: string;
  /** The button that opens the dialog. */
  open: RegExp;
  label: string | RegExp;
  /** What it has at first, and what is typed and changed in turn. */
  values: readonly [string, string, string, string, string, string];
  /** Somebody else changes it. */
  change: (value: string) => Promise<unknown>;
  /** What is refused, and what the refusal says. */
  wrong: { value: string; text: RegExp };
};

const wordsOf = (word: string) =>
  [1, 2, 3, 4, 5, 6].map((each) => `${word}-${each}`) as unknown as Edited["values"];

async function aPerson(): Promise<Edited> {
  const values = wordsOf("quail");
  const id = await peer.addPerson({ username: values[0] });
  await peer.addPerson({ username: "quail-taken" });
  return {
    path: `/people/${id}`,
    open: /^Edit: /,
    label: "Username",
    values,
    change: (username) => peer.patch(`/users/${id}`, { username }),
    wrong: { value: "quail-taken", text: /USERNAME_TAKEN/ },
  };
}

async function anApplication(): Promise<Edited> {
  const values = wordsOf("raven");
  const project = bodyOf(await peer.post("/projects", { name: "Rookery" }), 201);
  const app = { project_id: String(project.details.id), name: values[0] };
  const oidc = { redirect_uris: ["https://raven.test/1"] };
  const made = bodyOf(await peer.post("/apps", { ...app, oidc }), 201);
  const id = String(made.details.id);
  const addresses = values.map((_, n) => `https://raven.test/${n + 1}`);
  return {
    path: `/applications/${id}`,
    open: /^Edit: /,
    label: /^Redirect addresses \(/,
    values: addresses as unknown as Edited["values"],
    change: (uri) => peer.patch(`/apps/${id}`, { oidc: { redirect_uris: [uri] } }),
    wrong: { value: "http://raven.test/1", text: /REDIRECT_URI_INVALID/ },
  };
}

async function aSetting(): Promise<Edited> {
  const id = await peer.addOrganization({ name: "Siskin" });
  const path = `/settings/v3alpha/passwords?ctx.org_id=${id}`;
  const change = async (value: string) =>
    bodyOf(
      await peer.peer.rest(
        "PATCH",
        path,
        { min_length: { set: Number(value) } },
        { token: peer.app.token },
      ),
    );
  await change("10");
  return {
    path: `/settings/password?org=${id}`,
    open: /^Change: Shortest password$/,
    label: "Shortest password",
    values: ["10", "11", "12", "13", "14", "15"],
    change,
    wrong: { value: "2", text: /LOOSER_THAN_INSTANCE/ },
  };
}

const kinds = { aPerson, anApplication, aSetting };

/** What comes between the opening of a dialog and its end loses no typed word, and says what happened: tried with kinds of things. */
export function describeDisturbed(): void {
  describe("a change that is disturbed", () => {
    for (const [kind, make] of everyOther(Object.entries(kinds))) {
      it(`by others, a lost connection, an ended session and a refusal: ${kind}`, async () => {
        const { path, open, label, values, change, wrong } = await make();
        const [first, theirs, afterThem, afterLoss, afterEnd, right] = values;
        await using visit = await enter(`/ui/console${path}`);
        const { page, go } = visit;
        const hands = mouse(page);
        const dialog = dialogOf(page);
        const field = dialog.getByLabel(label).first();
        const begin = async (value: string) => {
          await hands.open(open);
          await hands.fill(label, value);
        };
        const send = () => dialog.locator("button[type=submit]").click();
        const ended = () => dialog.waitFor({ state: "detached" });
        const picture = async (what: string) => {
          await shoot(page, `disturbed-${kind}-${what}`);
          assert.deepEqual(await faultsOf(page), []);
        };

        await begin(afterThem);
        await change(theirs);
        await send();
        await dialog.getByText("Somebody changed this meanwhile").waitFor();
        const cells = dialog.getByRole("alert").getByRole("cell");
        assert.deepEqual(await cells.allTextContents(), [first, theirs, afterThem]);
        await picture("conflict");
        await hands.confirm("Send mine nevertheless");
        await ended();

        await begin(afterLoss);
        await page.context().setOffline(true);
        await send();
        await dialog.getByText("The service could not be reached").waitFor();
        assert.equal(await field.inputValue(), afterLoss);
        await picture("lost");
        await page.context().setOffline(false);
        await send();
        await ended();

        await begin(afterEnd);
        const { result } = bodyOf(await peer.post("/sign_ins/_search", [{ user_id: visit.id }]));
        for (const { details } of result) bodyOf(await peer.remove(`/sign_ins/${details.id}`));
        await send();
        await dialog.getByText("You are signed out").waitFor();
        assert.equal(await field.inputValue(), afterEnd);
        await picture("ended");
        const popup = page.waitForEvent("popup");
        await hands.confirm("Sign in in another window");
        await logIn(await popup, visit.loginName);
        await ended();

        await begin(wrong.value);
        await send();
        await dialog.getByRole("alert").filter({ hasText: wrong.text }).waitFor();
        assert.equal(await field.inputValue(), wrong.value);
        assert.equal(await field.getAttribute("aria-invalid"), "true");
        await picture("refused");
        await hands.fill(label, right);
        await send();
        await ended();

        await go(path);
        await page.getByText(right, { exact: true }).first().waitFor();
        const misdeeds = visit.misdeeds.filter(({ text }) => !text.startsWith("Failed to load"));
        assert.deepEqual(misdeeds, []);
      });
    }

    it("by nobody but the reader is not: a form that is opened right after it begins with what was saved", async () => {
      const { details } = bodyOf(await peer.post("/organizations", { name: "Ocelot 1" }), 201);
      await using visit = await enter(`/ui/console/organizations/${details.id}`);
      const { page } = visit;
      const dialog = dialogOf(page);
      const edit = async (from: string, to: string) => {
        await page.getByRole("button", { name: /^Edit: Ocelot/ }).click();
        const name = dialog.getByLabel("Name");
        await name.waitFor();
        assert.equal(await name.inputValue(), from);
        await name.fill(to);
        await dialog.locator("button[type=submit]").click();
        await dialog.waitFor({ state: "detached" });
      };
      await page.route(/GetOrganization$/, async (route) => {
        await delay(500);
        await route.continue();
      });
      await edit("Ocelot 1", "Ocelot 2");
      await edit("Ocelot 2", "Ocelot 3");
      await page.getByRole("heading", { level: 1, name: "Ocelot 3" }).waitFor();
      assert.deepEqual(visit.misdeeds, []);
    });
  });
}
