import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { addressesOf } from "./addresses.ts";
import { endVisits, enter, faultsOf, peer, strangers } from "./visits.ts";
import { makeConsoleWorld } from "./world.ts";

// `npm run console:gallery -- <folder> [language ...]` opens every page of the console, and every tab of the objects of every kind, in three
// languages or in those that are named, and writes a picture of each on three widths, light, dark and in forced colours. Where addresses are
// named beside languages (`de /sessions`), it opens those that begin so alone; `/` is the first page. It ends with 1 for a page on which axe
// finds something, that scrolls sideways, that was refused a call, or that breaks its content security policy.

const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error("wants a folder");
const pictures = resolve(folder);
const named = wanted.filter((each) => !each.startsWith("/"));
const only = wanted.filter((each) => each.startsWith("/"));
const languages = named.length > 0 ? named : ["en", "de", "ja"];
const widths = [1440, 768, 360];
const colours = [
  { name: "light", media: { colorScheme: "light", forcedColors: "none" } },
  { name: "dark", media: { colorScheme: "dark", forcedColors: "none" } },
  { name: "forced", media: { colorScheme: "light", forcedColors: "active" } },
] as const;

const mostHeight = 16_000;

let taken = 0;
const faults: string[] = [];
mkdirSync(pictures, { recursive: true });
const world = await makeConsoleWorld(peer, (kind) => `Zoo ${kind}`);
const isWanted = (address: string) =>
  only.length === 0 ||
  only.some((each) => address === each || (each !== "/" && address.startsWith(each)));
const addresses = addressesOf(world).filter(isWanted);
for (const language of languages) await tour(language);
await endVisits();
console.log(`${addresses.length} pages, ${taken} pictures`);
for (const fault of faults) console.log(fault);
if (faults.length > 0) process.exitCode = 1;

async function tour(locale: string): Promise<void> {
  await using visit = await enter("/ui/console/people", { locale });
  const { page, refused, misdeeds } = visit;
  for (const [nth, address] of addresses.entries()) {
    await visit.go(address);
    const path = new URL(address, peer.issuer);
    const name = `${path.pathname}-${path.searchParams.get("tab") ?? ""}`.replaceAll(/\W+/g, "-");
    await look(page, `${locale}-${String(nth).padStart(3, "0")}${name}`);
    const done = misdeeds.splice(0).map(({ kind, text }) => `${kind}: ${text}`);
    const wrong = [...refused.splice(0), ...done, ...(await strangers(page))];
    faults.push(...wrong.map((fault) => `${locale} ${address}: ${fault}`));
  }
}

/** Takes the pictures of the page that is open, in all its forms. */
async function look(page: Page, name: string): Promise<void> {
  for (const { name: colour, media } of colours) {
    await page.emulateMedia(media);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const form = `${name}-${colour}-${width}`;
      const found = await faultsOf(page);
      if (Array.isArray(found)) faults.push(...found.map((fault) => `${form}: ${String(fault)}`));
      const path = join(pictures, `${form}.jpeg`);
      const tall = await page.evaluate(() => document.documentElement.scrollHeight);
      // Chromium writes no picture that is taller than JPEG allows.
      const part = { clip: { x: 0, y: 0, width, height: Math.min(tall, mostHeight) } };
      await page.screenshot({ path, type: "jpeg", quality: 70, fullPage: true, ...part });
      taken += 1;
    }
  }
}
