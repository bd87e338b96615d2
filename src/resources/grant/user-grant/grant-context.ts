import type { UserGrant as UserGrantMessage } from "#gen/idsvc/resources/grant/v3alpha/user_grant_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Owned } from "../../../authz/tenancy.ts";
import { projectReader, projects } from "../../project/index.ts";
import { projectGrants } from "../project-grant/project-grant.ts";
import { projectGrantReader } from "../project-grant/queries.ts";

/** In which project, by which project grant (or none) and for which organization roles are granted. */
export type GrantContext = { organizationId: string; projectId: string; projectGrantId: string };

/** Where a user grant lives. The members of a project reach what its owner granted, not what others did. */
export const ownedIn = ({
  organizationId,
  projectId,
  projectGrantId,
}: Omit<GrantContext, "userId">): Owned =>
  projectGrantId === "" ? { organizationId, projectId } : { organizationId, projectGrantId };

/**
 * Finds out which organization grants the roles: the one that has the named project grant, else the one of the context
 * if it has a grant of the project, else the owner of the project.
 *
 * @throws NOT_FOUND PROJECT_NOT_FOUND
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND also when the named organization has no grant of the project
 */
export function grantContexts({ db }: Pick<Deps, "db">) {
  const projectOf = projectReader(db).byId;
  const reader = projectGrantReader(db);
  return async (
    { instanceId, context }: Scope,
    { projectId, projectGrantId: named }: Pick<UserGrantMessage, "projectId" | "projectGrantId">,
  ): Promise<GrantContext> => {
    const project = await projectOf(instanceId, projectId);
    if (project === undefined) throw projects.missing();
    const granter = context.type === "organization" ? context.organizationId : undefined;
    if (named === undefined && (granter ?? project.organizationId) === project.organizationId) {
      return { organizationId: project.organizationId, projectId, projectGrantId: "" };
    }
    const grants = await reader.ofProject(instanceId, projectId);
    const grant = grants.find(({ id, grantedOrganizationId }) =>
      named === undefined ? grantedOrganizationId === granter : id === named,
    );
    if (grant === undefined) throw projectGrants.missing();
    return { organizationId: grant.grantedOrganizationId, projectId, projectGrantId: grant.id };
  };
}
