import type { DescMethod } from "@bufbuild/protobuf";
import type { AuthService } from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { ObjectPolicy, Scope } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import type { Finder } from "../object/finder.ts";
import { organizationFinder } from "../org/index.ts";
import { projectFinder } from "../project/index.ts";
import { type UserDeps, userFinder } from "../user/index.ts";
import { yieldToEventLoop } from "../../yielder.ts";
import { heldPermissions } from "./held-permissions.ts";

/** What the slice asks of the service beside what every slice may use. */
export type AuthPorts = {
  /** What a method demands on the objects that it is about. */
  policyOf: (method: DescMethod) => ObjectPolicy;
};
export type AuthDeps = Deps & AuthPorts & Pick<UserDeps, "userSchemas">;

type SearchedApp = Record<"id" | "name" | "clientId" | "projectId" | "organizationId", string>;

/** The search of apps, and what finds those that it would show. */
export type AppSearch = { method: DescMethod; finder(deps: AuthDeps): Finder<SearchedApp> };

/** Of each kind. */
const mostFound = 20;

export function authHandlers(deps: AuthDeps, ofApps: AppSearch): Handlers<typeof AuthService> {
  /** Finds what the search of the same kind would show. */
  const asShownBy = <R>(search: DescMethod, find: Finder<R>) => {
    const policy = deps.policyOf(search);
    return async (scope: Scope, text: string) => {
      await yieldToEventLoop();
      return find(scope, { text, policy, limit: mostFound });
    };
  };
  const users = asShownBy(UserService.method.searchUsers, userFinder(deps));
  const organizations = asShownBy(
    OrganizationService.method.searchOrganizations,
    organizationFinder(deps),
  );
  const projects = asShownBy(ProjectService.method.searchProjects, projectFinder(deps));
  const apps = asShownBy(ofApps.method, ofApps.finder(deps));

  return {
    getMyPermissions: heldPermissions(deps),

    async searchAll({ q }, scope) {
      await deps.db.catchUp();
      return {
        users: await users(scope, q),
        organizations: (await organizations(scope, q)).map(({ id, name }) => ({ id, name })),
        projects: (await projects(scope, q)).map(({ id, name, organizationId }) => ({
          id,
          name,
          organizationId,
        })),
        apps: (await apps(scope, q)).map(({ id, name, clientId, projectId, organizationId }) => ({
          id,
          name,
          clientId,
          projectId,
          organizationId,
        })),
      };
    },
  };
}
