import { html, type Html } from "../../html.ts";
import type { PageContext } from "../page-context.ts";

/** Where the part of a list before and the one after begin; undefined where there is none. */
export type Parts = { before: number | undefined; after: number | undefined };

const furthest = 100_000;

/** Where the part of a list begins that a request asks for. */
export function startOf({ query }: PageContext): number {
  const from = Number(query.get("from") ?? "0");
  return Number.isSafeInteger(from) && from >= 0 && from <= furthest ? from : 0;
}

/** The parts around one of at most `size` things, of which one more was looked for. */
export const partsAt = (from: number, size: number, found: number): Parts => ({
  before: from === 0 ? undefined : Math.max(0, from - size),
  after: found > size ? from + size : undefined,
});

/** Whether there is more of a list than is shown. */
export const isPart = ({ before, after }: Parts): boolean =>
  before !== undefined || after !== undefined;

/** Leads to the other parts of a list that has more than a page shows. */
export function pager(
  parts: Parts,
  to: (from: number) => string,
  labels: Record<keyof Parts, string>,
): Html | undefined {
  if (!isPart(parts)) return undefined;
  const links = (["before", "after"] as const).map((side) => {
    const from = parts[side];
    return (
      from !== undefined && html`<a class="button plain" href="${to(from)}">${labels[side]}</a>`
    );
  });
  return html`<div class="two">${links}</div>`;
}
