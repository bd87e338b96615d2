import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { isLanguage } from "../../src/texts/languages.ts";
import { startBrowser } from "../support/browser.ts";
import { nonce, startPageServer } from "./page-server.ts";
import { samples } from "./samples.ts";

// `node test/login/gallery.ts <folder> [language] [light|dark] [phone|desktop] [page ...]` writes a picture of each page.

const [folder, language = "en", theme = "light", device = "desktop", ...wanted] =
  process.argv.slice(2);
if (folder === undefined || !isLanguage(language))
  throw new Error("wants a folder, and a language of ours");

await using server = await startPageServer();
await using browser = await startBrowser();
await using visit = await browser.visit({
  viewport: device === "phone" ? { width: 360, height: 740 } : { width: 1100, height: 800 },
  colorScheme: theme === "dark" ? "dark" : "light",
});
const pages = samples({ language, nonce });
server.show(pages);
mkdirSync(folder, { recursive: true });
for (const name of pages.keys()) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // What sends itself away is shown as it is without scripts.
  if (name === "form-post") continue;
  await visit.page.goto(`${server.origin}/${name}`);
  const path = join(resolve(folder), `${language}-${theme}-${device}-${name}.png`);
  await visit.page.screenshot({ path, fullPage: true });
}
if (visit.misdeeds.length > 0) throw new Error(JSON.stringify(visit.misdeeds, undefined, 1));
