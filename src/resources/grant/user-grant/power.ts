import type { UserGrants } from "../../../authz/grants.ts";
import type { ResourceScope } from "../../../authz/permissions.ts";
import type { MembershipReader } from "../../../authz/ports.ts";
import { rowById } from "../../../projection/ids.ts";
import { hasRow, rowsWhere } from "../../../projection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { currentRead } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { acceptanceReader } from "../project-grant/acceptance.ts";
import { projectGrants } from "../project-grant/project-grant.ts";
import { countingReader } from "./queries.ts";
import { userGrants } from "./user-grant.ts";

type GrantRow = Row<typeof userGrants.table>;

/** What others ask of user grants. */
export function userGrantsOf(db: Database, memberships: MembershipReader): UserGrants {
  const grantById = rowById(db, projectGrants.table);
  const isAccepted = acceptanceReader(db, memberships);
  const rowsOf = (instanceId: string, userId: string) =>
    rowsWhere(db, userGrants.table, { instanceId, userId });
  const currentRows = currentRead(db, [userGrants.table], rowsOf);

  async function counts(row: GrantRow, organizationId: string): Promise<boolean> {
    if (row.organizationId !== organizationId) return false;
    if (row.projectGrantId === "") return true;
    const grant = await grantById(row.instanceId, row.projectGrantId);
    return grant !== undefined && isAccepted(grant);
  }

  async function counting(organizationId: string, rows: readonly GrantRow[]) {
    const resourceScopes: ResourceScope[][] = [];
    for (const row of rows) {
      if (await counts(row, organizationId)) resourceScopes.push(resourceScopesOf(row));
    }
    return resourceScopes;
  }

  return {
    ofUser: countingReader(db),
    async powerOf(instanceId, { id, organizationId }) {
      return counting(organizationId, await currentRows(instanceId, id));
    },
    async holdPowerOf(tx, instanceId, { id: userId, organizationId }) {
      const rows = await rowsOf(instanceId, userId);
      const ids = rows.map(({ id }) => id);
      tx.expectAll(userGrants.table, { instanceId, userId }, "id", ids);
      return counting(organizationId, rows);
    },
    isHeldBy: (row) => hasRow(db, userGrants.table, row),
  };
}

/** Where a user grant of the user's own organization could be given. */
const resourceScopesOf = ({
  organizationId,
  projectId,
  projectGrantId,
}: GrantRow): ResourceScope[] => [
  { type: "organization", id: organizationId },
  projectGrantId === ""
    ? { type: "project", id: projectId, organizationId }
    : { type: "projectGrant", id: projectGrantId, organizationId },
];
