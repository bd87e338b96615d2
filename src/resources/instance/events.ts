import { defineEvents, type EventOf, holdAlso, payload } from "../../eventstore/event.ts";

/** The kind of claim that makes a domain lead to one instance of the whole system. */
export const instanceDomainClaim = "instance.domain";

/** Facts about an instance: a tenant with its own domains, users and keys. */
export const instanceEvents = defineEvents("instance", {
  added: payload<{ name: string; defaultLanguage: string }>(),
  "domain.added": payload<{ domain: string; isGenerated: boolean }>({
    claims: ({ domain }) => [holdAlso(instanceDomainClaim, domain, true)],
  }),
  "domain.primary.set": payload<{ domain: string }>(),
  "default.org.set": payload<{ organizationId: string }>(),
  "iam.project.set": payload<{ projectId: string }>(),
});

export type InstanceEvent = EventOf<typeof instanceEvents>;
