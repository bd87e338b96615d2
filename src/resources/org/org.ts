import { alreadyExists } from "../../errors.ts";
import {
  organizationEvents,
  organization,
  type OrganizationEvent,
  organizationResource,
} from "./organization.ts";
import type { DomainProof, OwnDomain } from "./own-domain.ts";
import { organizationIsDefault } from "../instance/index.ts";

type State = typeof organization.initial;

/** A new organization, with its primary domain, and with one that it has yet to prove. */
export function addOrganization(
  state: State,
  { name, proof = "generated", ...domain }: { name: string; proof?: DomainProof } & OwnDomain,
  unproven?: OwnDomain,
): OrganizationEvent[] {
  return [
    ...organizationResource.add(state, { name, primaryDomain: "" }),
    organizationEvents["domain.added"](domain),
    organizationEvents["domain.verified"]({ ...domain, proof }),
    organizationEvents["domain.primary.set"](domain),
    ...(unproven === undefined ? [] : [organizationEvents["domain.added"](unproven)]),
  ];
}

/** @throws FAILED_PRECONDITION ORGANIZATION_IS_DEFAULT, since logins that name no organization happen there */
export function deactivateOrganization(state: State, isDefault: boolean): OrganizationEvent[] {
  const happened = organizationResource.deactivate(state);
  if (isDefault) throw defaultStays("deactivated");
  return happened;
}

/** @throws FAILED_PRECONDITION ORGANIZATION_IS_DEFAULT */
export function removeOrganization(state: State, isDefault: boolean): OrganizationEvent[] {
  const { name, domains } = organizationResource.require(state);
  if (isDefault) throw defaultStays("deleted");
  return [organizationEvents.removed({ name, domains: domains.map((domain) => domain.name) })];
}

/**
 * The domain of an organization that brings none: its name, cleaned to what a DNS label may hold, below the domain of
 * the instance (specification 10.2). The suffix tells apart names that clean to the same.
 */
export function generatedDomain(name: string, instanceDomain: string, suffix = ""): string {
  const label = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63 - suffix.length)
    .replace(/-+$/, "");
  return `${label === "" ? "org" : label}${suffix}.${instanceDomain}`;
}

export const domainTaken = () =>
  alreadyExists("ORGANIZATION_DOMAIN_TAKEN", "the domain is proven by another organization");

const defaultStays = (what: string) =>
  organizationIsDefault(
    `the default organization of the instance cannot be ${what}: make another one the default first`,
  );
