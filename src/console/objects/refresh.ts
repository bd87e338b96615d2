import type { QueryClient } from "@tanstack/react-query";
import { pageNow } from "./notice.ts";

/** How long what is shown may take to follow what was done, before the next form opens all the same. */
const longestWaitMs = 2_000;
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let refreshing: Promise<void> | undefined;

/** Fetches all that is shown again, as it may follow from what was done. */
export function refresh(client: QueryClient): Promise<void> {
  const all = client.invalidateQueries().finally(() => {
    if (refreshing === all) refreshing = undefined;
  });
  return (refreshing = all);
}

/**
 * Begins a form once what was done before is shown, unless the reader has left the page meanwhile: a form goes by what is shown, and one of
 * before would take the reader's own change for somebody else's.
 */
export async function whenShown(begin: (page: string) => void): Promise<void> {
  const page = pageNow();
  if (refreshing !== undefined) {
    await Promise.race([refreshing, delay(longestWaitMs)]);
    // What was fetched is rendered in the task after it.
    await delay(0);
  }
  if (page === pageNow()) begin(page);
}
