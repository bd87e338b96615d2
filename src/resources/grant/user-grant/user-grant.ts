import type {
  PatchUserGrant,
  UserGrant,
} from "#gen/idsvc/resources/grant/v3alpha/user_grant_pb.ts";
import { table, text } from "../../../storage/table.ts";
import { field, type FieldsOf } from "../../object/fields.ts";
import { defineResource, fact } from "../../object/resource.ts";
import { withoutKeys } from "../role/role.ts";

/** What a user grant is for. Without a project grant, its id is empty. */
type UserGrantContext = { userId: string; projectId: string; projectGrantId: string };

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

/** Finds grants by a role. */
export const userGrantsByRole = { table: userGrantRoles, as: "roleKey", of: "userGrantId" };

/** The roles of a user in a project. Its owner is the organization that granted them. */
export const userGrants = defineResource({
  name: "user_grant",
  events: "user.grant",
  ownTexts: true,
  aggregateType: "user_grant",
  table: "user_grants",
  owner: "org",
  states: true,
  fields: {
    userId: field.text({ fixed: true }),
    projectId: field.text({ fixed: true }),
    /** Empty where the owner of the project granted them. */
    projectGrantId: field.text({ fixed: true }),
    roleKeys: field.set({}),
  } satisfies FieldsOf<UserGrant | PatchUserGrant>,
  kept: ["userId", "projectId", "projectGrantId"],
  repeated: ["projectId", "projectGrantId"],
  // One for a user, a project and a project grant (C4).
  unique: {
    claim: "user.grant",
    fields: ["userId", "projectId", "projectGrantId"],
    of: ({ userId, projectId, projectGrantId }) => `${userId}/${projectId}/${projectGrantId}`,
    taken: {
      reason: "USER_GRANT_EXISTS",
      text: "the user has a grant of this project already: patch that one",
    },
  },
  idUsed: "USER_GRANT_ID_USED",
  facts: {
    /** The project or the project grant lost roles. */
    "cascade.changed": fact<{ projectId: string; projectGrantId: string; roleKeys: string[] }>(),
    /** It went with its user, its project or its project grant. */
    "cascade.removed": fact<UserGrantContext>({ ends: true }),
  },
  beside: { columns: { creatorId: text() }, first: ({ editorId }) => ({ creatorId: editorId }) },
  lists: { roleKeys: userGrantsByRole },
  indexes: [
    { columns: ["instanceId", "userId"] },
    { columns: ["instanceId", "projectId", "creationDate", "id"] },
    { columns: ["instanceId", "projectGrantId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "userId", "projectId", "projectGrantId"] },
    { columns: ["instanceId", "state", "creationDate", "id"] },
    { columns: ["instanceId", "creationDate", "id"] },
    { columns: ["instanceId", "changeDate", "id"] },
  ],
});

type State = typeof userGrants.aggregate.initial;

/** The project or the project grant lost roles. What is left may be nothing: the grant itself stays. */
export function loseUserRoles(state: State, lost: readonly string[]) {
  if (state === undefined) return [];
  const { projectId, projectGrantId } = state;
  const roleKeys = withoutKeys(state.roleKeys, lost);
  return roleKeys.length === state.roleKeys.length
    ? []
    : [userGrants.events["cascade.changed"]({ projectId, projectGrantId, roleKeys })];
}

/** The user grant goes because its user, its project or its project grant has gone. */
export function cascadeUserGrant(state: State) {
  if (state === undefined) return [];
  const { userId, projectId, projectGrantId } = state;
  return [userGrants.events["cascade.removed"]({ userId, projectId, projectGrantId })];
}
