import { on, projection, touch } from "../../projection/projection.ts";
import { insertRow, updateRows } from "../../storage/row-change.ts";
import { bool, instant, int64, table, text } from "../../storage/table.ts";
import { instanceEvents } from "./events.ts";

export const instances = table(
  "instances",
  {
    instanceId: text(),
    name: text(),
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

export const instanceProjection = projection(
  "instances",
  [instances, instanceDomains],
  on(instanceEvents, {
    "instance.added": ({ instanceId, sequence, createdAt, payload }) => [
      insertRow(instances, {
        instanceId,
        name: payload.name,
        defaultLanguage: payload.defaultLanguage,
        defaultOrganizationId: "",
        projectId: "",
        sequence,
        creationDate: createdAt,
        changeDate: createdAt,
      }),
    ],
    "instance.domain.added": (event) => [
      insertRow(instanceDomains, {
        domain: event.payload.domain,
        instanceId: event.instanceId,
        isPrimary: false,
        creationDate: event.createdAt,
      }),
      updateRows(instances, { instanceId: event.instanceId }, touch(event)),
    ],
    "instance.domain.primary.set": (event) => [
      updateRows(instanceDomains, { instanceId: event.instanceId }, { isPrimary: false }),
      updateRows(instanceDomains, { domain: event.payload.domain }, { isPrimary: true }),
      updateRows(instances, { instanceId: event.instanceId }, touch(event)),
    ],
    "instance.default.org.set": (event) => [
      updateRows(
        instances,
        { instanceId: event.instanceId },
        { defaultOrganizationId: event.payload.organizationId, ...touch(event) },
      ),
    ],
    "instance.iam.project.set": (event) => [
      updateRows(
        instances,
        { instanceId: event.instanceId },
        { projectId: event.payload.projectId, ...touch(event) },
      ),
    ],
  }),
);
