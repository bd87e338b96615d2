import type {
  PatchProjectGrant,
  ProjectGrant as ProjectGrantMessage,
} from "#gen/idsvc/resources/grant/v3alpha/project_grant_pb.ts";
import { payload } from "../../../eventstore/event.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { bool, table, text } from "../../../storage/table.ts";
import { field, type FieldsOf } from "../../object/fields.ts";
import { defineResource, fact, type ResourceConfig } from "../../object/resource.ts";
import { requireOrganization } from "../../org/index.ts";
import { withoutKeys } from "../role/role.ts";

/** Which grants have a role. */
export const projectGrantRoles = table(
  "project_grant_roles",
  { instanceId: text(), projectGrantId: text(), projectId: text(), roleKey: text() },
  {
    key: ["instanceId", "projectGrantId", "roleKey"],
    indexes: [{ columns: ["instanceId", "projectId", "roleKey"] }],
  },
);

/** Finds grants by a role. */
export const projectGrantsByRole = {
  table: projectGrantRoles,
  as: "roleKey",
  of: "projectGrantId",
};

type Parties = { projectId: string; grantedOrganizationId: string };

/** The right of another organization to use a project. Its owner is the organization that owns the project. */
export const projectGrants = defineResource({
  name: "project_grant",
  events: "project.grant",
  ownTexts: true,
  aggregateType: "project_grant",
  table: "project_grants",
  owner: "org",
  states: true,
  fields: {
    grantedOrganizationId: field.text({ fixed: true }),
    projectId: field.text({ fixed: true }),
    /** Whether the organization that it was given to wants it; unsaid for those of earlier releases. */
    accepted: field.bool({ unsaid: false }),
    roleKeys: field.set({}),
  } satisfies FieldsOf<ProjectGrantMessage | PatchProjectGrant> & { accepted: unknown },
  kept: ["projectId", "grantedOrganizationId"],
  repeated: ["projectId"],
  unique: {
    claim: "project.grant",
    fields: ["projectId", "grantedOrganizationId"],
    of: ({ projectId, grantedOrganizationId }) => `${projectId}/${grantedOrganizationId}`,
    taken: {
      reason: "PROJECT_GRANT_EXISTS",
      text: "the project is granted to this organization already",
    },
  },
  idUsed: "PROJECT_GRANT_ID_USED",
  // Of each since grants are accepted: those of earlier releases are without.
  notes: payload<{ isAsked?: true }>(),
  facts: {
    /** The project lost roles. */
    "cascade.changed": fact<{ projectId: string; roleKeys: string[] }>(),
    /** Somebody who answers for the users of the granted organization wants it, or does not. */
    accepted: fact<Parties>({ sets: () => ({ accepted: true }) }),
    declined: fact<Parties>({
      sets: () => ({ accepted: false }),
      row: () => ({ isFormer: false }),
    }),
  },
  beside: {
    /** It was given when nobody had to accept it. */
    columns: { isFormer: bool() },
    first: ({ payload: { isAsked } }) => ({ isFormer: isAsked !== true }),
  },
  lists: { roleKeys: projectGrantsByRole },
  indexes: [
    { columns: ["instanceId", "projectId", "grantedOrganizationId"] },
    { columns: ["instanceId", "grantedOrganizationId", "projectId"] },
    { columns: ["instanceId", "organizationId", "creationDate", "id"] },
    { columns: ["instanceId", "organizationId", "id"] },
    { columns: ["instanceId", "state", "creationDate", "id"] },
    { columns: ["instanceId", "creationDate", "id"] },
    { columns: ["instanceId", "changeDate", "id"] },
  ],
});

/** The types of the events that end one. */
export const projectGrantEnds: readonly string[] = ["project.grant.removed"];

export type ProjectGrant = ResourceConfig<typeof projectGrants>;
type State = typeof projectGrants.aggregate.initial;

export const addProjectGrant = (state: State, config: Omit<ProjectGrant, "accepted">) =>
  projectGrants.add(state, config, { isAsked: true });

/** The project lost roles, and the grant with it. */
export function loseGrantedRoles(state: State, lost: readonly string[]) {
  if (state === undefined) return [];
  const { projectId } = state;
  const roleKeys = withoutKeys(state.roleKeys, lost);
  return roleKeys.length === state.roleKeys.length
    ? []
    : [projectGrants.events["cascade.changed"]({ projectId, roleKeys })];
}

/**
 * The organization wants it, or does not: then users of it are asked before an app of the project gets anything of them. What is so
 * already is no event and no error.
 */
function answer(state: State, wants: boolean) {
  const { accepted, projectId, grantedOrganizationId } = projectGrants.require(state);
  if (accepted === wants) return [];
  return [
    projectGrants.events[wants ? "accepted" : "declined"]({ projectId, grantedOrganizationId }),
  ];
}

export const acceptProjectGrant = (state: State) => answer(state, true);
export const declineProjectGrant = (state: State) => answer(state, false);

/**
 * Makes sure that the project grant and the organization that has it are still there when the unit commits.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND, ORGANIZATION_NOT_FOUND
 */
export async function requireProjectGrant(tx: Transaction, id: string) {
  const state = projectGrants.require((await tx.load(projectGrants.aggregate, id)).state);
  await requireOrganization(tx, state.grantedOrganizationId);
  return state;
}
