import { queryClient } from "./calls.ts";
import { answerOf, pagesOf } from "./json-calls.ts";
import { foreseenRows, isOfContext, objectRequest, rowsOfPage } from "./objects/asked.ts";
import { readReader } from "./rights.ts";
import type { ObjectRoute } from "./routes.ts";

/**
 * Asks for an object, and for the lists of its tab that its ID finds, while what shows them is still being loaded: it finds the answers, or
 * waits for the same ones. What is refused is asked again by the page, which says why.
 */
export async function askAhead({ load }: ObjectRoute, id: string, tab = "overview"): Promise<void> {
  const kind = await load();
  // What is asked for in a context waits until it is known which.
  if (isOfContext(kind)) return;
  void queryClient.prefetchQuery(answerOf(kind.get, objectRequest(kind, id, undefined)));
  const { may } = await readReader();
  for (const { search, request } of foreseenRows(kind, { id, tab, may })) {
    const options = { isDescending: search.isDescending === true, pageSize: rowsOfPage };
    void queryClient.prefetchInfiniteQuery(pagesOf(search.method, request, options));
  }
}
