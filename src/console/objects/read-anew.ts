import type { QueryClient } from "@tanstack/react-query";
import { pageNow } from "./notice.ts";

/** How long what is shown may take to follow what was done, before the next form opens all the same. */
const longestWaitMs = 2_000;
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let reading: Promise<void> | undefined;

/** Reads all that is shown anew, as it may follow from what was done. */
export function readAnew(client: QueryClient): Promise<void> {
  const all = client.invalidateQueries().finally(() => {
    if (reading === all) reading = undefined;
  });
  return (reading = all);
}

/**
 * Begins a form once what was done before is shown, unless the reader has left the page meanwhile: a form goes by what is shown, and one of
 * before would take the reader's own change for somebody else's.
 */
export async function whenShown(begin: (page: string) => void): Promise<void> {
  const page = pageNow();
  if (reading !== undefined) {
    await Promise.race([reading, delay(longestWaitMs)]);
    // Drawn in the task after what was read.
    await delay(0);
  }
  if (page === pageNow()) begin(page);
}
