import { objectRows } from "../../projection/objects.ts";
import { on, type Projection, projection } from "../../projection/projection.ts";
import type { Recorded } from "../../eventstore/event.ts";
import { deleteRows, insertRow, putRow, updateRows } from "../../storage/row-change.ts";
import {
  type AnyTable,
  bool,
  instant,
  int64,
  optionalJson,
  optionalText,
  table,
  text,
} from "../../storage/table.ts";
import { instanceEvents, limitsEvents, type Quotas } from "./events.ts";

export const instances = table(
  "instances",
  {
    instanceId: text(),
    /** The same as `instanceId`: what searches sort and break ties by. */
    id: text(),
    name: text(),
    nameFolded: text(),
    defaultLanguage: text(),
    defaultOrganizationId: text(),
    projectId: text(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  { key: ["instanceId"] },
);

/** The domains that lead to instances, over the whole system. */
export const instanceDomains = table(
  "instance_domains",
  { domain: text(), instanceId: text(), isPrimary: bool(), creationDate: instant() },
  { key: ["domain"], indexes: [{ columns: ["instanceId"] }] },
);

/** What instances are limited to; an instance without a row is not. The log is that of the system. */
export const instanceLimits = table(
  "instance_limits",
  {
    instanceId: text(),
    id: text(),
    block: bool(),
    /** Milliseconds as a number in text. */
    auditLogRetentionMs: optionalText(),
    quotas: optionalJson<Quotas>(),
  },
  { key: ["instanceId", "id"] },
);

const { add, change, remove } = objectRows(instances);
const ofInstance = ({ instanceId }: Recorded) => ({ instanceId });

export const instanceProjection = projection(
  "instances",
  [instances, instanceDomains],
  on(instanceEvents, {
    "instance.added": (event) =>
      add(event, { ...event.payload, defaultOrganizationId: "", projectId: "" }),
    "instance.changed": (event) => change(event, event.payload),
    "instance.removed": (event) => [
      ...remove(event),
      deleteRows(instanceDomains, ofInstance(event)),
    ],
    "instance.domain.added": (event) => [
      insertRow(instanceDomains, {
        ...ofInstance(event),
        domain: event.payload.domain,
        isPrimary: false,
        creationDate: event.createdAt,
      }),
      ...change(event, {}),
    ],
    "instance.domain.removed": (event) => [
      deleteRows(instanceDomains, { domain: event.payload.domain }),
      ...change(event, {}),
    ],
    "instance.domain.primary.set": (event) => [
      updateRows(instanceDomains, ofInstance(event), { isPrimary: false }),
      updateRows(instanceDomains, { domain: event.payload.domain }, { isPrimary: true }),
      ...change(event, {}),
    ],
    "instance.default.org.set": (event) =>
      change(event, { defaultOrganizationId: event.payload.organizationId }),
    "instance.iam.project.set": (event) => change(event, event.payload),
  }),
);

export const limitsProjection = projection(
  "instance_limits",
  [instanceLimits],
  on(limitsEvents, {
    "limits.set": ({ instanceId, aggregateId: id, payload }) => {
      const { auditLogRetentionMs: ms, ...others } = payload;
      const given = {
        ...others,
        ...(ms !== undefined && { auditLogRetentionMs: ms === null ? null : String(ms) }),
      };
      const kept = (["block", "auditLogRetentionMs", "quotas"] as const).filter(
        (name) => payload[name] === undefined,
      );
      return [putRow(instanceLimits, { instanceId, id, block: false, ...given }, kept)];
    },
  }),
);

/** Leaves no row of a deleted instance in these tables, so that a rebuild from its log ends without them too. */
export const forgetInstance = (tables: readonly AnyTable[]): Projection =>
  projection(
    "instance_contents",
    [],
    on(instanceEvents, {
      "instance.contents.removed": ({ instanceId }) =>
        tables.map((each) => deleteRows(each, { instanceId })),
    }),
  );
