import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import type { JsonObject } from "@bufbuild/protobuf";
import {
  type Action,
  type Choices,
  type Field,
  type Given,
  type Path,
  type Rows,
  type Shown,
  textAt,
} from "./declare.ts";
import { activity, id } from "./shared.ts";

const grants = UserGrantService.method;
const projectGrants = ProjectGrantService.method;

/** The roles of the project that is chosen or was, by the path of its ID. */
const rolesAt = (path: string): Choices => ({
  method: RoleService.method.searchRoles,
  request(text) {
    const project = text(path);
    return project === ""
      ? undefined
      : { query: { limit: 1000, skip_total: true }, filters: [{ project_id: project }] };
  },
  rows: "result",
  value: "role.key",
  label: "role.display_name",
});

export const userGrantColumns: readonly Shown[] = [
  { path: "user_grant.project_id", as: "project" },
  { path: "user_grant.role_keys" },
  { path: "state" },
  { path: "details.change_date", word: "changed" },
];

/** Gives somebody roles in a project. */
export const grantUserRoles = (
  given: Given,
  fields: readonly Field[],
  project = "user_grant.project_id",
): Action => ({
  word: "grantRoles",
  method: grants.createUserGrant,
  given,
  fields: [
    ...fields,
    { path: "user_grant.role_keys", isRequired: true, choices: rolesAt(project) },
  ],
});

export const userGrantActions: readonly Action[] = [
  {
    word: "changeRoles",
    method: grants.patchUserGrant,
    given: id,
    isChange: true,
    fields: [
      { path: "user_grant.role_keys", isRequired: true, choices: rolesAt("user_grant.project_id") },
    ],
  },
  {
    word: "deactivate",
    method: grants.deactivateUserGrant,
    given: id,
    isDangerous: true,
    when: (grant) => activity(grant, true),
  },
  {
    word: "activate",
    method: grants.activateUserGrant,
    given: id,
    when: (grant) => activity(grant, false),
  },
  { word: "remove", method: grants.deleteUserGrant, given: id, isDangerous: true },
];

const projectGrantActions: readonly Action[] = [
  {
    word: "changeRoles",
    method: projectGrants.patchProjectGrant,
    given: id,
    isChange: true,
    fields: [{ path: "project_grant.role_keys", choices: rolesAt("project_grant.project_id") }],
  },
  {
    word: "deactivate",
    method: projectGrants.deactivateProjectGrant,
    given: id,
    isDangerous: true,
    when: (grant) => activity(grant, true),
  },
  {
    word: "activate",
    method: projectGrants.activateProjectGrant,
    given: id,
    when: (grant) => activity(grant, false),
  },
  { word: "remove", method: projectGrants.deleteProjectGrant, given: id, isDangerous: true },
];

/** What the organization that a project was granted to may do with the grant. */
export const receivedGrantActions: readonly Action[] = [
  {
    word: "accept",
    method: projectGrants.acceptProjectGrant,
    given: id,
    when: (grant) => grant["accepted"] !== true,
  },
  {
    word: "decline",
    method: projectGrants.declineProjectGrant,
    given: id,
    when: (grant) => grant["accepted"] !== true,
    isDangerous: true,
  },
];

const ofProject = (path: Path) => (object: JsonObject) => ({
  filters: [{ project_id: textAt(object, path) }],
});

/** The people who have roles of a project, whose ID the page has at the path. */
export function usersOf(path: Path): Rows {
  const given: Given = { "user_grant.project_id": { page: path } };
  return {
    word: "grantsOfUsers",
    tab: "access",
    search: { method: grants.searchUserGrants, request: ofProject(path) },
    columns: [
      { path: "user_grant.user_id", word: "field_user", as: "person" },
      ...userGrantColumns.filter((column) => column.path !== "user_grant.project_id"),
    ],
    add: [
      grantUserRoles(given, [{ path: "user_grant.user_id", word: "person", as: "person" }], path),
      {
        word: "grantRolesToMany",
        method: grants.createUserGrant,
        given,
        fields: [{ path: "user_grant.role_keys", isRequired: true, choices: rolesAt(path) }],
        pasted: { field: "user_grant.user_id" },
      },
    ],
    actions: userGrantActions,
  };
}

/** The organizations that have roles of a project, whose ID the page has at the path. */
export const organizationsOf = (path: Path): Rows => ({
  word: "grantsOfOrganizations",
  tab: "access",
  search: { method: projectGrants.searchProjectGrants, request: ofProject(path) },
  columns: [
    { path: "project_grant.granted_organization_id", word: "organization", as: "organization" },
    { path: "project_grant.role_keys" },
    { path: "state" },
    { path: "accepted" },
  ],
  add: [
    {
      word: "grantToOrganization",
      method: projectGrants.createProjectGrant,
      given: { "project_grant.project_id": { page: path } },
      fields: [
        { path: "project_grant.granted_organization_id", word: "organization", as: "organization" },
        { path: "project_grant.role_keys", choices: rolesAt(path) },
      ],
    },
  ],
  actions: projectGrantActions,
});
