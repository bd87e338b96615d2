import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { organizationDomainClaim, organizationEvents, organizationNameClaim } from "./events.ts";
import { organizationProjection } from "./projection.ts";

export { addOrganization, generatedDomain, organization } from "./org.ts";
export { organizationReader } from "./queries.ts";

export const organizationModule: Module = {
  events: [organizationEvents],
  projections: [organizationProjection],
  claimErrors: {
    [organizationNameClaim]: () =>
      alreadyExists("ORGANIZATION_NAME_TAKEN", "an organization of this name exists"),
    [organizationDomainClaim]: () =>
      alreadyExists("ORGANIZATION_DOMAIN_TAKEN", "the domain is verified by another organization"),
  },
};
