import { begin, on, type Projection, projection, touch } from "../../projection/projection.ts";
import type { Recorded } from "../../eventstore/event.ts";
import { caseFold } from "../../storage/case-fold.ts";
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

const row = ({ instanceId }: { instanceId: string }) => ({ instanceId });
const named = (name: string) => ({ name, nameFolded: caseFold(name) });
const change = (event: Recorded, values: Parameters<typeof updateRows<typeof instances>>[2]) =>
  updateRows(instances, row(event), { ...values, ...touch(event) });

export const instanceProjection = projection(
  "instances",
  [instances, instanceDomains],
  on(instanceEvents, {
    "instance.added": (event) => [
      insertRow(instances, {
        ...begin(event),
        ...named(event.payload.name),
        defaultLanguage: event.payload.defaultLanguage,
        defaultOrganizationId: "",
        projectId: "",
      }),
    ],
    "instance.changed": (event) => [change(event, named(event.payload.name))],
    "instance.removed": (event) => [
      deleteRows(instances, row(event)),
      deleteRows(instanceDomains, row(event)),
    ],
    "instance.domain.added": (event) => [
      insertRow(instanceDomains, {
        domain: event.payload.domain,
        instanceId: event.instanceId,
        isPrimary: false,
        creationDate: event.createdAt,
      }),
      change(event, {}),
    ],
    "instance.domain.removed": (event) => [
      deleteRows(instanceDomains, { domain: event.payload.domain }),
      change(event, {}),
    ],
    "instance.domain.primary.set": (event) => [
      updateRows(instanceDomains, row(event), { isPrimary: false }),
      updateRows(instanceDomains, { domain: event.payload.domain }, { isPrimary: true }),
      change(event, {}),
    ],
    "instance.default.org.set": (event) => [
      change(event, { defaultOrganizationId: event.payload.organizationId }),
    ],
    "instance.iam.project.set": (event) => [change(event, { projectId: event.payload.projectId })],
  }),
);

export const limitsProjection = projection(
  "instance_limits",
  [instanceLimits],
  on(limitsEvents, {
    "limits.set": ({ instanceId, aggregateId: id, payload }) => {
      const { block, auditLogRetentionMs: retention, quotas } = payload;
      const given = {
        ...(block === undefined ? {} : { block }),
        ...(retention === undefined
          ? {}
          : { auditLogRetentionMs: retention === null ? null : String(retention) }),
        ...(quotas === undefined ? {} : { quotas }),
      };
      const kept = [
        ...(block === undefined ? (["block"] as const) : []),
        ...(retention === undefined ? (["auditLogRetentionMs"] as const) : []),
        ...(quotas === undefined ? (["quotas"] as const) : []),
      ];
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
