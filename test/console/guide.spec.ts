// Run: shared
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { after, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { freePort } from "../support/free-port.ts";
import { mouse } from "./hands.ts";
import { done, titled } from "./tasks.ts";
import { endVisits, enter, expectQuiet, logIn, openPrivately } from "./visits.ts";

after(endVisits);

/** A program in a folder of its own, beside the packages that it asks for. */
async function run(program: string, env: Record<string, string>): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "guide-"));
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "app.mjs"), program);
  const child = spawn(process.execPath, ["app.mjs"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], ...env },
    stdio: "inherit",
  });
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, "exit");
      await rm(folder, { recursive: true });
    },
  };
}

/** Waits until somebody answers there. */
async function answers(address: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(address, { redirect: "manual" }).catch(() => undefined);
    if (answer !== undefined) return;
    if (tries === 300) throw new Error(`nobody answers at ${address}`);
    await delay(100);
  }
}

/** The text that stands to be copied under a name. */
const copied = (page: Page, name: string): Promise<string> =>
  page
    .getByRole("figure")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("code")
    .innerText();

describe("the guide of the console", () => {
  it("leads from the first page to a program that people log in to", async () => {
    await using visit = await enter("/ui/console/people");
    const { page, loginName, id } = visit;
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
    const secret = await copied(page, "Client secret");
    await confirm("Close");
    await done(page, "Create an application");
    await titled(page, "Shop window");

    const program = await copied(page, "Node.js: openid-client");
    await using _ = await run(program, { OIDC_CLIENT_SECRET: secret });
    await answers(origin);
    await using beside = await openPrivately(origin);
    await logIn(beside.page, loginName);
    await beside.page.waitForURL((url) => url.origin === origin);
    const shown = await beside.page.locator("body").innerText();
    assert.match(shown, /^Signed in: /);
    assert.ok(shown.includes(`"sub": "${id}"`), shown);
    expectQuiet(visit);
  });
});
