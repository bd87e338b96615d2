import type { Recorded } from "../../eventstore/event.ts";
import { on, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { bool, instant, int64, table, text } from "../../storage/table.ts";
import { instanceEvents } from "../instance/index.ts";
import {
  type DomainProof,
  domainIdOf,
  isProof,
  organizationEvents,
  type OwnDomain,
} from "../org/index.ts";

/** The domains of organizations and of the instance. */
export const domains = table(
  "domains",
  {
    instanceId: text(),
    id: text(),
    /** Empty for a domain of the instance. */
    organizationId: text(),
    name: text(),
    nameFolded: text(),
    isVerified: bool(),
    /** Whether it is its owner's by a proof, or by the word of whoever runs the instance. */
    isProven: bool(),
    /** Whether it is verified only because nobody asked for a proof. */
    isUnasked: bool(),
    isPrimary: bool(),
    /** `http`, `dns`, or empty where nothing is to be proven. */
    validationType: text(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "organizationId", "name"] },
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
    ],
    countedBy: "instanceId",
  },
);

type Fact = Recorded & { payload: OwnDomain };
const row = (event: Fact) => ({ instanceId: event.instanceId, id: domainIdOf(event.payload) });

const add = (event: Fact, organizationId: string, isVerified: boolean) => [
  insertRow(domains, {
    ...row(event),
    organizationId,
    name: event.payload.domain,
    nameFolded: caseFold(event.payload.domain),
    isVerified,
    isProven: isVerified,
    isUnasked: false,
    isPrimary: false,
    validationType: "",
    sequence: event.sequence,
    creationDate: event.createdAt,
    changeDate: event.createdAt,
  }),
];

const setPrimary = (event: Fact, organizationId: string) => [
  updateRows(domains, { instanceId: event.instanceId, organizationId }, { isPrimary: false }),
  updateRows(domains, row(event), { isPrimary: true, ...touch(event) }),
];

/** Where the event does not say what stands behind the domain, it is what was asked for before (J10). */
function verified(event: Fact, proof: DomainProof | undefined) {
  const since = { isVerified: true, ...touch(event) };
  if (proof !== undefined) {
    const behind = { isProven: isProof(proof), isUnasked: proof === "none" };
    return [updateRows(domains, row(event), { ...since, ...behind })];
  }
  return [
    updateRows(domains, { ...row(event), validationType: "http" }, { isProven: true }),
    updateRows(domains, { ...row(event), validationType: "dns" }, { isProven: true }),
    updateRows(domains, row(event), since),
  ];
}

export const domainProjection = projection(
  "domains",
  [domains],
  on(organizationEvents, {
    "org.domain.added": (event) => add(event, event.aggregateId, false),
    "org.domain.verification.added": (event) => [
      updateRows(domains, row(event), {
        validationType: event.payload.validationType,
        ...touch(event),
      }),
    ],
    "org.domain.verification.failed": (event) => [updateRows(domains, row(event), touch(event))],
    "org.domain.verified": (event) => verified(event, event.payload.proof),
    "org.domain.claimed": (event) => [
      updateRows(domains, row(event), {
        isVerified: false,
        isProven: false,
        isUnasked: false,
        isPrimary: false,
        ...touch(event),
      }),
    ],
    "org.domain.primary.set": (event) => setPrimary(event, event.aggregateId),
    "org.domain.removed": (event) => [deleteRows(domains, row(event))],
    "org.removed": ({ instanceId, aggregateId: organizationId }) => [
      deleteRows(domains, { instanceId, organizationId }),
    ],
  }),
  on(instanceEvents, {
    "instance.domain.added": (event) => add(event, "", true),
    "instance.domain.primary.set": (event) => setPrimary(event, ""),
    "instance.domain.removed": (event) => [deleteRows(domains, row(event))],
    "instance.removed": ({ instanceId }) => [deleteRows(domains, { instanceId })],
  }),
);
