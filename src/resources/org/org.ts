import { failedPrecondition } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type OrganizationEvent, organizationEvents } from "./events.ts";

export type Organization = { name: string; domains: string[]; primaryDomain: string };

export const organization = aggregate(
  organizationEvents,
  undefined as Organization | undefined,
  evolve,
);

function evolve(
  state: Organization | undefined,
  event: OrganizationEvent,
): Organization | undefined {
  if (event.type === "org.added") {
    return { name: event.payload.name, domains: [], primaryDomain: "" };
  }
  if (state === undefined) return undefined;
  switch (event.type) {
    case "org.domain.added":
      return { ...state, domains: [...state.domains, event.payload.domain] };
    case "org.domain.verified":
      return state;
    case "org.domain.primary.set":
      return { ...state, primaryDomain: event.payload.domain };
    default:
      return event satisfies never;
  }
}

/** A new organization; its generated domain is verified and primary, since it lies below the instance's own. */
export function addOrganization(
  state: Organization | undefined,
  { name, domain }: { name: string; domain: string },
): OrganizationEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("ORGANIZATION_EXISTS", "an organization with this id exists");
  }
  return [
    organizationEvents.added({ name }),
    organizationEvents["domain.added"]({ domain }),
    organizationEvents["domain.verified"]({ domain }),
    organizationEvents["domain.primary.set"]({ domain }),
  ];
}

/**
 * The domain of an organization that brings none: its name, cleaned to what a DNS label may hold, below the domain of
 * the instance (resources, Organizations).
 */
export function generatedDomain(name: string, instanceDomain: string): string {
  const label = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63)
    .replace(/-+$/, "");
  return `${label === "" ? "org" : label}.${instanceDomain}`;
}
