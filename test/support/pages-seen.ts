import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A page that a service has shown to somebody. */
export type SeenPage = { path: string; html: string };

const english: ReadonlySet<string> = new Set(textsIn(readJson("../../src/texts/en.json")));
// What tells of one person, request or build.
const passing = new Set(
  "value href action src nonce content lang style datetime data-options data-prepare data-passkeys-known aria-label".split(
    " ",
  ),
);

/**
 * What is the same of two pages that differ only in whom they are shown to: the elements with what says how they behave, and the
 * texts of ours that hold nothing of anybody. How often something stands there does not count.
 */
export function stateOf(html: string): string {
  // What a mail says is no state of the page that shows it, nor is what a QR code holds.
  const body = html
    .slice(html.indexOf("<body"))
    .replaceAll(/<article[^]*?<\/article>|(?<=<svg class="qr")[^]*?<\/svg>/g, "");
  const elements = [...body.matchAll(/<([a-z]\w*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>/g)].map(
    ([, tag = "", all = ""]) => {
      const attributes = [...all.matchAll(/([\w-]+)(?:="[^"]*")?/g)];
      return [tag, ...attributes.filter(([, name = ""]) => !passing.has(name)).map(String)].join(
        " ",
      );
    },
  );
  const texts = [...body.matchAll(/>([^<>]+)</g)]
    .map(([, text = ""]) => text.trim())
    .filter((text) => english.has(text));
  return [...new Set([...elements, ...texts])].toSorted().join("\n");
}

/** Whether pages are kept, which a browser has to be asked for. */
export const keepsPages = (): boolean => process.env["IDSVC_TEST_PAGES"] !== undefined;

/** Keeps the first page of each state in the folder that `IDSVC_TEST_PAGES` names; nothing where it names none. */
export function notePage(path: string, html: string): void {
  const folder = process.env["IDSVC_TEST_PAGES"];
  // Apps have pages too.
  if (folder === undefined || !html.includes('<main id="main"')) return;
  mkdirSync(folder, { recursive: true });
  const state = createHash("sha256")
    .update(`${path}\n${stateOf(html)}`)
    .digest("hex");
  const page: SeenPage = { path, html };
  try {
    writeFileSync(join(folder, `${state}.json`), JSON.stringify(page), { flag: "wx" });
  } catch (error) {
    if (Reflect.get(Object(error), "code") !== "EEXIST") throw error;
  }
}

/** The pages that are kept in a folder, by path. */
export const pagesIn = (folder: string): SeenPage[] =>
  readdirSync(folder)
    .toSorted()
    .map((file): SeenPage => JSON.parse(readFileSync(join(folder, file), "utf8")))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, path), "utf8"));
}

function textsIn(value: unknown): string[] {
  return typeof value === "string" ? [value.trim()] : Object.values(Object(value)).flatMap(textsIn);
}
