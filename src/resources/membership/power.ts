import type { Power } from "../../authz/holds.ts";
import type { Membership, ResourceScope } from "../../authz/permissions.ts";
import type { PowerReader } from "../../authz/ports.ts";
import type { RoleContext } from "../../authz/roles.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { rowById } from "../../projection/ids.ts";
import { columnsWhere, rowsWhere } from "../../projection/rows.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq, or } from "../../storage/drizzle.ts";
import { currentRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { acceptanceReader, projectGrants, userGrants } from "../grant/index.ts";
import { user, users } from "../user/index.ts";
import { membershipReader } from "./queries.ts";
import { asMembership } from "./member-context.ts";
import { membership } from "./membership.ts";
import { memberships } from "./projection.ts";

type GrantRow = Row<typeof userGrants.table>;

/** What users may do, for those who judge whether a caller covers them. Never older than the call. */
export function powerReader(db: Database): PowerReader {
  const userById = rowById(db, users);
  const grantById = rowById(db, projectGrants.table);
  const isAcceptedGrant = acceptanceReader(db, membershipReader(db));
  const isInForce = async ({ instanceId, projectGrantId }: GrantRow): Promise<boolean> => {
    const grant = await grantById(instanceId, projectGrantId);
    return grant !== undefined && (await isAcceptedGrant(grant));
  };
  const rowsOf = (instanceId: string, userId: string) =>
    rowsWhere(db, memberships, { instanceId, userId });
  const grantsOf = (instanceId: string, userId: string) =>
    rowsWhere(db, userGrants.table, { instanceId, userId });
  const powerOf = currentRead(
    db,
    [memberships, userGrants.table, projectGrants.table, users],
    async (instanceId, userId): Promise<Power> => {
      const { organizationId = "" } = (await userById(instanceId, userId)) ?? {};
      return {
        organizationId,
        memberships: (await rowsOf(instanceId, userId)).filter(isAccepted).map(toMembership),
        grants: await counting(isInForce, organizationId, await grantsOf(instanceId, userId)),
      };
    },
  );

  return {
    ofUser: powerOf,

    async holdUser(tx, instanceId, userId) {
      const { state } = await tx.load(user, userId);
      const organizationId = state?.organizationId ?? "";
      const rows = await rowsOf(instanceId, userId);
      const held = await loadAll(tx, rows);
      tx.expectAll(memberships, { instanceId, userId }, "id", idsOf(rows));
      const granted = await grantsOf(instanceId, userId);
      tx.expectAll(userGrants.table, { instanceId, userId }, "id", idsOf(granted));
      return {
        organizationId,
        memberships: held,
        grants: await counting(isInForce, organizationId, granted),
      };
    },

    async ofOrganization(instanceId, organizationId) {
      const { counted } = await inOrganization(db, instanceId, organizationId);
      const held = counted.filter(isAccepted).map(toMembership);
      return { organizationId, memberships: held, grants: [] };
    },

    async holdOrganization(tx, instanceId, organizationId) {
      const { rows, counted } = await inOrganization(db, instanceId, organizationId);
      const atInstance = rows.filter(({ contextType }) => contextType === "instance");
      const inside = rows.filter((row) => row.organizationId === organizationId);
      const held = await loadAll(tx, counted);
      tx.expectAll(memberships, { instanceId, contextType: "instance" }, "id", idsOf(atInstance));
      tx.expectAll(memberships, { instanceId, organizationId }, "id", idsOf(inside));
      return { organizationId, memberships: held, grants: [] };
    },
  };
}

/** The memberships at the instance and in the organization, and which of them its users, or anybody there, hold. */
async function inOrganization(db: Database, instanceId: string, organizationId: string) {
  const t = db.table(memberships);
  const rows = await db.read
    .select()
    .from(t)
    .where(
      and(
        eq(t.instanceId, instanceId),
        or(eq(t.contextType, "instance"), eq(t.organizationId, organizationId)),
      ),
    );
  const atInstance = rows.filter(({ contextType }) => contextType === "instance");
  const living = await usersIn(db, instanceId, organizationId, atInstance);
  const counted = rows.filter(
    ({ contextType, userId }) => contextType !== "instance" || living.has(userId),
  );
  return { rows, counted };
}

/** The user grants that count: of projects that the user's organization owns, or was granted and has accepted. */
async function counting(
  isInForce: (row: GrantRow) => Promise<boolean>,
  organizationId: string,
  rows: readonly GrantRow[],
): Promise<ResourceScope[][]> {
  const resourceScopes: ResourceScope[][] = [];
  for (const row of rows) {
    if (row.organizationId !== organizationId) continue;
    if (row.projectGrantId !== "" && !(await isInForce(row))) continue;
    resourceScopes.push(resourceScopesOf(row));
  }
  return resourceScopes;
}

async function usersIn(
  db: Database,
  instanceId: string,
  organizationId: string,
  rows: readonly Row<typeof memberships>[],
): Promise<ReadonlySet<string>> {
  const id = [...new Set(rows.map(({ userId }) => userId))];
  return new Set(idsOf(await columnsWhere(db, users, ["id"], { instanceId, organizationId, id })));
}

const isAccepted = (row: Row<typeof memberships>): boolean => row.isAccepted;

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

async function loadAll(tx: Transaction, rows: readonly { id: string }[]): Promise<Membership[]> {
  const held: Membership[] = [];
  for (const { id } of rows) {
    const { state } = await tx.load(membership, id);
    if (state?.isAccepted === true) held.push(asMembership(state));
  }
  return held;
}

const toMembership = (row: Row<typeof memberships>): Membership => ({
  // The projection writes no other kind of context.
  contextType: row.contextType as RoleContext,
  contextId: row.contextId,
  ...(row.organizationId === "" ? {} : { organizationId: row.organizationId }),
  roles: row.roles,
});

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
