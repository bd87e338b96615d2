import { begin, on, projection, touch } from "../../../projection/projection.ts";
import { deleteRows, insertRow, updateRows } from "../../../storage/row-change.ts";
import { bool, instant, int64, json, table, text } from "../../../storage/table.ts";
import { projectGrantEvents } from "./events.ts";

export const projectGrants = table(
  "project_grants",
  {
    instanceId: text(),
    id: text(),
    /** The owner of the project. */
    organizationId: text(),
    grantedOrganizationId: text(),
    projectId: text(),
    state: text(),
    accepted: bool(),
    /** It was given when nobody had to accept it. */
    isFormer: bool(),
    roleKeys: json<string[]>(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "projectId", "grantedOrganizationId"] },
      { columns: ["instanceId", "grantedOrganizationId", "projectId"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

/** Which grants have a role. */
export const projectGrantRoles = table(
  "project_grant_roles",
  { instanceId: text(), projectGrantId: text(), projectId: text(), roleKey: text() },
  {
    key: ["instanceId", "projectGrantId", "roleKey"],
    indexes: [{ columns: ["instanceId", "projectId", "roleKey"] }],
  },
);

type Event = { instanceId: string; aggregateId: string };
const row = ({ instanceId, aggregateId }: Event) => ({ instanceId, id: aggregateId });
const ofGrant = ({ instanceId, aggregateId }: Event) => ({
  instanceId,
  projectGrantId: aggregateId,
});

type Roles = { projectId: string; roleKeys: string[] };

const holdRoles = (event: Event & { payload: Roles }) =>
  event.payload.roleKeys.map((roleKey) => {
    const { projectId } = event.payload;
    return insertRow(projectGrantRoles, { ...ofGrant(event), projectId, roleKey });
  });

const changeRoles = (event: Event & { payload: Roles } & Parameters<typeof touch>[0]) => [
  updateRows(projectGrants, row(event), { roleKeys: event.payload.roleKeys, ...touch(event) }),
  deleteRows(projectGrantRoles, ofGrant(event)),
  ...holdRoles(event),
];

export const projectGrantProjection = projection(
  "project_grants",
  [projectGrants, projectGrantRoles],
  on(projectGrantEvents, {
    "project.grant.added": (event) => [
      insertRow(projectGrants, {
        ...begin(event),
        projectId: event.payload.projectId,
        grantedOrganizationId: event.payload.grantedOrganizationId,
        roleKeys: event.payload.roleKeys,
        isFormer: event.payload.isAsked !== true,
        organizationId: event.owner.id,
        state: "active",
        accepted: false,
      }),
      ...holdRoles(event),
    ],
    "project.grant.changed": changeRoles,
    "project.grant.cascade.changed": changeRoles,
    "project.grant.deactivated": (event) => [
      updateRows(projectGrants, row(event), { state: "inactive", ...touch(event) }),
    ],
    "project.grant.reactivated": (event) => [
      updateRows(projectGrants, row(event), { state: "active", ...touch(event) }),
    ],
    "project.grant.accepted": (event) => [
      updateRows(projectGrants, row(event), { accepted: true, ...touch(event) }),
    ],
    "project.grant.declined": (event) => [
      updateRows(projectGrants, row(event), {
        ...{ accepted: false, isFormer: false },
        ...touch(event),
      }),
    ],
    "project.grant.removed": (event) => [
      deleteRows(projectGrants, row(event)),
      deleteRows(projectGrantRoles, ofGrant(event)),
    ],
  }),
);
