import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { eventHandlers } from "./handlers.ts";

export { toEvent } from "./convert.ts";
export { eventTeller } from "./teller.ts";
export { type EventsFound, type HistoryOf, objectHistory } from "./queries.ts";

/** The log of an instance, searched and followed (resources, Events). It records nothing and keeps nothing. */
export const eventModule: Module = {
  events: [],
  projections: [],
  services: (deps) => [service(EventService, eventHandlers(deps))],
};
