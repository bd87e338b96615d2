import { begin, on, projection, touch } from "../../../projection/projection.ts";
import { caseFold } from "../../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../../storage/row-change.ts";
import { instant, int64, table, text } from "../../../storage/table.ts";
import { roleEvents } from "./events.ts";

export const projectRoles = table(
  "project_roles",
  {
    instanceId: text(),
    id: text(),
    organizationId: text(),
    projectId: text(),
    key: text(),
    keyFolded: text(),
    displayName: text(),
    displayNameFolded: text(),
    groupName: text(),
    groupNameFolded: text(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "projectId", "key"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

const row = ({ instanceId, aggregateId }: { instanceId: string; aggregateId: string }) => ({
  instanceId,
  id: aggregateId,
});

const labels = ({ displayName, group }: { displayName?: string; group?: string }) => ({
  ...(displayName === undefined ? {} : { displayName, displayNameFolded: caseFold(displayName) }),
  ...(group === undefined ? {} : { groupName: group, groupNameFolded: caseFold(group) }),
});

export const roleProjection = projection(
  "project_roles",
  [projectRoles],
  on(roleEvents, {
    "project.role.added": (event) => {
      const { projectId, key, displayName, group } = event.payload;
      return [
        insertRow(projectRoles, {
          ...begin(event),
          organizationId: event.owner.id,
          projectId,
          key,
          keyFolded: caseFold(key),
          displayName,
          displayNameFolded: caseFold(displayName),
          groupName: group,
          groupNameFolded: caseFold(group),
        }),
      ];
    },
    "project.role.changed": (event) => [
      updateRows(projectRoles, row(event), { ...labels(event.payload), ...touch(event) }),
    ],
    "project.role.removed": (event) => [deleteRows(projectRoles, row(event))],
  }),
);
