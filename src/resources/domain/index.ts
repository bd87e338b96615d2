import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import { domainAuthorize, domainHandlers, type DomainPorts } from "./handlers.ts";
import { domainProjection } from "./projection.ts";
import { removeContentsOfDomains } from "./remove-contents.ts";

export type { DomainPorts } from "./handlers.ts";
export { domainPages } from "./projection.ts";

/** Domains of organizations and of the instance. Their events are those of their owners. */
export const domainModule: Module<Deps & DomainPorts> = {
  events: [],
  projections: [domainProjection],
  services: (deps) => [service(DomainService, domainHandlers(deps), domainAuthorize(deps))],
  contents: removeContentsOfDomains,
};
