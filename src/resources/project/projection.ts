import { begin, on, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { bool, instant, int64, table, text } from "../../storage/table.ts";
import { projectEvents } from "./events.ts";

export const projects = table(
  "projects",
  {
    instanceId: text(),
    id: text(),
    organizationId: text(),
    name: text(),
    nameFolded: text(),
    state: text(),
    roleAssertion: bool(),
    authorizationRequired: bool(),
    projectAccessRequired: bool(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "nameFolded", "id"] },
    ],
    countedBy: "instanceId",
  },
);

const row = ({ instanceId, aggregateId }: { instanceId: string; aggregateId: string }) => ({
  instanceId,
  id: aggregateId,
});

export const projectProjection = projection(
  "projects",
  [projects],
  on(projectEvents, {
    "project.added": (event) => [
      insertRow(projects, {
        ...begin(event),
        ...event.payload,
        organizationId: event.owner.id,
        nameFolded: caseFold(event.payload.name),
        state: "active",
      }),
    ],
    "project.changed": (event) => {
      const { name } = event.payload;
      const named = name === undefined ? {} : { nameFolded: caseFold(name) };
      return [updateRows(projects, row(event), { ...event.payload, ...named, ...touch(event) })];
    },
    "project.deactivated": (event) => [
      updateRows(projects, row(event), { state: "inactive", ...touch(event) }),
    ],
    "project.reactivated": (event) => [
      updateRows(projects, row(event), { state: "active", ...touch(event) }),
    ],
    "project.removed": (event) => [deleteRows(projects, row(event))],
  }),
);
