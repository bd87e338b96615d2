import { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { type Handlers, service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import type { Deps, Module } from "../../projection/module.ts";
import { instanceDomainClaim, instanceEvents, limitsEvents } from "./events.ts";
import { sweepExpiredRows } from "../../jobs/expired-rows.ts";
import { usages } from "./quota/usage.ts";
import { instanceHandlers, type InstancePorts } from "./handlers.ts";
import { instanceProjection, limitsProjection } from "./projection.ts";

export { type Holding, holdingsOf, instanceContentsJobs } from "./contents.ts";
export type { InstancePorts } from "./handlers.ts";
export { instanceEvents } from "./events.ts";
export {
  addInstance,
  instance,
  setDefaultOrganization,
  organizationIsDefault,
} from "./instance.ts";
export { countIn } from "./quota/quotas.ts";
export { withinQuota } from "./quota/room.ts";
export { createUsage } from "./quota/usage.ts";
export { forgetInstance, instanceDomains, instances } from "./projection.ts";
export {
  hasInstance,
  instanceFacts,
  instanceReader,
  ownProjectReader,
  primaryDomainReader,
  retentionReader,
} from "./queries.ts";

/**
 * Instances: the tenants of the system.
 * @param making what makes them, of parts of other slices
 */
export const instanceModule = <D extends Deps>(
  making: (deps: D) => Pick<Handlers<typeof InstanceService>, "createInstance">,
): Module<D & InstancePorts> => ({
  events: [instanceEvents, limitsEvents],
  projections: [instanceProjection, limitsProjection],
  state: [usages],
  sweeps: (deps) => [sweepExpiredRows(deps, usages)],
  claimErrors: {
    [instanceDomainClaim]: () =>
      alreadyExists("INSTANCE_DOMAIN_TAKEN", "the domain leads to another instance"),
  },
  services: (deps) => [service(InstanceService, { ...instanceHandlers(deps), ...making(deps) })],
});
