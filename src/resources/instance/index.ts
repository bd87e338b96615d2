import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { instanceDomainClaim, instanceEvents } from "./events.ts";
import { instanceProjection } from "./projection.ts";

export { instanceEvents } from "./events.ts";
export { addInstance, instance, setDefaultOrganization } from "./instance.ts";
export { hasInstance, instanceReader } from "./queries.ts";

export const instanceModule: Module = {
  events: [instanceEvents],
  projections: [instanceProjection],
  claimErrors: {
    [instanceDomainClaim]: () =>
      alreadyExists("INSTANCE_DOMAIN_TAKEN", "the domain leads to another instance"),
  },
};
