import type { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toListDetails } from "../object/details.ts";
import { toPage } from "../object/list.ts";
import { toEvent } from "./convert.ts";
import { eventQueries } from "./queries.ts";
import { eventTeller } from "./teller.ts";
import { watch } from "./watch.ts";

export function eventHandlers(deps: Deps): Handlers<typeof EventService> {
  const queries = eventQueries(deps);
  const tellerFor = eventTeller(deps.db);
  return {
    async searchEvents({ query, sortingColumn, filters }, scope) {
      const found = await queries.search(scope, filters, toPage(query));
      const tell = await tellerFor(scope);
      const result = found.rows.map((row) => toEvent(row, tell));
      return { details: toListDetails(found), sortingColumn, result };
    },

    async *watchEvents(request, scope) {
      const tell = await tellerFor(scope);
      yield* watch({ db: deps.db, queries, tell }, request, scope);
    },
  };
}
