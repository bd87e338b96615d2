import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { logIn, openPrivately } from "./visits.ts";

/** Runs a program of the guide in a folder, until it is disposed of: with what it has started. */
export function running(
  [command, ...args]: readonly [string, ...string[]],
  folder: string,
  env: NodeJS.ProcessEnv,
): AsyncDisposable {
  const child = spawn(command, args, { cwd: folder, env, stdio: "inherit", detached: true });
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.pid === undefined) return;
      const ended = once(child, "exit");
      process.kill(-child.pid);
      await ended;
    },
  };
}

/** Waits until somebody answers there. */
export async function answers(address: string, seconds = 30): Promise<void> {
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; await delay(100)) {
    const answer = await fetch(address, { redirect: "manual" }).catch(() => undefined);
    if (answer !== undefined) return;
  }
  throw new Error(`nobody answers at ${address}`);
}

/** The texts that the guide of the page offers to copy, by what they are called. */
export async function guideOn(page: Page): Promise<ReadonlyMap<string, string>> {
  const figures = await page.getByRole("figure").all();
  const samples = figures.map(
    async (each) =>
      [
        await each.locator("figcaption > span").innerText(),
        await each.locator("code").innerText(),
      ] as const,
  );
  return new Map(await Promise.all(samples));
}

/** Opens a program as somebody whom the browser does not know, logs in, and reads that it knows them. */
export async function logInTo(
  origin: string,
  { loginName, id }: { loginName: string; id: string },
): Promise<void> {
  await using beside = await openPrivately(origin);
  await logIn(beside.page, loginName);
  await beside.page.waitForURL((url) => url.origin === origin);
  const told = beside.page.getByText(`"${id}"`);
  await told.waitFor();
  const person: unknown = JSON.parse(await told.innerText());
  assert.ok(typeof person === "object" && person !== null);
  assert.equal(Reflect.get(person, "sub"), id);
  assert.ok(String(Reflect.get(person, "preferred_username")).startsWith(loginName));
}
