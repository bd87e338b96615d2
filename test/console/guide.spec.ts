// Run: shared, browser
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, it } from "node:test";
import { freePort } from "../support/free-port.ts";
import { mouse } from "./hands.ts";
import { answers, guideOn, logInTo, running } from "./programs.ts";
import { done, titled } from "./tasks.ts";
import { endVisits, enter, expectQuiet } from "./visits.ts";

after(endVisits);

describe("the guide of the console", () => {
  it("leads from the first page to a program that people log in to", async () => {
    await using visit = await enter("/ui/console/people");
    const { page } = visit;
    const { open, fill, confirm, follow } = mouse(page);
    const origin = `http://localhost:${await freePort()}`;

    await follow("Home");
    await follow("Create a project and an application");
    await open("Create a project");
    await fill("Name", "Shop");
    await confirm("Create a project");
    await titled(page, "Shop");
    await open("Create an application");
    await fill("Name", "Shop window");
    await fill(/^Redirect addresses \(/, `${origin}/callback`);
    await confirm("Create an application");
    const secret = await page
      .getByRole("figure")
      .filter({ hasText: "Client secret" })
      .locator("code")
      .innerText();
    await confirm("Close");
    await done(page, "Create an application");
    await titled(page, "Shop window");

    const program = (await guideOn(page)).get("Node.js: openid-client") ?? "";
    // A folder of its own, beside the packages that the program asks for.
    const folder = await mkdtemp(join(tmpdir(), "guide-"));
    await symlink(resolve("node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "app.mjs"), program);
    const env = { PATH: process.env["PATH"], OIDC_CLIENT_SECRET: secret };
    {
      await using _ = running([process.execPath, "app.mjs"], folder, env);
      await answers(origin);
      await logInTo(origin, visit);
    }
    await rm(folder, { recursive: true });
    expectQuiet(visit);
  });
});
