import { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { defaultsConcerns } from "./concerns.ts";
import { instanceDomainClaim, instanceEvents, limitsEvents } from "./events.ts";
import { instanceHandlers } from "./handlers.ts";
import { instanceProjection, limitsProjection } from "./projection.ts";

export { type Holding, holdingsOf, instanceContentsJobs } from "./contents.ts";
export {
  addHumanOwner,
  addMachineOwner,
  createInstance,
  firstDomain,
  newInstanceIds,
} from "./create-instance.ts";
export { instanceEvents } from "./events.ts";
export { requireFirstPassword } from "./first-password.ts";
export {
  addInstance,
  instance,
  instanceNotFound,
  limits,
  setDefaultOrganization,
} from "./instance.ts";
export { forgetInstance, instances } from "./projection.ts";
export {
  hasInstance,
  instanceFacts,
  instanceReader,
  ownProjectReader,
  primaryDomainReader,
  retentionReader,
} from "./queries.ts";

/** Instances: the tenants of the system. */
export const instanceModule: Module = {
  events: [instanceEvents, limitsEvents],
  projections: [instanceProjection, limitsProjection],
  claimErrors: {
    [instanceDomainClaim]: () =>
      alreadyExists("INSTANCE_DOMAIN_TAKEN", "the domain leads to another instance"),
  },
  concerns: defaultsConcerns,
  services: (deps) => [service(InstanceService, instanceHandlers(deps))],
};
