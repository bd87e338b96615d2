import { coversUser } from "../../authz/holds.ts";
import type { Permissions } from "../../authz/permissions.ts";
import { failedPrecondition } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq, exists, or, sql } from "../../storage/drizzle.ts";
import { userGrants } from "../grant/index.ts";
import type { LinkHolders } from "../idp/index.ts";
import { user, userAuthenticators, userEvents } from "../user/index.ts";
import { powerReader } from "./power.ts";
import { memberships } from "./projection.ts";

type At = { instanceId: string; idpId: string };

// One unit changes them all: more would hold up the others.
const mostAtOnce = 1000;

/** The links of users who may do something, to a provider that somebody else answers for (J1a). */
export function linkHolders(db: Database): LinkHolders {
  const t = db.table(userAuthenticators);
  const m = db.table(memberships);
  const g = db.table(userGrants.table);
  const powers = powerReader(db);

  /** Those with links that count, or with links that are suspended; no other link is made before the commit. */
  async function usersWithPower(
    tx: Transaction,
    { instanceId, idpId }: At,
    isVerified: boolean,
  ): Promise<string[]> {
    const toProvider = and(eq(t.instanceId, instanceId), eq(t.kind, "idp"), eq(t.id, idpId));
    const [all] = await db.read.select({ count: sql<number>`count(*)` }).from(t).where(toProvider);
    const of = { instanceId, kind: "idp", id: idpId };
    tx.expectRows(userAuthenticators, of, Number(all?.count ?? 0));
    const one = { one: sql`1` };
    const isMember = db.read
      .select(one)
      .from(m)
      .where(and(eq(m.instanceId, instanceId), eq(m.userId, t.userId)));
    const isGranted = db.read
      .select(one)
      .from(g)
      .where(and(eq(g.instanceId, instanceId), eq(g.userId, t.userId)));
    const rows = await db.read
      .select({ userId: t.userId })
      .from(t)
      .where(and(toProvider, eq(t.isVerified, isVerified), or(exists(isMember), exists(isGranted))))
      .limit(mostAtOnce + 1);
    if (rows.length > mostAtOnce) throw tooManyLinks();
    return rows.map(({ userId }) => userId);
  }

  const isCovered = async (
    tx: Transaction,
    { instanceId }: At,
    userId: string,
    permissions: Permissions,
  ) => coversUser(permissions, await powers.holdUser(tx, instanceId, userId));

  return {
    async suspend(tx, at, permissions) {
      let suspended = 0;
      for (const userId of await usersWithPower(tx, at, true)) {
        if (await isCovered(tx, at, userId, permissions)) continue;
        const loaded = await tx.load(user, userId);
        const { idpId } = at;
        tx.record(user, loaded, [userEvents["human.externalidp.suspended"]({ idpId })]);
        suspended++;
      }
      return suspended;
    },

    async confirm(tx, at, permissions) {
      const links = { confirmed: 0, suspended: 0 };
      for (const userId of await usersWithPower(tx, at, false)) {
        if (!(await isCovered(tx, at, userId, permissions))) {
          links.suspended++;
          continue;
        }
        const loaded = await tx.load(user, userId);
        const { idpId } = at;
        tx.record(user, loaded, [userEvents["human.externalidp.confirmed"]({ idpId })]);
        links.confirmed++;
      }
      return links;
    },
  };
}

const tooManyLinks = () =>
  failedPrecondition(
    "IDP_LINKS_TOO_MANY",
    `more than ${mostAtOnce} users who may do something are linked to the provider: make a new provider instead`,
    { metadata: { maximum: String(mostAtOnce) } },
  );
