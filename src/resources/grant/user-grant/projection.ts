import { begin, on, projection, touch } from "../../../projection/projection.ts";
import { deleteRows, insertRow, updateRows } from "../../../storage/row-change.ts";
import { instant, int64, json, table, text } from "../../../storage/table.ts";
import { userGrantEvents } from "./events.ts";

export const userGrants = table(
  "user_grants",
  {
    instanceId: text(),
    id: text(),
    /** The organization that granted the roles. */
    organizationId: text(),
    userId: text(),
    projectId: text(),
    /** Empty where the owner of the project granted them. */
    projectGrantId: text(),
    state: text(),
    creatorId: text(),
    roleKeys: json<string[]>(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "userId"] },
      { columns: ["instanceId", "projectId"] },
      { columns: ["instanceId", "projectGrantId"] },
      { columns: ["instanceId", "organizationId"] },
      { columns: ["instanceId", "creationDate", "id"] },
    ],
    countedBy: "instanceId",
  },
);

/** Which user grants have a role. */
export const userGrantRoles = table(
  "user_grant_roles",
  {
    instanceId: text(),
    userGrantId: text(),
    projectId: text(),
    projectGrantId: text(),
    roleKey: text(),
  },
  {
    key: ["instanceId", "userGrantId", "roleKey"],
    indexes: [
      { columns: ["instanceId", "projectId", "roleKey"] },
      { columns: ["instanceId", "projectGrantId", "roleKey"] },
    ],
  },
);

type Event = { instanceId: string; aggregateId: string };
const row = ({ instanceId, aggregateId }: Event) => ({ instanceId, id: aggregateId });
const ofGrant = ({ instanceId, aggregateId }: Event) => ({ instanceId, userGrantId: aggregateId });

type Roles = { projectId: string; projectGrantId: string; roleKeys: string[] };

const holdRoles = (event: Event & { payload: Roles }) => {
  const { projectId, projectGrantId, roleKeys } = event.payload;
  return roleKeys.map((roleKey) =>
    insertRow(userGrantRoles, { ...ofGrant(event), projectId, projectGrantId, roleKey }),
  );
};

const changeRoles = (event: Event & { payload: Roles } & Parameters<typeof touch>[0]) => [
  updateRows(userGrants, row(event), { roleKeys: event.payload.roleKeys, ...touch(event) }),
  deleteRows(userGrantRoles, ofGrant(event)),
  ...holdRoles(event),
];

const remove = (event: Event) => [
  deleteRows(userGrants, row(event)),
  deleteRows(userGrantRoles, ofGrant(event)),
];

export const userGrantProjection = projection(
  "user_grants",
  [userGrants, userGrantRoles],
  on(userGrantEvents, {
    "user.grant.added": (event) => [
      insertRow(userGrants, {
        ...begin(event),
        ...event.payload,
        organizationId: event.owner.id,
        creatorId: event.editorId,
        state: "active",
      }),
      ...holdRoles(event),
    ],
    "user.grant.changed": changeRoles,
    "user.grant.cascade.changed": changeRoles,
    "user.grant.deactivated": (event) => [
      updateRows(userGrants, row(event), { state: "inactive", ...touch(event) }),
    ],
    "user.grant.reactivated": (event) => [
      updateRows(userGrants, row(event), { state: "active", ...touch(event) }),
    ],
    "user.grant.removed": remove,
    "user.grant.cascade.removed": remove,
  }),
);
