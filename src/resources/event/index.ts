import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { sweepExpiredRows } from "../../jobs/expired-rows.ts";
import { service } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import { eventHandlers, type EventPorts } from "./handlers.ts";
import { originKeyJobs } from "./origin-keys.ts";
import { refusalsGoWithUser } from "./refusals/recorder.ts";
import { refusals } from "./refusals/table.ts";
import type { HomesOf } from "../history/origins.ts";

export type { EventPorts } from "./handlers.ts";
export { createFollowers } from "./followers.ts";
export { forgetOriginKeyLater } from "./origin-keys.ts";
export { createRefusals } from "./refusals/recorder.ts";

/** The log of an instance, searched and followed, and what was refused. It records no event. */
export const eventModule = (homesIn: (db: Deps["db"]) => HomesOf): Module<Deps & EventPorts> => ({
  events: [],
  projections: [],
  state: [refusals],
  reactions: () => [refusalsGoWithUser],
  sweeps: (deps) => [sweepExpiredRows(deps, refusals)],
  services: (deps) => [service(EventService, eventHandlers(deps, homesIn(deps.db)))],
  jobs: originKeyJobs,
});
