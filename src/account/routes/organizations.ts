import type { Route } from "../../login/route.ts";
import { projectReader } from "../../resources/project/index.ts";
import { partsAt, startOf } from "../../login/parts/pager.ts";
import { type AccountParts, atMost, type Own, ownRoute } from "../own.ts";
import { organizationsPage, rowsOfPage } from "../pages/organizations.ts";
import { partOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";

/** Where the person belongs, and the roles that they were given. */
export function organizationsRoute(parts: AccountParts): Route {
  const { users, db, deps, grantedRoles } = parts;
  const projects = projectReader(db);

  async function grantsOf(own: Own, from: number) {
    const { instanceId } = own.context.at;
    const part = { limit: atMost(parts, rowsOfPage + 1), offset: from };
    const granted = await grantedRoles.search(own, part);
    return Promise.all(
      granted.map(async ({ projectId, organizationId, roles }) => ({
        project: (await projects.byId(instanceId, projectId))?.name ?? "",
        organization: await users.organizationName(instanceId, organizationId),
        roles,
      })),
    );
  }

  async function membershipsOf({ context, user }: Own, from: number) {
    const { instanceId } = context.at;
    const all = await deps.memberships.ofUser(instanceId, user.id);
    const { host } = new URL(context.at.issuer);
    return Promise.all(
      all.slice(from, from + rowsOfPage + 1).map(async ({ contextType, contextId, roles }) => ({
        roles: [...roles],
        place:
          contextType === "organization"
            ? await users.organizationName(instanceId, contextId)
            : contextType === "project"
              ? ((await projects.byId(instanceId, contextId))?.name ?? contextId)
              : host,
      })),
    );
  }

  return ownRoute(parts, {
    path: accountPaths.organizations,
    async get(own) {
      const { instanceId } = own.context.at;
      const from = startOf(own.context);
      const memberships = await membershipsOf(own, from);
      const grants = await grantsOf(own, from);
      const view = {
        home: await users.organizationName(instanceId, own.user.organizationId),
        memberships: memberships.slice(0, rowsOfPage),
        grants: grants.slice(0, rowsOfPage),
        parts: partsAt(from, rowsOfPage, Math.max(memberships.length, grants.length)),
      };
      return own.show((page) => organizationsPage(page, view), {
        self: partOf(accountPaths.organizations, from),
      });
    },
  });
}
