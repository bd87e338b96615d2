import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { startBrowser } from "../support/browser.ts";
import { pagesIn, type SeenPage } from "../support/pages-seen.ts";
import { nonce, startPageServer } from "./page-server.ts";

// `node test/login/gallery.ts <folder> [light|dark] [phone|desktop] [path ...]` writes a picture of each state of the pages of the
// login, or of those at the paths. The states are those that the tests of the login come to, which it runs: nothing is shown that
// no service has shown. What is given as `--spec=<file>` is run in the place of all of them.

const root = resolve(import.meta.dirname, "../..");
// They show pages that they make themselves, or texts that nobody writes.
const madeUp = ["pages.spec.ts", "scripts.spec.ts", "browser-abuse.spec.ts"];

const specs = process.argv.slice(2).flatMap((each) => each.split("--spec=").slice(1));
const [folder, theme = "light", device = "desktop", ...wanted] = process.argv
  .slice(2)
  .filter((each) => !each.startsWith("--spec="));
if (folder === undefined) throw new Error("wants a folder");

await using browser = await startBrowser();
await using visit = await browser.visit({
  viewport: device === "phone" ? { width: 360, height: 740 } : { width: 1100, height: 800 },
  colorScheme: theme === "dark" ? "dark" : "light",
  // One that sends itself away is shown as it is without scripts.
  javaScriptEnabled: false,
});
await using server = await startPageServer();
mkdirSync(folder, { recursive: true });
const counts = new Map<string, number>();
for (const { path, html } of statesOfPages()) {
  if (wanted.length > 0 && !wanted.includes(path)) continue;
  const count = (counts.get(path) ?? 0) + 1;
  counts.set(path, count);
  // A path may be anything that a test has made up.
  const name = `${path.slice(1, 60).replaceAll(/[^\w]+/g, "-")}-${count}`;
  server.show(new Map([[name, html.replaceAll(/nonce="[^"]*"/g, `nonce="${nonce}"`)]]));
  await visit.page.goto(`${server.origin}/${name}`);
  await visit.page.screenshot({
    path: join(resolve(folder), `${theme}-${device}-${name}.png`),
    fullPage: true,
  });
}
console.log(`${[...counts.values()].reduce((sum, each) => sum + each, 0)} pictures`);

/** Runs the tests, and gives the first page of each state that a service showed them. */
function statesOfPages(): SeenPage[] {
  const seen = mkdtempSync(join(tmpdir(), "idsvc-pages-"));
  const all = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith(".spec.ts") && !madeUp.includes(file))
    .map((file) => relative(root, join(import.meta.dirname, file)));
  const others = ["test/authority/first-login.spec.ts", "test/authority/recover.spec.ts"];
  const run = specs.length > 0 ? specs : [...all, ...others];
  try {
    execFileSync(process.execPath, [".ci/test.ts", "--engine", "sqlite", ...run], {
      cwd: root,
      env: { ...process.env, IDSVC_TEST_PAGES: seen },
      stdio: ["ignore", "ignore", "inherit"],
    });
    return pagesIn(seen);
  } finally {
    rmSync(seen, { recursive: true, force: true });
  }
}
