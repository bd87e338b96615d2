import { after, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { bodyOf } from "../support/peer.ts";
import { type Hands, keyboard, mouse } from "./hands.ts";
import { type Entered, enter, expectQuiet, peer, phone, shoot } from "./visits.ts";

/** What the tasks are done with: an organization with a project and a person of its own. */
export type World = { organizationId: string; projectId: string; userId: string };

export type Task = {
  name: string;
  /** The least role that may do it, held in the organization or project, or in the instance where it begins with `IAM_`. */
  role: string;
  run: (hands: Hands, world: World) => Promise<void>;
};

export const dialogOf = (page: Page) => page.getByRole("dialog");
export const done = async (page: Page, what: string) => {
  await page.getByRole("status").getByText(`Done: ${what}`).waitFor();
  await dialogOf(page).waitFor({ state: "detached" });
};
/** Goes to another page of the console as a link does: it knows what it has asked for within some seconds. */
export const go = (page: Page, path: string) =>
  page.evaluate((to) => history.pushState(undefined, "", to), `/ui/console${path}`);
export const titled = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
/** Opens a page that knows nothing yet, for what was made beside it. */
export const load = (page: Page, path: string) => page.goto(`${peer.issuer}/ui/console${path}`);
/** A row of a list that says this. */
export const rowOf = (page: Page, text: string | RegExp) =>
  page.getByRole("row").filter({ hasText: text });

let names = 0;
/** A word that no other task uses. */
export const aName = (kind: string) => `${kind}-${++names}`;

/** Calls of the owner of the instance, within an organization. */
export const within = (organizationId: string) => ({
  headers: { "x-idsvc-orgid": organizationId },
});

let world: Promise<World> | undefined;
const worldOf = (): Promise<World> => (world ??= makeWorld());

async function makeWorld(): Promise<World> {
  const organizationId = await peer.addOrganization({ name: "Heron" });
  const inside = within(organizationId);
  const data = { given_name: "Ada", family_name: "Lovelace" };
  const contact = {
    email: { address: "ada@heron.test", is_verified: true },
    phone: { number: "+15550123456", is_verified: true },
  };
  const user = { username: "heron-ada", external_id: "HR-1815", data, contact };
  const userId = String(bodyOf(await peer.post("/users", user, inside), 201).details.id);
  const project = bodyOf(await peer.post("/projects", { name: "Nest" }, inside), 201);
  return { organizationId, projectId: String(project.details.id), userId };
}

const contextOf = (role: string, { organizationId, projectId }: World) => {
  if (role.startsWith("IAM_")) return {};
  return role.startsWith("PROJECT_") ? { projectId } : { organizationId };
};

/**
 * The tasks of administrators, one after the other by mouse and by keyboard: with the least role that may do each, or as whoever owns the
 * instance, and then each by what it was not done with before; or all of them on a phone.
 */
export function describeTasks(
  tasks: readonly Task[],
  as: "least role" | "owner" | "on a phone",
): void {
  // Whoever has a role logs in once, and has left when the next one comes: every page that is open follows what all others do.
  let present: { role: string; visit: Entered } | undefined;
  const leave = async () => {
    await present?.visit[Symbol.asyncDispose]();
    present = undefined;
  };
  async function visitOf(role: string): Promise<Entered> {
    if (present?.role === role) return present.visit;
    await leave();
    const options = {
      roles: [role],
      ...contextOf(role, await worldOf()),
      ...(as === "on a phone" && { viewport: phone, hasTouch: true }),
    };
    const visit = await enter("/ui/console/people", options);
    present = { role, visit };
    return visit;
  }

  describe("the tasks of administrators in the console", () => {
    after(leave);
    const ways = { mouse, keyboard };
    for (const { name, role, run } of tasks.toSorted((a, b) => a.role.localeCompare(b.role))) {
      const isOdd = parseInt(name) % 2 === 1;
      const isByMouse = as === "on a phone" || isOdd === (as === "least role");
      const way = isByMouse ? "mouse" : "keyboard";
      const who = as === "owner" ? "IAM_OWNER" : role;
      it(`${name}, by ${way}, as ${who}`, async () => {
        const visit = await visitOf(who);
        const { page, refused, misdeeds } = visit;
        // What went wrong in one task is not said of the next.
        refused.splice(0);
        misdeeds.splice(0);
        try {
          await run(ways[way](page), await worldOf());
        } finally {
          await shoot(
            page,
            `task-${name.replace(/ .*/, "")}-${as === "on a phone" ? "phone" : way}`,
          );
        }
        expectQuiet(visit);
      });
    }
  });
}
