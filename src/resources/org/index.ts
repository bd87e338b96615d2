import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { service } from "../../authz/service.ts";
import { withinQuota } from "../instance/index.ts";
import { resourceModule } from "../object/module.ts";
import { organizationAuthorize, organizationHandlers } from "./handlers.ts";
import { domainTaken } from "./org.ts";
import { organizationDomainClaim, organizationResource } from "./organization.ts";

export { organizationContentsJobs } from "./contents.ts";
export { organizationCreator } from "./create-organization.ts";
export { domainTaker, requireUnproven, unprovenHolders } from "./domain-claims.ts";
export { isOfInstance, requireElsewhere } from "./domain-of-instance.ts";
export {
  addToInstance,
  addToOrganization,
  changeValidation,
  domainNotFound,
  domainProven,
  judge,
  removeDomain,
  removeInstanceDomain,
  requireValidation,
  setInstancePrimary,
  setPrimary,
  type Standing,
} from "./domains.ts";
export {
  domainIdOf,
  type DomainProof,
  isProof,
  type OwnDomain,
  type ValidationType,
} from "./own-domain.ts";
export { addOrganization, deactivateOrganization, generatedDomain } from "./org.ts";
export {
  organization,
  type OrganizationEvent,
  organizationEvents,
  organizationNotFound,
  organizations,
} from "./organization.ts";
export {
  isInActiveOrganization,
  organizationFinder,
  organizationNames,
  organizationReader,
  organizationsWhere,
  domainHolders,
  provenDomains,
  verifiedDomains,
} from "./queries.ts";
export { organizationTenancy, requireOrganization } from "./tenancy.ts";

/** Organizations: the tenants of an instance. */
export const organizationModule = resourceModule([organizationResource], {
  claimErrors: { [organizationDomainClaim]: domainTaken },
  invariants: ({ db }) => [
    withinQuota(db, {
      quota: "organizations",
      table: organizationResource.table,
      made: ["org.added"],
    }),
  ],
  services: (deps) => [
    service(OrganizationService, organizationHandlers(deps), organizationAuthorize(deps)),
  ],
});
