import type { Recorded } from "../../eventstore/event.ts";
import { begin, on, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { bool, instant, int64, table, text } from "../../storage/table.ts";
import { type DomainProof, isProof, organizationEvents, type OwnDomain } from "./events.ts";

export const organizations = table(
  "organizations",
  {
    instanceId: text(),
    id: text(),
    name: text(),
    nameFolded: text(),
    state: text(),
    primaryDomain: text(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
    ],
    countedBy: "instanceId",
  },
);

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

type Event = { instanceId: string; aggregateId: string };
const row = ({ instanceId, aggregateId }: Event) => ({ instanceId, id: aggregateId });
const ofOrganization = ({ instanceId, aggregateId }: Event) => ({
  instanceId,
  organizationId: aggregateId,
});

type Fact = Event & Pick<Recorded, "sequence">;

/** Where the event does not say what stands behind the domain, it is what was asked for before (J10). */
function verified(event: Fact, { domain, proof }: OwnDomain & { proof?: DomainProof }) {
  const its = { ...ofOrganization(event), domain };
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

export const organizationProjection = projection(
  "organizations",
  [organizations, organizationDomains, leavingOrganizations],
  on(organizationEvents, {
    "org.added": (event) => [
      insertRow(organizations, {
        ...begin(event),
        name: event.payload.name,
        nameFolded: caseFold(event.payload.name),
        state: "active",
        primaryDomain: "",
      }),
    ],
    "org.changed": (event) => [
      updateRows(organizations, row(event), {
        name: event.payload.name,
        nameFolded: caseFold(event.payload.name),
        ...touch(event),
      }),
    ],
    "org.deactivated": (event) => [
      updateRows(organizations, row(event), { state: "inactive", ...touch(event) }),
    ],
    "org.reactivated": (event) => [
      updateRows(organizations, row(event), { state: "active", ...touch(event) }),
    ],
    "org.removed": (event) => [
      deleteRows(organizations, row(event)),
      deleteRows(organizationDomains, ofOrganization(event)),
      insertRow(leavingOrganizations, ofOrganization(event)),
    ],
    "org.contents.removed": (event) => [deleteRows(leavingOrganizations, ofOrganization(event))],
    "org.domain.added": (event) => [
      insertRow(organizationDomains, {
        ...ofOrganization(event),
        domain: event.payload.domain,
        isVerified: false,
        validationType: "",
        isProven: false,
        isUnasked: false,
        verifiedAt: 0n,
        isPrimary: false,
      }),
      updateRows(organizations, row(event), touch(event)),
    ],
    "org.domain.verification.added": (event) => [
      updateRows(
        organizationDomains,
        { ...ofOrganization(event), domain: event.payload.domain, isVerified: false },
        { validationType: event.payload.validationType },
      ),
    ],
    "org.domain.verified": (event) => [
      ...verified(event, event.payload),
      updateRows(organizations, row(event), touch(event)),
    ],
    "org.domain.claimed": (event) => [
      updateRows(
        organizationDomains,
        { ...ofOrganization(event), domain: event.payload.domain },
        {
          ...{ isVerified: false, isProven: false, isUnasked: false },
          ...{ validationType: "", verifiedAt: 0n },
        },
      ),
      updateRows(organizations, row(event), touch(event)),
    ],
    "org.domain.removed": (event) => [
      deleteRows(organizationDomains, {
        ...ofOrganization(event),
        domain: event.payload.domain,
      }),
      updateRows(organizations, row(event), touch(event)),
    ],
    "org.domain.primary.set": (event) => [
      updateRows(organizationDomains, ofOrganization(event), { isPrimary: false }),
      updateRows(
        organizationDomains,
        { ...ofOrganization(event), domain: event.payload.domain },
        { isPrimary: true },
      ),
      updateRows(organizations, row(event), {
        primaryDomain: event.payload.domain,
        ...touch(event),
      }),
    ],
  }),
);
