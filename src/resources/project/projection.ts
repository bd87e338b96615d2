import { begin, on, projection } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { insertRow } from "../../storage/row-change.ts";
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
  { key: ["instanceId", "id"], indexes: [{ columns: ["instanceId", "organizationId"] }] },
);

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
  }),
);
