import type { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toListDetails } from "../object/details.ts";
import { toPage } from "../object/list.ts";
import { toEvent } from "../history/convert.ts";
import { originIn, refusalSearch, toRefusal } from "./refusals/queries.ts";
import { type HomesOf, originShower, originFormatter } from "../history/origins.ts";
import { eventQueries, logOf } from "./queries.ts";
import { eventFormatterIn } from "../../texts/event-texts.ts";
import { eventFormatter, readerLanguage } from "../history/event-formatter.ts";
import { eventFeeds } from "./feed.ts";
import type { Followers } from "./followers.ts";
import { watch } from "./watch.ts";

/** What the log asks of the service, beside what every slice may use. */
export type EventPorts = {
  /** Who follows logs, in this process. */
  followers: Followers;
};

export function eventHandlers(
  deps: Deps & EventPorts,
  homesOf: HomesOf,
): Handlers<typeof EventService> {
  const queries = eventQueries(deps);
  const formatterFor = eventFormatter(deps.db);
  const originsFor = originFormatter(deps, homesOf);
  const show = originShower(homesOf);
  const searchRefused = refusalSearch(deps);
  const languageOf = readerLanguage(deps.db);
  const join = eventFeeds({ ...deps, queries, homesOf });
  return {
    async searchEvents({ query, sortingColumn, filters }, scope) {
      const found = await queries.search(scope, filters, toPage(query));
      const format = await formatterFor(scope);
      const originOf = await originsFor(scope, logOf(scope), found.rows);
      const result = found.rows.map((row) => toEvent(row, format, originOf(row)));
      return { details: toListDetails(found), sortingColumn, result };
    },

    async searchRefusals(request, scope) {
      const found = await searchRefused(scope, request);
      const origins = await Promise.all(found.rows.map((row) => originIn(deps, row)));
      const showOne = await show(scope, logOf(scope), origins);
      const result = found.rows.map((row, nth) => {
        const origin = origins[nth];
        return toRefusal(row, origin && showOne(origin));
      });
      return { details: toListDetails(found), result };
    },

    watchEvents: (request, scope) =>
      deps.followers.admit(scope, async function* () {
        const language = await languageOf(scope);
        const format = await eventFormatterIn(language);
        yield* watch({ queries, join, language, format }, request, scope);
      }),
  };
}
