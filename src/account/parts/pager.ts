import { html, type Html } from "../../html.ts";
import type { Page } from "../../login/page.ts";
import type { PageContext } from "../../login/page-context.ts";

/** Where the part of a list before and the one after begin; undefined where there is none. */
export type Parts = { newer: number | undefined; older: number | undefined };

const furthest = 100_000;

/** Where the part of a list begins that a request asks for. */
export function startOf({ query }: PageContext): number {
  const from = Number(query.get("from") ?? "0");
  return Number.isSafeInteger(from) && from >= 0 && from <= furthest ? from : 0;
}

/** The parts around one of at most `size` things, of which one more was looked for. */
export const partsAt = (from: number, size: number, found: number): Parts => ({
  newer: from === 0 ? undefined : Math.max(0, from - size),
  older: found > size ? from + size : undefined,
});

/** The newest of what is all there at once and stands in the order in which it came to be, or the part of it that a request asks for. */
export function newestOf<T>(
  all: readonly T[],
  context: PageContext,
  size: number,
): { shown: readonly T[]; from: number; parts: Parts } {
  const from = startOf(context);
  const rest = all.toReversed().slice(from);
  return { shown: rest.slice(0, size), from, parts: partsAt(from, size, rest.length) };
}

export const partOf = (path: string, from: number): string =>
  from === 0 ? path : `${path}?from=${from}`;

/** Leads to the other parts of a list that has more than a page shows. */
export function pager({ t }: Page, path: string, { newer, older }: Parts): Html | undefined {
  if (newer === undefined && older === undefined) return undefined;
  const to = (from: number, label: string) =>
    html`<a class="button plain" href="${partOf(path, from)}">${label}</a>`;
  return html`<div class="two">${newer !== undefined && to(newer, t("account.newer"))}${older !== undefined && to(older, t("account.older"))}</div>`;
}
