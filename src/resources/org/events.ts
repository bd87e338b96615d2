import { caseFold } from "../../storage/case-fold.ts";
import { defineEvents, type EventOf, hold, holdAlso, payload } from "../../eventstore/event.ts";

export const organizationNameClaim = "org.name";
export const organizationDomainClaim = "org.domain";

/** Facts about an organization: who owns users, projects and settings of their own. */
export const organizationEvents = defineEvents("org", {
  added: payload<{ name: string }>({
    claims: ({ name }) => [hold(organizationNameClaim, caseFold(name))],
  }),
  "domain.added": payload<{ domain: string }>(),
  "domain.verified": payload<{ domain: string }>({
    claims: ({ domain }) => [holdAlso(organizationDomainClaim, domain)],
  }),
  "domain.primary.set": payload<{ domain: string }>(),
});

export type OrganizationEvent = EventOf<typeof organizationEvents>;
