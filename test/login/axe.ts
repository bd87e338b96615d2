import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

// Only its source is wanted: it runs in the page.
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };

/** Runs in a page: axe judges no contrast on what a decoration lies behind, and here one lies behind everything. */
function hideDecoration(): void {
  document.styleSheets[0]?.insertRule(".sheet::before { display: none !important }");
}

/** Makes a page ready to be judged. */
export async function prepareAxe(page: Page): Promise<void> {
  await page.evaluate(axe);
  await page.evaluate(hideDecoration);
}

/** What axe finds on a page, from moderate on. */
export async function violations(page: Page, rules: object): Promise<string[]> {
  const found = await page.evaluate(async (chosen) => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(options: object): Promise<Record<"violations" | "passes", Violation[]>> };
    };
    const options = { ...chosen, resultTypes: ["violations"] };
    const { violations: bad, passes } = await checker.run(options);
    if (!passes.some(({ id }) => id === "color-contrast"))
      throw new Error("no contrast was judged");
    return bad;
  }, rules);
  return found
    .filter(({ impact }) => ["serious", "critical", "moderate"].includes(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
    );
}
