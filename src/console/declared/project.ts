import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { addApp } from "./application.ts";
import { begins, type Kind, type Listed, present, type Rows, textAt } from "./declare.ts";
import { organizationsOf, usersOf } from "./grants.ts";
import { activity, historyOf, id, membersOf, ownFacts } from "./shared.ts";

const project = ProjectService.method;
const role = RoleService.method;
const ofProject = (object: Parameters<typeof textAt>[0]) => ({
  filters: [{ project_id: textAt(object, "details.id") }],
});
const settings = [
  { path: "project.name" },
  { path: "project.role_assertion" },
  { path: "project.authorization_required" },
  { path: "project.project_access_required" },
] as const;

const apps: Rows = {
  word: "applications",
  tab: "overview",
  search: { method: AppService.method.searchApps, request: ofProject },
  columns: [
    { path: "app.name" },
    { path: "client_id", as: "code" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: { to: "/applications/$id", id: "details.id" },
  add: [addApp({ "app.project_id": { page: "details.id" } }, [])],
};

const roles: Rows = {
  word: "roles",
  tab: "roles",
  search: { method: role.searchRoles, request: ofProject },
  columns: [
    { path: "role.key", as: "code" },
    { path: "role.display_name" },
    { path: "role.group" },
    { path: "details.change_date", word: "changed" },
  ],
  add: [
    {
      word: "addRole",
      method: role.createRole,
      given: { "role.project_id": { page: "details.id" } },
      fields: [{ path: "role.key" }, { path: "role.display_name" }, { path: "role.group" }],
    },
  ],
  actions: [
    {
      word: "edit",
      method: role.patchRole,
      given: id,
      isChange: true,
      fields: [{ path: "role.display_name" }, { path: "role.group" }],
    },
    { word: "delete", method: role.deleteRole, given: id, isDangerous: true },
  ],
};

export const projectPage: Kind = {
  back: { to: "/projects", word: "projects" },
  get: project.getProject,
  object: "project",
  title: (object) => textAt(object, "project.name"),
  organization: "details.resource_owner.id",
  project: "details.id",
  facts: [
    ...settings,
    { path: "state" },
    { path: "details.resource_owner.id", word: "organization", as: "organization" },
    ...ownFacts,
  ],
  actions: [
    { word: "edit", method: project.patchProject, given: id, isChange: true, fields: settings },
    {
      word: "deactivate",
      method: project.deactivateProject,
      about: "about_deactivateProject",
      given: id,
      isDangerous: true,
      when: (object) => activity(object, true),
      undo: { method: project.activateProject, given: id },
    },
    {
      word: "activate",
      method: project.activateProject,
      given: id,
      when: (object) => activity(object, false),
    },
    {
      word: "delete",
      method: project.deleteProject,
      about: "about_deleteProject",
      given: id,
      isDangerous: true,
      leadsTo: "/projects",
    },
  ],
  rows: [
    apps,
    roles,
    usersOf("details.id"),
    organizationsOf("details.id"),
    membersOf("project_id", "details.id"),
  ],
  history: historyOf("project"),
};

export const projects: Listed = {
  search: {
    method: project.searchProjects,
    request: ({ q, org, state }) => ({
      sorting_column: "PROJECT_FIELD_NAME_NAME",
      filters: present([
        org !== undefined && { organization: { org_id: org } },
        q !== "" && { name: begins(q) },
        state !== "" && { state: { state } },
      ]),
    }),
  },
  states: ["EFFECTIVE_STATE_ACTIVE", "EFFECTIVE_STATE_INACTIVE"],
  watches: [
    "project.added",
    "project.changed",
    "project.removed",
    "project.deactivated",
    "project.reactivated",
  ],
  columns: [
    { path: "project.name" },
    { path: "details.resource_owner.id", word: "organization", as: "organization" },
    { path: "state" },
    { path: "details.change_date", word: "changed" },
  ],
  opens: { to: "/projects/$id", id: "details.id" },
  add: [
    {
      word: "addProject",
      method: project.createProject,
      fields: [
        { path: "ctx.org_id", word: "organization", as: "organization", initial: { page: "org" } },
        ...settings,
      ],
      leadsTo: "/projects/$id",
    },
  ],
};
