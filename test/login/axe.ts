import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** Its source, which runs in a page. */
export const axe = readFileSync(
  createRequire(import.meta.url).resolve("axe-core/axe.min.js"),
  "utf8",
);

type Violation = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };

/** Has the pages that a tab opens from now on judged by axe. To hand it to each page takes longer than to judge the page. */
export async function prepareAxe(page: Page): Promise<void> {
  await page.addInitScript({ content: axe });
}

/** Axe judges no contrast on what a decoration lies behind, and here one lies behind everything. */
export async function hideDecoration(page: Page): Promise<void> {
  await page.evaluate(() =>
    document.styleSheets[0]?.insertRule(".sheet::before { display: none !important }"),
  );
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
