import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { organizationDomainClaim, organizationEvents, organizationNameClaim } from "./events.ts";
import { organizationAuthorize, organizationHandlers } from "./handlers.ts";
import { domainTaken } from "./org.ts";
import { organizationProjection } from "./projection.ts";

export { organizationContentsJobs } from "./contents.ts";
export { organizationCreator } from "./create-organization.ts";
export { domainTaker, requireUnproven, unprovenHolders } from "./domain-claims.ts";
export { isOfInstance, requireElsewhere } from "./domain-of-instance.ts";
export {
  domainIdOf,
  type DomainProof,
  isProof,
  organizationDomainClaim,
  type OrganizationEvent,
  organizationEvents,
  type OwnDomain,
  type ValidationType,
} from "./events.ts";
export {
  addOrganization,
  deactivateOrganization,
  generatedDomain,
  organization,
  organizationNotFound,
} from "./org.ts";
export { organizationDomains, organizations } from "./projection.ts";
export {
  isInActiveOrganization,
  organizationNames,
  organizationReader,
  organizationsWhere,
  domainHolders,
  provenDomains,
  verifiedDomains,
} from "./queries.ts";
export { organizationTenancy, requireOrganization } from "./tenancy.ts";

/** Organizations: the tenants of an instance. */
export const organizationModule: Module = {
  events: [organizationEvents],
  projections: [organizationProjection],
  claimErrors: {
    [organizationNameClaim]: () =>
      alreadyExists(
        "ORGANIZATION_NAME_TAKEN",
        "an organization of this name exists, in this or a like spelling",
      ),
    [organizationDomainClaim]: domainTaken,
  },
  services: (deps) => [
    service(OrganizationService, organizationHandlers(deps), organizationAuthorize(deps)),
  ],
};
