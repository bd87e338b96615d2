import type { Database } from "../../storage/database.ts";
import { projectGrants, roles, userGrants } from "../../resources/grant/index.ts";
import { pagesOf } from "../../projection/pages.ts";
import { type Of, ofOwn, type Part } from "./parts.ts";

/** The roles of the projects of an organization. */
export async function* rolesOf(db: Database, of: Of): AsyncGenerator<Part> {
  const { instanceId, organizationId } = of;
  const mine = { organizationId };
  for await (const page of pagesOf(db, roles.table, ["projectId", "key"], instanceId, mine)) {
    yield {
      projectRoles: ofOwn(page, of).map(({ projectId, key, displayName, groupName }) => ({
        projectId,
        roleKey: key,
        displayName,
        group: groupName,
      })),
    };
  }
}

/** To whom the projects of an organization are granted. */
export async function* projectGrantsOf(db: Database, of: Of): AsyncGenerator<Part> {
  const { instanceId, organizationId } = of;
  const mine = { organizationId };
  for await (const page of pagesOf(db, projectGrants.table, ["id"], instanceId, mine)) {
    yield {
      projectGrants: ofOwn(page, of).map((row) => ({
        grantId: row.id,
        projectGrant: {
          projectId: row.projectId,
          grantedOrgId: row.grantedOrganizationId,
          roleKeys: row.roleKeys,
        },
        inactive: row.state !== "active",
      })),
    };
  }
}

/** The roles that an organization granted to users. */
export async function* userGrantsOf(db: Database, of: Of): AsyncGenerator<Part> {
  const { instanceId, organizationId } = of;
  const key = ["userId", "projectId", "projectGrantId"] as const;
  for await (const page of pagesOf(db, userGrants.table, key, instanceId, { organizationId })) {
    yield {
      userGrants: page.map(({ userId, projectId, projectGrantId, roleKeys, state }) => ({
        userId,
        projectId,
        projectGrantId,
        roleKeys,
        inactive: state !== "active",
      })),
    };
  }
}
