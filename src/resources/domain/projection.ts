import type { Recorded } from "../../eventstore/event.ts";
import { objectRows, objectTable } from "../../projection/objects.ts";
import { pagesOf } from "../../projection/pages.ts";
import { on, projection } from "../../projection/projection.ts";
import type { Database } from "../../storage/database.ts";
import { deleteRows, updateRows } from "../../storage/row-change.ts";
import { bool, type Row, text } from "../../storage/table.ts";
import { instanceEvents } from "../instance/index.ts";
import {
  type DomainProof,
  domainIdOf,
  isProof,
  organizationEvents,
  type OwnDomain,
} from "../org/index.ts";

/** The domains of organizations and of the instance. */
export const domains = objectTable(
  "domains",
  {
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
  },
  {
    indexes: [
      { columns: ["instanceId", "organizationId", "name"] },
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
    ],
    countedBy: "instanceId",
  },
);

type Fact = Recorded & { payload: OwnDomain };
const rows = objectRows(domains, (event: Fact) => domainIdOf(event.payload));
const { change, remove, rowOf } = rows;

const add = (event: Fact, organizationId: string, isVerified: boolean) =>
  rows.add(event, {
    organizationId,
    name: event.payload.domain,
    isVerified,
    isProven: isVerified,
    isUnasked: false,
    isPrimary: false,
    validationType: "",
  });

const setPrimary = (event: Fact, organizationId: string) => [
  updateRows(domains, { instanceId: event.instanceId, organizationId }, { isPrimary: false }),
  ...change(event, { isPrimary: true }),
];

/** Where the event does not say what stands behind the domain, it is what was asked for before (J10). */
function verified(event: Fact, proof: DomainProof | undefined) {
  if (proof !== undefined) {
    const behind = { isProven: isProof(proof), isUnasked: proof === "none" };
    return change(event, { isVerified: true, ...behind });
  }
  return [
    ...["http", "dns"].map((validationType) =>
      updateRows(domains, { ...rowOf(event), validationType }, { isProven: true }),
    ),
    ...change(event, { isVerified: true }),
  ];
}

export const domainProjection = projection(
  "domains",
  [domains],
  on(organizationEvents, {
    "org.domain.added": (event) => add(event, event.aggregateId, false),
    "org.domain.verification.added": (event) =>
      change(event, { validationType: event.payload.validationType }),
    "org.domain.verification.failed": (event) => change(event, {}),
    "org.domain.verified": (event) => verified(event, event.payload.proof),
    "org.domain.claimed": (event) =>
      change(event, { isVerified: false, isProven: false, isUnasked: false, isPrimary: false }),
    "org.domain.primary.set": (event) => setPrimary(event, event.aggregateId),
    "org.domain.removed": remove,
    "org.removed": ({ instanceId, aggregateId: organizationId }) => [
      deleteRows(domains, { instanceId, organizationId }),
    ],
  }),
  on(instanceEvents, {
    "instance.domain.added": (event) => add(event, "", true),
    "instance.domain.primary.set": (event) => setPrimary(event, ""),
    "instance.domain.removed": remove,
    "instance.removed": ({ instanceId }) => [deleteRows(domains, { instanceId })],
  }),
);

/** The domains of an organization by name, some at a time. */
export const domainPages =
  (db: Database) =>
  (instanceId: string, organizationId: string): AsyncGenerator<Row<typeof domains>[]> =>
    pagesOf(db, domains, ["name"], instanceId, { organizationId });
