import { coversUser } from "../../authz/holds.ts";
import type { Permissions } from "../../authz/permissions.ts";
import { failedPrecondition } from "../../errors.ts";
import { decideOn, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { equals, hasRow } from "../../projection/rows.ts";
import { and, eq, or, sql } from "../../storage/drizzle.ts";
import { user, userAuthenticators, userEvents } from "../user/index.ts";
import { powerReader } from "./power.ts";
import { memberships } from "./projection.ts";

type At = { instanceId: string; idpId: string };

// One unit changes them all: more would hold up the others.
const mostAtOnce = 1000;

/** The links of users who may do something, to a provider that somebody else answers for (J1a). */
export function linkHolders({ db, userGrants }: Pick<Deps, "db" | "userGrants">) {
  const t = db.table(userAuthenticators);
  const powers = powerReader({ db, userGrants });

  /** Those with links that count, or with links that are suspended; no other link is made before the commit. */
  async function usersWithPower(
    tx: Transaction,
    { instanceId, idpId }: At,
    isVerified: boolean,
  ): Promise<string[]> {
    const of = { instanceId, kind: "idp", id: idpId };
    const toProvider = equals(db, userAuthenticators, of);
    const [all] = await db.read.select({ count: sql<number>`count(*)` }).from(t).where(toProvider);
    tx.expectRows(userAuthenticators, of, Number(all?.count ?? 0));
    const its = { instanceId, userId: t.userId };
    const mayDo = or(hasRow(db, memberships, its), userGrants.isHeldBy(its));
    const rows = await db.read
      .select({ userId: t.userId })
      .from(t)
      .where(and(toProvider, eq(t.isVerified, isVerified), mayDo))
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
    async suspend(tx: Transaction, at: At, permissions: Permissions): Promise<number> {
      let suspended = 0;
      for (const userId of await usersWithPower(tx, at, true)) {
        if (await isCovered(tx, at, userId, permissions)) continue;
        await decideOn(tx, user, userId, () => [
          userEvents["human.externalidp.suspended"]({ idpId: at.idpId }),
        ]);
        suspended++;
      }
      return suspended;
    },

    async confirm(
      tx: Transaction,
      at: At,
      permissions: Permissions,
    ): Promise<{ confirmed: number; suspended: number }> {
      const links = { confirmed: 0, suspended: 0 };
      for (const userId of await usersWithPower(tx, at, false)) {
        if (!(await isCovered(tx, at, userId, permissions))) {
          links.suspended++;
          continue;
        }
        await decideOn(tx, user, userId, () => [
          userEvents["human.externalidp.confirmed"]({ idpId: at.idpId }),
        ]);
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
