import type { Html } from "../../html.ts";
import type { Page } from "../../login/page.ts";
import type { PageContext } from "../../login/page-context.ts";
import { pager as pagerOf, type Parts, partsAt, startOf } from "../../login/parts/pager.ts";

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

/** Leads to what came after and before what of a list is shown. */
export const pager = ({ t }: Page, path: string, parts: Parts): Html | undefined =>
  pagerOf(parts, (from) => partOf(path, from), {
    before: t("account.newer"),
    after: t("account.older"),
  });
