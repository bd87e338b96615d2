import { defineEvents, type EventOf, holdAlso, payload, release } from "../../eventstore/event.ts";

/** The kind of claim that makes a domain lead to one instance of the whole system. */
export const instanceDomainClaim = "instance.domain";

/** Events before there were ids of domains name only the domain, which then is its id. */
export type OwnDomain = { domain: string; domainId?: string };

/** Facts about an instance: a tenant with its own domains, users and keys. */
export const instanceEvents = defineEvents("instance", {
  added: payload<{ name: string; defaultLanguage: string }>(),
  changed: payload<{ name: string }>(),
  /** From here on nothing of it can be reached, though it may still have rows. */
  removed: payload<{ name: string; domains: string[] }>({
    claims: ({ domains }) =>
      domains.map((domain) => ({ ...release(instanceDomainClaim, domain), systemWide: true })),
  }),
  /** No table has a row of it any more. */
  "contents.removed": payload<Record<string, never>>(),
  "domain.added": payload<OwnDomain & { isGenerated: boolean }>({
    claims: ({ domain }) => [holdAlso(instanceDomainClaim, domain, true)],
  }),
  "domain.primary.set": payload<OwnDomain>(),
  "domain.removed": payload<OwnDomain>({
    claims: ({ domain }) => [{ ...release(instanceDomainClaim, domain), systemWide: true }],
  }),
  "default.org.set": payload<{ organizationId: string }>(),
  "iam.project.set": payload<{ projectId: string }>(),
});

export type InstanceEvent = EventOf<typeof instanceEvents>;

/** How much an instance may use; what is absent is not limited. */
export type Quotas = Partial<
  Record<"users" | "organizations" | "requestsPerDay" | "tokensPerDay", number>
>;

export type Limits = {
  block: boolean;
  /** Milliseconds; null for ever. */
  auditLogRetentionMs: number | null;
  /** Null where nothing is limited. */
  quotas: Quotas | null;
};

/**
 * What an instance is limited to. These facts stand in the log of the system, so that several instances can be limited
 * by one unit.
 */
export const limitsEvents = defineEvents("limits", { set: payload<Partial<Limits>>() });

export type LimitsEvent = EventOf<typeof limitsEvents>;
