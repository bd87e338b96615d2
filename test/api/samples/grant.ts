import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const newProject = ({ make, name }: World) => make("/projects", { name: name() });
const noProject = "PROJECT_NOT_FOUND";
const absent = (reason: string) => ({ code: 5, reason });

const key = "reader";
const newRole = async (world: World, project_id?: string) =>
  world.make("/project_roles", { project_id: project_id ?? (await newProject(world)), key });
const noRole = "ROLE_NOT_FOUND";

const roleSamples = ofService(RoleService.typeName, {
  CreateRole: {
    valid: async (world) => ({ role: { project_id: await newProject(world), key } }),
    invalid: { request: { role: { project_id: "1", key: "" } }, field: "role.key" },
    unknown: { request: { role: { project_id: "404", key } }, reason: noProject },
    writes: true,
  },
  PatchRole: {
    valid: async (world) => ({ id: await newRole(world), role: { display_name: "Readers" } }),
    invalid: { request: { id: "1", role: { group: tooLong } }, field: "role.group" },
    unknown: { request: { id: "404", role: {} }, reason: noRole },
    writes: true,
  },
  DeleteRole: onId(noRole, (world) => newRole(world)),
  GetRole: onId(noRole, (world) => newRole(world), false),
  SearchRoles: {
    valid: ({ projectId }) => ({ filters: [{ project_id: projectId }] }),
    invalid: { request: { filters: [{ key: { name: tooLong } }] }, field: "filters[0].key.name" },
    unknown: undefined,
    writes: false,
  },
});

const grantedProject = async (world: World) => {
  const project_id = await newProject(world);
  await newRole(world, project_id);
  const granted_organization_id = await world.make("/organizations", { name: world.name() });
  return { project_id, granted_organization_id, role_keys: [key] };
};
const newProjectGrant = async (world: World) =>
  world.make("/project_grants", await grantedProject(world));
const inactiveProjectGrant = async (world: World) => {
  const id = await newProjectGrant(world);
  await world.act(`/project_grants/${id}/_deactivate`);
  return id;
};
const noProjectGrant = "PROJECT_GRANT_NOT_FOUND";

const projectGrantSamples = ofService(ProjectGrantService.typeName, {
  CreateProjectGrant: {
    valid: async (world) => ({ project_grant: await grantedProject(world) }),
    invalid: {
      request: { project_grant: { project_id: "1", granted_organization_id: "" } },
      field: "project_grant.granted_organization_id",
    },
    unknown: {
      request: { project_grant: { project_id: "404", granted_organization_id: "1" } },
      reason: noProject,
    },
    writes: true,
  },
  PatchProjectGrant: {
    valid: async (world) => ({
      id: await newProjectGrant(world),
      project_grant: { role_keys: [key] },
    }),
    invalid: {
      request: { id: "1", project_grant: { role_keys: [tooLong] } },
      field: "project_grant.role_keys[0]",
    },
    unknown: {
      request: { id: "404", project_grant: { role_keys: [key] } },
      reason: noProjectGrant,
    },
    writes: true,
  },
  DeactivateProjectGrant: onId(noProjectGrant, newProjectGrant),
  ActivateProjectGrant: onId(noProjectGrant, inactiveProjectGrant),
  AcceptProjectGrant: onId(noProjectGrant, newProjectGrant),
  DeclineProjectGrant: onId(noProjectGrant, newProjectGrant),
  DeleteProjectGrant: onId(noProjectGrant, newProjectGrant),
  GetProjectGrant: onId(noProjectGrant, newProjectGrant, false),
  SearchProjectGrants: {
    valid: ({ projectId }) => ({ filters: [{ project_id: projectId }] }),
    invalid: {
      request: { filters: [{ role_key: tooLong }] },
      field: "filters[0].role_key",
    },
    unknown: undefined,
    writes: false,
  },
});

const grantedUser = async (world: World) => {
  const project_id = await newProject(world);
  await newRole(world, project_id);
  return { user_id: world.userId, project_id, role_keys: [key] };
};
const newUserGrant = async (world: World) => world.make("/user_grants", await grantedUser(world));
const inactiveUserGrant = async (world: World) => {
  const id = await newUserGrant(world);
  await world.act(`/user_grants/${id}/_deactivate`);
  return id;
};
const noUserGrant = "USER_GRANT_NOT_FOUND";

const userGrantSamples = ofService(UserGrantService.typeName, {
  CreateUserGrant: {
    valid: async (world) => ({ user_grant: await grantedUser(world) }),
    invalid: {
      request: { user_grant: { user_id: "", project_id: "1" } },
      field: "user_grant.user_id",
    },
    unknown: {
      request: { user_grant: { user_id: "1", project_id: "404" } },
      reason: noProject,
    },
    writes: true,
  },
  PatchUserGrant: {
    valid: async (world) => ({ id: await newUserGrant(world), user_grant: { role_keys: [key] } }),
    invalid: {
      request: { id: "1", user_grant: { role_keys: [tooLong] } },
      field: "user_grant.role_keys[0]",
    },
    unknown: { request: { id: "404", user_grant: { role_keys: [key] } }, reason: noUserGrant },
    writes: true,
  },
  DeactivateUserGrant: onId(noUserGrant, newUserGrant),
  ActivateUserGrant: onId(noUserGrant, inactiveUserGrant),
  DeleteUserGrant: onId(noUserGrant, newUserGrant),
  GetUserGrant: { ...onId(noUserGrant, newUserGrant, false), stranger: absent(noUserGrant) },
  SearchUserGrants: {
    valid: ({ projectId }) => ({ filters: [{ project_id: projectId }] }),
    invalid: {
      request: { filters: [{ role_key: tooLong }] },
      field: "filters[0].role_key",
    },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
});

export const grantSamples: Record<string, Sample> = {
  ...roleSamples,
  ...projectGrantSamples,
  ...userGrantSamples,
};
