import type { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toListDetails } from "../object/details.ts";
import { toPage } from "../object/list.ts";
import { toEvent } from "./convert.ts";
import { eventQueries } from "./queries.ts";
import { watch } from "./watch.ts";

export function eventHandlers(deps: Deps): Handlers<typeof EventService> {
  const queries = eventQueries(deps);
  return {
    async searchEvents({ query, sortingColumn, filters }, scope) {
      const found = await queries.search(scope, filters, toPage(query));
      return { details: toListDetails(found), sortingColumn, result: found.rows.map(toEvent) };
    },

    watchEvents: (request, scope) => watch(deps.db, queries, request, scope),
  };
}
