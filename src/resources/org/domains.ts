import { failedPrecondition, notFound } from "../../errors.ts";
import { instanceEvents, type instance } from "../instance/index.ts";
import { type organization, organizationEvents, organizationNotFound } from "./organization.ts";
import type { DomainProof, ValidationType } from "./own-domain.ts";

type Organization = (typeof organization)["initial"];
type Instance = (typeof instance)["initial"];
type Added = { domain: string; domainId: string };

/** How the domain is to be proven, or what stands behind it without. */
export type Standing = { validationType: ValidationType } | { proof: DomainProof };

export function addToOrganization(
  state: Organization,
  { domain, domainId }: Added,
  standing: Standing,
) {
  if (state === undefined) throw organizationNotFound();
  if (state.domains.some(({ name }) => name === domain)) throw domainPresent();
  const own = { domain, domainId };
  return [
    organizationEvents["domain.added"](own),
    "proof" in standing
      ? organizationEvents["domain.verified"]({ ...own, ...standing })
      : organizationEvents["domain.verification.added"]({ ...own, ...standing }),
  ];
}

/** Domains of the instance are the operator's word: they count at once. */
export function addToInstance(state: Instance, own: Added) {
  if (state?.domains.some(({ name }) => name === own.domain)) throw domainPresent();
  return [instanceEvents["domain.added"]({ ...own, isGenerated: false })];
}

/** Another way to prove the domain, or a new token for the same. */
export function changeValidation(state: Organization, id: string, validationType: ValidationType) {
  const domain = unproven(state, id);
  const own = { domain: domain.name, domainId: id };
  return [organizationEvents["domain.verification.added"]({ ...own, validationType })];
}

/** @throws FAILED_PRECONDITION DOMAIN_VERIFIED, DOMAIN_VALIDATION_MISSING */
export function requireValidation(state: Organization, id: string) {
  const { name, validationType } = unproven(state, id);
  if (validationType !== undefined) return { name, validationType };
  throw failedPrecondition(
    "DOMAIN_VALIDATION_MISSING",
    "choose how the domain is to be proven first: patch its validation_type",
  );
}

/** What became of looking for the proof; undefined: nothing was found. */
export function judge(state: Organization, id: string, proof: DomainProof | undefined) {
  const { name } = unproven(state, id);
  const own = { domain: name, domainId: id };
  return [
    proof === undefined
      ? organizationEvents["domain.verification.failed"](own)
      : organizationEvents["domain.verified"]({ ...own, proof }),
  ];
}

/** @param counts whether it makes login names now, which the settings say of one that is not proven */
export function setPrimary(state: Organization, id: string, counts = true) {
  const domain = domainOf(state, id);
  if (!domain.isVerified || !counts) {
    throw failedPrecondition("DOMAIN_UNVERIFIED", "only a proven domain can be the primary one");
  }
  if (domain.name === state?.primaryDomain) throw domainPrimary("is the primary one already");
  return [organizationEvents["domain.primary.set"]({ domain: domain.name, domainId: id })];
}

export function setInstancePrimary(state: Instance, id: string) {
  const domain = domainOf(state, id);
  if (domain.name === state?.primaryDomain) throw domainPrimary("is the primary one already");
  return [instanceEvents["domain.primary.set"]({ domain: domain.name, domainId: id })];
}

export function removeDomain(state: Organization, id: string) {
  const { name } = domainOf(state, id);
  if (name === state?.primaryDomain) throw domainPrimary("is the primary one: name another first");
  return [organizationEvents["domain.removed"]({ domain: name, domainId: id })];
}

export function removeInstanceDomain(state: Instance, id: string) {
  const { name } = domainOf(state, id);
  if (name === state?.primaryDomain) throw domainPrimary("is the primary one: name another first");
  return [instanceEvents["domain.removed"]({ domain: name, domainId: id })];
}

function domainOf<D extends { id: string }>(state: { domains: D[] } | undefined, id: string): D {
  const domain = state?.domains.find((one) => one.id === id);
  if (domain === undefined) throw domainNotFound();
  return domain;
}

function unproven(state: Organization, id: string) {
  const domain = domainOf(state, id);
  if (domain.isProven) throw domainProven();
  return domain;
}

export const domainProven = (text = "the domain is proven already") =>
  failedPrecondition("DOMAIN_VERIFIED", text);

export const domainNotFound = () => notFound("DOMAIN_NOT_FOUND", "the domain does not exist");
const domainPresent = () =>
  failedPrecondition("DOMAIN_PRESENT", "the domain is there already in this context");
const domainPrimary = (what: string) => failedPrecondition("DOMAIN_PRIMARY", `the domain ${what}`);
