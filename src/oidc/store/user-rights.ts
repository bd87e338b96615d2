import { whenKnown } from "../../awaitable.ts";
import { permissionsFrom } from "../../authz/permissions.ts";
import { impersonation } from "../../authz/roles.ts";
import type { Deps } from "../../projection/module.ts";
import { organizationNames } from "../../resources/org/index.ts";
import { projectReader } from "../../resources/project/index.ts";
import type { At, RolesByProject, User, Users } from "../core/ports.ts";
import type { Settings } from "../core/settings-ports.ts";

type Parts = Pick<Deps, "db" | "memberships" | "projectGrants" | "userGrants"> & {
  settings: Pick<Settings, "ownProjectId">;
};

/** What users may in projects, and who may act for them. */
export function userRights({
  db,
  memberships,
  projectGrants,
  userGrants,
  settings,
}: Parts): Pick<Users, "roles" | "mayUse" | "mayAddress" | "mayActFor"> {
  const names = organizationNames(db);
  const projects = projectReader(db);

  const hasRoleIn = async (instanceId: string, userId: string, projectId: string) =>
    (await userGrants.ofUser(instanceId, userId)).some((grant) => grant.projectId === projectId);

  const mayAddressForeign = async (
    at: At,
    { id, organizationId }: Pick<User, "id" | "organizationId">,
    projectId: string,
  ): Promise<boolean> =>
    projectId === (await settings.ownProjectId(at)) ||
    (await projectGrants.isGrantedTo(at.instanceId, projectId, organizationId)) ||
    (await hasRoleIn(at.instanceId, id, projectId));

  return {
    async roles({ instanceId }, userId, projectIds) {
      const byProject: RolesByProject = {};
      for (const { projectId, organizationId, roleKeys } of await userGrants.ofUser(
        instanceId,
        userId,
      )) {
        if (!projectIds.includes(projectId)) continue;
        const { primaryDomain } = await names(instanceId, organizationId);
        const ofProject = (byProject[projectId] ??= {});
        for (const key of roleKeys) (ofProject[key] ??= {})[organizationId] = primaryDomain;
      }
      return byProject;
    },

    mayUse: ({ instanceId }, { id, organizationId }: User, projectId) =>
      whenKnown(projects.byId(instanceId, projectId), (project) => {
        if (project?.state !== "active") return false;
        const isOpen = !project.projectAccessRequired || project.organizationId === organizationId;
        const mayEnter = isOpen || projectGrants.isGrantedTo(instanceId, projectId, organizationId);
        return whenKnown(mayEnter, (may) =>
          may && project.authorizationRequired ? hasRoleIn(instanceId, id, projectId) : may,
        );
      }),

    mayAddress: (at, { id, organizationId }: User, projectId) =>
      whenKnown(projects.byId(at.instanceId, projectId), (project) => {
        if (project?.state !== "active") return false;
        if (project.organizationId === organizationId) return true;
        return mayAddressForeign(at, { id, organizationId }, projectId);
      }),

    async mayActFor({ instanceId }, actor, subject) {
      const of = await memberships.ofUser(instanceId, subject.id);
      const needed = of.length > 0 ? impersonation.ofAdministrators : impersonation.ofAnybody;
      const permissions = permissionsFrom(await memberships.ofUser(instanceId, actor.id));
      const there = { type: "organization", id: subject.organizationId } as const;
      return permissions.holds(impersonation.ofAnybody, there) && permissions.holds(needed, there);
    },
  };
}
