import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { bodyOf } from "../support/peer.ts";
import { type Entered, enter, expectQuiet, peer } from "./visits.ts";

const dialogOf = (page: Page) => page.getByRole("dialog");

/** How a person works: by mouse, or by keyboard alone. */
type Hands = {
  press(page: Page, name: string | RegExp): Promise<void>;
  follow(page: Page, name: string): Promise<void>;
};

const mouse: Hands = {
  press: (page, name) => page.getByRole("button", { name, exact: true }).last().click(),
  follow: (page, name) => page.getByRole("link", { name, exact: true }).first().click(),
};
const keyboard: Hands = {
  press: (page, name) => tabTo(page, page.getByRole("button", { name, exact: true }).last()),
  follow: (page, name) => tabTo(page, page.getByRole("link", { name, exact: true }).first()),
};

const mostTabs = 80;

/** Goes by the tabulator key to what is meant, and presses enter there. */
async function tabTo(page: Page, target: ReturnType<Page["getByRole"]>): Promise<void> {
  await target.waitFor();
  for (let n = 0; n < mostTabs; n++) {
    const isThere = await target.evaluate((element) => element === document.activeElement);
    if (isThere) return page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
  }
  throw new Error("the keyboard does not reach it");
}

type World = { organizationId: string; projectId: string; userId: string; username: string };
type Task = {
  name: string;
  /** The least role that may do it, held in the organization. */
  role: string;
  run: (page: Page, hands: Hands, world: World) => Promise<void>;
};

const done = async (page: Page, what: string) => {
  await page.getByRole("status").getByText(`Done: ${what}`).waitFor();
  await dialogOf(page).waitFor({ state: "detached" });
};
const go = (page: Page, path: string) => page.goto(`${peer.issuer}/ui/console${path}`);
const fill = (page: Page, label: string, text: string) =>
  dialogOf(page).getByLabel(label, { exact: true }).fill(text);
const userOf = async (id: string) => bodyOf(await peer.get(`/users/${id}`)).user;

const tasks: readonly Task[] = [
  {
    name: "3 locks and unlocks a person",
    role: "ORG_USER_MANAGER",
    async run(page, { press }, { userId }) {
      await go(page, `/people/${userId}`);
      await press(page, "Lock: Ada Lovelace");
      await press(page, "Lock");
      await done(page, "Lock");
      assert.equal((await userOf(userId)).state, "USER_STATE_LOCKED");
      await press(page, "Unlock: Ada Lovelace");
      await press(page, "Unlock");
      await done(page, "Unlock");
      assert.equal((await userOf(userId)).state, "USER_STATE_INITIAL");
    },
  },
  {
    name: "6 ends the sessions of a person",
    role: "ORG_USER_MANAGER",
    async run(page, { press, follow }, { userId }) {
      await go(page, `/people/${userId}`);
      await follow(page, "Sessions");
      await press(page, "End all sessions");
      await dialogOf(page).waitFor();
      await press(page, "End all sessions");
      await done(page, "End all sessions");
    },
  },
  {
    name: "7 creates a person with a password",
    role: "ORG_USER_MANAGER",
    async run(page, { press }, { organizationId }) {
      await go(page, `/people?org=${organizationId}`);
      await press(page, "Create a person");
      const username = `new-${Math.random().toString(36).slice(2)}`;
      await fill(page, "Username", username);
      await fill(page, "Given name", "Grace");
      await fill(page, "Family name", "Hopper");
      await dialogOf(page).getByLabel("Give them a password").check();
      await fill(page, "Password", "Correct-horse-9");
      await press(page, "Save");
      await page.getByRole("heading", { level: 1, name: "Grace Hopper" }).waitFor();
      await done(page, "Create a person");
    },
  },
  {
    name: "8 deactivates a person and activates them",
    role: "ORG_USER_MANAGER",
    async run(page, { press }, { userId }) {
      await go(page, `/people/${userId}`);
      await press(page, "Deactivate: Ada Lovelace");
      await press(page, "Deactivate");
      await done(page, "Deactivate");
      assert.equal((await userOf(userId)).state, "USER_STATE_INACTIVE");
      await press(page, "Activate: Ada Lovelace");
      await press(page, "Activate");
      await done(page, "Activate");
    },
  },
  {
    name: "14 creates a role of a project",
    role: "ORG_OWNER",
    async run(page, { press, follow }, { projectId }) {
      await go(page, `/projects/${projectId}`);
      await follow(page, "Roles");
      await press(page, "Create a role");
      const key = `role-${Math.random().toString(36).slice(2)}`;
      await fill(page, "Key", key);
      await fill(page, "Display name", "Reader");
      await press(page, "Save");
      await done(page, "Create a role");
      await page.getByRole("rowheader", { name: key }).waitFor();
    },
  },
  {
    name: "15 creates a machine with a key",
    role: "ORG_USER_MANAGER",
    async run(page, { press, follow }, { organizationId }) {
      await go(page, `/people?org=${organizationId}`);
      await press(page, "Create a machine");
      await fill(page, "Username", `machine-${Math.random().toString(36).slice(2)}`);
      await fill(page, "Name", "Robot");
      await press(page, "Save");
      await page.getByRole("heading", { level: 1, name: "Robot" }).waitFor();
      await done(page, "Create a machine");
      await follow(page, "Log-in");
      await press(page, "Add a key");
      await press(page, "Save");
      await dialogOf(page).getByText("This is shown once", { exact: false }).waitFor();
      await press(page, "Close");
      await done(page, "Add a key");
    },
  },
];

/** The tasks of administrators, each with the least role that may do it, once by mouse and once by keyboard. */
export function describeTasks(): void {
  // Whoever has a role logs in once.
  const visits = new Map<string, Promise<Entered>>();
  function visitOf(role: string, organizationId: string): Promise<Entered> {
    let visit = visits.get(role);
    if (visit === undefined) {
      visit = enter("/ui/console/people", { roles: [role], organizationId });
      visits.set(role, visit);
    }
    return visit;
  }

  describe("the tasks of administrators in the console", () => {
    after(async () => {
      for (const visit of visits.values()) await (await visit)[Symbol.asyncDispose]();
    });
    for (const [way, hands] of [
      ["by mouse", mouse],
      ["by keyboard", keyboard],
    ] as const) {
      for (const { name, role, run } of tasks) {
        it(`${name}, ${way}, as ${role}`, async () => {
          const world = await worldOf();
          const visit = await visitOf(role, world.organizationId);
          visit.page.setDefaultTimeout(15_000);
          await run(visit.page, hands, world);
          expectQuiet(visit);
        });
      }
    }
  });
}

let world: World | undefined;

async function worldOf(): Promise<World> {
  if (world !== undefined) return world;
  const name = "Heron";
  const organizationId = String(
    bodyOf(await peer.post("/organizations", { name }), 201).details.id,
  );
  const inside = { headers: { "x-idsvc-orgid": organizationId } };
  const username = "heron-ada";
  const data = { given_name: "Ada", family_name: "Lovelace" };
  const user = bodyOf(await peer.post("/users", { username, data }, inside), 201);
  const project = bodyOf(await peer.post("/projects", { name: "Nest" }, inside), 201);
  const [userId, projectId] = [String(user.details.id), String(project.details.id)];
  world = { organizationId, projectId, userId, username };
  return world;
}
