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

/**
 * What stands behind a verified domain: a token that was found where only its holder can put one, that the service made it
 * below the instance's own, what an import says, or nothing, as nobody asked (J10).
 */
export type DomainProof = "challenge" | "generated" | "import" | "none";

/** Whether it makes the domain the organization's. Events of before there were proofs do not say, and are judged by what was asked. */
export const isProof = (proof: string | undefined): boolean =>
  proof === "challenge" || proof === "generated";

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
  "domain.verified": payload<OwnDomain & { proof?: DomainProof }>({
    claims: ({ domain, proof }) =>
      isProof(proof)
        ? // It may hold the claim already, by an event of before there were proofs.
          [release(organizationDomainClaim, domain), holdAlso(organizationDomainClaim, domain)]
        : [],
  }),
  /** Another organization has proven it: here, where nobody did, it no longer counts. */
  "domain.claimed": payload<OwnDomain>({
    claims: ({ domain }) => [release(organizationDomainClaim, domain)],
  }),
  "domain.primary.set": payload<OwnDomain>(),
  "domain.removed": payload<OwnDomain>({
    claims: ({ domain }) => [release(organizationDomainClaim, domain)],
  }),
});

export type OrganizationEvent = EventOf<typeof organizationEvents>;
