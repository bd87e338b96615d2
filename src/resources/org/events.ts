import { caseFold } from "../../storage/case-fold.ts";
import {
  defineEvents,
  type EventOf,
  hold,
  holdAlso,
  payload,
  release,
} from "../../eventstore/event.ts";

export const organizationNameClaim = "org.name";
export const organizationDomainClaim = "org.domain";

export type ValidationType = "http" | "dns";

/** Events before there were ids of domains name only the domain, which then is its id. */
export type OwnDomain = { domain: string; domainId?: string };

export const domainIdOf = ({ domain, domainId }: OwnDomain): string => domainId ?? domain;

const nameClaim = ({ name }: { name: string }) => [hold(organizationNameClaim, caseFold(name))];

/** Facts about an organization: who owns users, projects and settings of their own. */
export const organizationEvents = defineEvents("org", {
  added: payload<{ name: string }>({ claims: nameClaim }),
  changed: payload<{ name: string }>({ claims: nameClaim }),
  deactivated: payload<Record<string, never>>(),
  reactivated: payload<Record<string, never>>(),
  /** From here on everything below it is dead, though it may still have rows. */
  removed: payload<{ name: string; domains: string[] }>({
    claims: () => [release(organizationNameClaim), release(organizationDomainClaim)],
  }),
  /** Nothing of what it held is left. */
  "contents.removed": payload<Record<string, never>>(),
  "domain.added": payload<OwnDomain>(),
  "domain.verification.added": payload<OwnDomain & { validationType: ValidationType }>(),
  "domain.verification.failed": payload<OwnDomain>(),
  "domain.verified": payload<OwnDomain>({
    claims: ({ domain }) => [holdAlso(organizationDomainClaim, domain)],
  }),
  "domain.primary.set": payload<OwnDomain>(),
  "domain.removed": payload<OwnDomain>({
    claims: ({ domain }) => [release(organizationDomainClaim, domain)],
  }),
});

export type OrganizationEvent = EventOf<typeof organizationEvents>;
