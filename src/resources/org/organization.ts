import { type EventOf, holdAlso, type Recorded, release } from "../../eventstore/event.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { bool, int64, table, text } from "../../storage/table.ts";
import type { Nothing } from "../object/declared.ts";
import { field, indexesOfNamed } from "../object/fields.ts";
import { defineResource, fact } from "../object/resource.ts";
import {
  type DomainProof,
  domainIdOf,
  isProof,
  type OwnDomain,
  type ValidationType,
} from "./own-domain.ts";

export const organizationDomainClaim = "org.domain";

/** Organizations that were removed and whose contents still have rows: nothing below them may be seen. */
export const leavingOrganizations = table(
  "leaving_organizations",
  { instanceId: text(), organizationId: text() },
  { key: ["instanceId", "organizationId"] },
);

export const organizationDomains = table(
  "organization_domains",
  {
    instanceId: text(),
    organizationId: text(),
    domain: text(),
    isVerified: bool(),
    /** How it was to be proven before it was verified, where that was asked; empty else. */
    validationType: text(),
    /** Whether it is the organization's by a proof. */
    isProven: bool(),
    /** Whether it is verified only because nobody asked for a proof. */
    isUnasked: bool(),
    /** Where in the log it began to count; 0 before. */
    verifiedAt: int64(),
    isPrimary: bool(),
  },
  {
    key: ["instanceId", "organizationId", "domain"],
    indexes: [{ columns: ["instanceId", "domain"] }],
  },
);

type OrganizationDomain = {
  id: string;
  name: string;
  isVerified: boolean;
  /** Whether that makes it the organization's own, against whoever claims it besides. */
  isProven: boolean;
  validationType: ValidationType | undefined;
};
type Domains = { domains: OrganizationDomain[] };
const noDomains: Domains = { domains: [] };
type VerifiedDomain = OwnDomain & { proof?: DomainProof };

const ofOrganization = ({ instanceId, aggregateId: organizationId }: Recorded) => ({
  instanceId,
  organizationId,
});
const domainRow = (event: Recorded & { payload: OwnDomain }) => ({
  ...ofOrganization(event),
  domain: event.payload.domain,
});
const noProof = { isVerified: false, isProven: false, isUnasked: false, verifiedAt: 0n };

/** Changes one domain of the state. */
const changed =
  <P extends OwnDomain>(
    change: (domain: OrganizationDomain, payload: P) => Partial<OrganizationDomain>,
  ) =>
  ({ domains }: Domains, payload: P): Domains => ({
    domains: domains.map((one) =>
      one.id === domainIdOf(payload) ? { ...one, ...change(one, payload) } : one,
    ),
  });

/** Where the event does not say what stands behind the domain, it is what was asked for before (J10). */
function verifiedRows(event: Recorded & { payload: VerifiedDomain }) {
  const { proof } = event.payload;
  const its = domainRow(event);
  const since = { isVerified: true, verifiedAt: event.sequence };
  if (proof !== undefined) {
    const behind = { isProven: isProof(proof), isUnasked: proof === "none" };
    return [updateRows(organizationDomains, its, { ...since, ...behind })];
  }
  const waiting = { ...its, isVerified: false };
  return [
    updateRows(organizationDomains, { ...waiting, validationType: "" }, since),
    updateRows(organizationDomains, waiting, { ...since, isProven: true }),
  ];
}

const letGoOfDomain = {
  claims: ({ domain }: OwnDomain) => [release(organizationDomainClaim, domain)],
};

/** Organizations: who owns users, projects and settings of their own. */
const resource = defineResource({
  name: "organization",
  events: "org",
  verbs: { added: "added", changed: "changed" },
  ownTexts: true,
  table: "organizations",
  owner: "instance",
  states: true,
  fields: { name: field.text({ folded: true }), primaryDomain: field.text({ absent: "" }) },
  initially: noDomains,
  tables: [organizationDomains, leavingOrganizations],
  kept: [],
  unique: {
    claim: "org.name",
    fields: ["name"],
    of: ({ name }) => caseFold(name),
    taken: {
      reason: "ORGANIZATION_NAME_TAKEN",
      text: "an organization of this name exists, in this or a like spelling",
    },
  },
  facts: {
    /** From here on everything below it is dead, though it may still have rows. */
    removed: fact<{ name: string; domains: string[] }>(
      {
        ends: true,
        rows: (event) => [
          deleteRows(organizationDomains, ofOrganization(event)),
          insertRow(leavingOrganizations, ofOrganization(event)),
        ],
      },
      { claims: () => [release(organizationDomainClaim)] },
    ),
    /** Nothing of what it held is left. */
    "contents.removed": fact<Nothing>({
      untouched: true,
      rows: (event) => [deleteRows(leavingOrganizations, ofOrganization(event))],
    }),
    "domain.added": fact<OwnDomain, Domains>({
      evolve({ domains }, payload) {
        const nothingYet = { isVerified: false, isProven: false, validationType: undefined };
        const added = { id: domainIdOf(payload), name: payload.domain, ...nothingYet };
        return { domains: [...domains, added] };
      },
      rows(event) {
        const nothingYet = { ...noProof, validationType: "", isPrimary: false };
        return [insertRow(organizationDomains, { ...domainRow(event), ...nothingYet })];
      },
    }),
    "domain.verification.added": fact<OwnDomain & { validationType: ValidationType }, Domains>({
      untouched: true,
      evolve: changed((_, { validationType }) => ({ validationType })),
      rows(event) {
        const { validationType } = event.payload;
        const waiting = { ...domainRow(event), isVerified: false };
        return [updateRows(organizationDomains, waiting, { validationType })];
      },
    }),
    "domain.verification.failed": fact<OwnDomain>({ untouched: true }),
    "domain.verified": fact<VerifiedDomain, Domains>(
      {
        evolve: changed(({ validationType }, { proof }) => ({
          isVerified: true,
          isProven: proof === undefined ? validationType !== undefined : isProof(proof),
        })),
        rows: verifiedRows,
      },
      {
        claims: ({ domain, proof }) =>
          isProof(proof)
            ? // It may hold the claim already, by an event of before there were proofs.
              [release(organizationDomainClaim, domain), holdAlso(organizationDomainClaim, domain)]
            : [],
      },
    ),
    /** Another organization has proven it: here, where nobody did, it no longer counts. */
    "domain.claimed": fact<OwnDomain, Domains>(
      {
        evolve: changed(() => ({ isVerified: false, isProven: false })),
        rows(event) {
          const unproven = { ...noProof, validationType: "" };
          return [updateRows(organizationDomains, domainRow(event), unproven)];
        },
      },
      letGoOfDomain,
    ),
    "domain.primary.set": fact<OwnDomain>({
      sets: ({ domain }) => ({ primaryDomain: domain }),
      rows: (event) => [
        updateRows(organizationDomains, ofOrganization(event), { isPrimary: false }),
        updateRows(organizationDomains, domainRow(event), { isPrimary: true }),
      ],
    }),
    "domain.removed": fact<OwnDomain, Domains>(
      {
        evolve: ({ domains }, payload) => ({
          domains: domains.filter(({ id }) => id !== domainIdOf(payload)),
        }),
        rows: (event) => [deleteRows(organizationDomains, domainRow(event))],
      },
      letGoOfDomain,
    ),
  },
  indexes: [...indexesOfNamed],
});

export const {
  events: organizationEvents,
  table: organizations,
  aggregate: organization,
  missing: organizationNotFound,
} = resource;
export { resource as organizationResource };
export type OrganizationEvent = EventOf<typeof organizationEvents>;
export type Organization = NonNullable<typeof organization.initial>;
