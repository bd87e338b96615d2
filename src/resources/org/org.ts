import { alreadyExists, failedPrecondition, notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import {
  type DomainProof,
  domainIdOf,
  isProof,
  type OrganizationEvent,
  organizationEvents,
  type OwnDomain,
  type ValidationType,
} from "./events.ts";

export type Organization = {
  name: string;
  state: "active" | "inactive";
  domains: OrganizationDomain[];
  primaryDomain: string;
};

export type OrganizationDomain = {
  id: string;
  name: string;
  isVerified: boolean;
  /** Whether that makes it the organization's own, against whoever claims it besides. */
  isProven: boolean;
  validationType: ValidationType | undefined;
};

type State = Organization | undefined;

export const organization = aggregate(organizationEvents, undefined as State, evolve);

function evolve(state: State, event: OrganizationEvent): State {
  if (event.type === "org.added") {
    return { name: event.payload.name, state: "active", domains: [], primaryDomain: "" };
  }
  if (state === undefined) return undefined;
  switch (event.type) {
    case "org.changed":
      return { ...state, name: event.payload.name };
    case "org.deactivated":
      return { ...state, state: "inactive" };
    case "org.reactivated":
      return { ...state, state: "active" };
    case "org.removed":
      return undefined;
    case "org.contents.removed":
    case "org.domain.verification.failed":
      return state;
    case "org.domain.primary.set":
      return { ...state, primaryDomain: event.payload.domain };
    default:
      return { ...state, domains: changeDomains(state.domains, event) };
  }
}

type DomainEvent = Extract<
  OrganizationEvent,
  { type: "org.domain.added" | "org.domain.verified" | "org.domain.removed" | Unproven }
>;
type Unproven = "org.domain.verification.added" | "org.domain.claimed";

function changeDomains(domains: OrganizationDomain[], { type, payload }: DomainEvent) {
  const id = domainIdOf(payload);
  const change = (values: (domain: OrganizationDomain) => Partial<OrganizationDomain>) =>
    domains.map((domain) => (domain.id === id ? { ...domain, ...values(domain) } : domain));
  switch (type) {
    case "org.domain.added": {
      const nothingYet = { isVerified: false, isProven: false, validationType: undefined };
      return [...domains, { id, name: payload.domain, ...nothingYet }];
    }
    case "org.domain.verification.added":
      return change(() => ({ validationType: payload.validationType }));
    case "org.domain.verified": {
      const { proof } = payload;
      return change(({ validationType }) => ({
        isVerified: true,
        isProven: proof === undefined ? validationType !== undefined : isProof(proof),
      }));
    }
    case "org.domain.claimed":
      return change(() => ({ isVerified: false, isProven: false }));
    case "org.domain.removed":
      return domains.filter((domain) => domain.id !== id);
  }
}

/** A new organization, with its primary domain, and with one that it has yet to prove. */
export function addOrganization(
  state: State,
  { name, proof = "generated", ...domain }: { name: string; proof?: DomainProof } & OwnDomain,
  unproven?: OwnDomain,
): OrganizationEvent[] {
  if (state !== undefined) {
    throw failedPrecondition("ORGANIZATION_EXISTS", "an organization with this id exists");
  }
  return [
    organizationEvents.added({ name }),
    organizationEvents["domain.added"](domain),
    organizationEvents["domain.verified"]({ ...domain, proof }),
    organizationEvents["domain.primary.set"](domain),
    ...(unproven === undefined ? [] : [organizationEvents["domain.added"](unproven)]),
  ];
}

/** A patch that changes nothing is no event and no error. */
export function patchOrganization(state: State, { name }: { name?: string }): OrganizationEvent[] {
  if (state === undefined) throw organizationNotFound();
  return name === undefined || name === state.name ? [] : [organizationEvents.changed({ name })];
}

/** @throws FAILED_PRECONDITION ORGANIZATION_IS_DEFAULT, since logins that name no organization happen there */
export function deactivateOrganization(state: State, isDefault: boolean): OrganizationEvent[] {
  if (state === undefined) throw organizationNotFound();
  if (state.state === "inactive") {
    throw failedPrecondition("ORGANIZATION_INACTIVE", "the organization is inactive already");
  }
  if (isDefault) throw organizationIsDefault("deactivated");
  return [organizationEvents.deactivated({})];
}

export function activateOrganization(state: State): OrganizationEvent[] {
  if (state === undefined) throw organizationNotFound();
  if (state.state === "active") {
    throw failedPrecondition("ORGANIZATION_ACTIVE", "the organization is active already");
  }
  return [organizationEvents.reactivated({})];
}

/** @throws FAILED_PRECONDITION ORGANIZATION_IS_DEFAULT */
export function removeOrganization(state: State, isDefault: boolean): OrganizationEvent[] {
  if (state === undefined) throw organizationNotFound();
  if (isDefault) throw organizationIsDefault("deleted");
  const { name, domains } = state;
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

export const organizationNotFound = () =>
  notFound("ORGANIZATION_NOT_FOUND", "the organization does not exist");

export const domainTaken = () =>
  alreadyExists("ORGANIZATION_DOMAIN_TAKEN", "the domain is proven by another organization");

const organizationIsDefault = (what: string) =>
  failedPrecondition(
    "ORGANIZATION_IS_DEFAULT",
    `the default organization of the instance cannot be ${what}: make another one the default first`,
  );
