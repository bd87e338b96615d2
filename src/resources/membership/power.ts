import type { Power } from "../../authz/holds.ts";
import type { Membership } from "../../authz/permissions.ts";
import type { PowerReader } from "../../authz/ports.ts";
import type { RoleContext } from "../../authz/roles.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { rowById } from "../../projection/ids.ts";
import { columnsWhere, rowsWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq, or } from "../../storage/drizzle.ts";
import { currentRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { user, users } from "../user/index.ts";
import { asMembership } from "./member-context.ts";
import { membership } from "./membership.ts";
import { memberships } from "./projection.ts";

/** What users may do, for those who judge whether a caller covers them. Never older than the call. */
export function powerReader({ db, userGrants }: Pick<Deps, "db" | "userGrants">): PowerReader {
  const userById = rowById(db, users);
  const rowsOf = (instanceId: string, userId: string) =>
    rowsWhere(db, memberships, { instanceId, userId });
  const membershipsOf = currentRead(
    db,
    [memberships, users],
    async (instanceId, userId): Promise<Omit<Power, "grants">> => {
      const { organizationId = "" } = (await userById(instanceId, userId)) ?? {};
      const rows = await rowsOf(instanceId, userId);
      return { organizationId, memberships: rows.filter(isAccepted).map(toMembership) };
    },
  );

  return {
    async ofUser(instanceId, id) {
      const held = await membershipsOf(instanceId, id);
      const { organizationId } = held;
      return { ...held, grants: await userGrants.powerOf(instanceId, { id, organizationId }) };
    },

    async holdUser(tx, instanceId, userId) {
      const { state } = await tx.load(user, userId);
      const organizationId = state?.organizationId ?? "";
      const rows = await rowsOf(instanceId, userId);
      const held = await loadAll(tx, rows);
      tx.expectAll(memberships, { instanceId, userId }, "id", idsOf(rows));
      const of = { id: userId, organizationId };
      const grants = await userGrants.holdPowerOf(tx, instanceId, of);
      return { organizationId, memberships: held, grants };
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
