import { type Awaitable, whenKnown } from "../../../awaitable.ts";
import { permissionsFrom } from "../../../authz/permissions.ts";
import type { MembershipReader } from "../../../authz/ports.ts";
import { userGranting } from "../../../authz/roles.ts";
import type { Database } from "../../../storage/database.ts";
import { and, eq } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import { userGrants } from "../user-grant/user-grant.ts";
import type { projectGrants } from "./project-grant.ts";
import type { Row } from "../../../storage/table.ts";

type Grant = Pick<
  Row<typeof projectGrants.table>,
  "instanceId" | "id" | "grantedOrganizationId" | "accepted" | "isFormer"
>;

/**
 * Whether the organization that a project grant was given to wants it (J5). One of before grants were accepted
 * counts as accepted where somebody who could accept it has granted one of their users a role by it.
 */
export function acceptanceReader(
  db: Database,
  memberships: MembershipReader,
): (grant: Grant) => Awaitable<boolean> {
  const t = db.table(userGrants.table);
  const givers = cachedRead(db, [userGrants.table], async (instanceId, projectGrantId) => {
    const rows = await db.read
      .selectDistinct({ creatorId: t.creatorId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.projectGrantId, projectGrantId)));
    return rows.map(({ creatorId }) => creatorId);
  });

  async function someCould(instanceId: string, organizationId: string, users: readonly string[]) {
    for (const userId of users) {
      const held = permissionsFrom(await memberships.ofUser(instanceId, userId));
      if (held.holds(userGranting, { type: "organization", id: organizationId })) return true;
    }
    return false;
  }

  return ({ instanceId, id, grantedOrganizationId, accepted, isFormer }) =>
    accepted || !isFormer
      ? accepted
      : whenKnown(givers(instanceId, id), (users) =>
          someCould(instanceId, grantedOrganizationId, users),
        );
}
