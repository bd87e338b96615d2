import { queryClient } from "./calls.ts";
import { answerOf, pagesOf } from "./json-calls.ts";
import { foreseenRows, isOfContext, objectRequest, rowsOfPage } from "./objects/asked.ts";
import { readReader } from "./rights.ts";
import type { ObjectRoute } from "./routes.ts";

const leave = () => undefined;

/**
 * Asks for an object, and for the lists of its tab that its ID finds, while what shows them is still being loaded: it finds the answers, or
 * waits for the same ones. What is refused is asked again by the page, which says why.
 */
export async function askAhead({ load }: ObjectRoute, id: string, tab = "overview"): Promise<void> {
  const kind = await load();
  // What is asked for in a context waits until it is known which.
  if (isOfContext(kind)) return;
  const asked = answerOf(kind.get, objectRequest(kind, id, undefined));
  void queryClient.query(asked).catch(leave);
  const rows = foreseenRows(kind, { id, tab }, await readReader());
  for (const { search, request } of rows) {
    const options = { isDescending: search.isDescending === true, pageSize: rowsOfPage };
    const pages = pagesOf(search.method, request, options);
    void queryClient.infiniteQuery(pages).catch(leave);
  }
}
