import { userIdTaken } from "./user.ts";
import { type DomainError, failedPrecondition } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { refusalOfId } from "../../authz/chosen-id.ts";
import { caseFold } from "../../storage/case-fold.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { claims } from "../../storage/kernel-tables.ts";
import { clientIdClaim, clientIdTaken, formerClientIds } from "./client-id.ts";

/** The types of objects whose ids stand in tokens and in the log: an id is never of two of them (J7). */
export const namedTypes = ["user", "project", "application", "org"] as const;

/** Refuses ids that somebody chose and that another object of the instance has or had; it does not tell which. */
export function idGuard({ db }: { db: Database }) {
  const t = db.table(claims);
  const former = db.table(formerClientIds);

  /** Whether an app that was deleted had this client id, also before such ids kept their claim. */
  async function wasClientId(instanceId: string, id: string): Promise<boolean> {
    const rows = await db.read
      .select({ appId: former.appId })
      .from(former)
      .where(and(eq(former.instanceId, instanceId), eq(former.clientIdFolded, caseFold(id))))
      .limit(1);
    return rows.length > 0;
  }

  /** Whether an app or a machine user has this id as its client id, or an app had it; it must stay so until the unit commits. */
  async function isClientId(tx: Transaction, instanceId: string, id: string): Promise<boolean> {
    if (await wasClientId(instanceId, id)) return true;
    const where = { scope: instanceId, kind: clientIdClaim, value: caseFold(id) };
    const rows = await db.read
      .select({ kind: t.kind })
      .from(t)
      .where(and(eq(t.scope, instanceId), eq(t.kind, clientIdClaim), eq(t.value, where.value)));
    if (rows.length === 0) tx.expectRows(claims, where, 0);
    return rows.length > 0;
  }

  return {
    /** Before the object is recorded. */
    async requireFree(
      tx: Transaction,
      instanceId: string,
      id: string,
      taken: () => DomainError = userIdTaken,
    ): Promise<void> {
      if ((await tx.usedIds(namedTypes, [id])).has(id)) throw taken();
      if (await isClientId(tx, instanceId, id)) throw taken();
    },

    /**
     * @throws ALREADY_EXISTS CLIENT_ID_TAKEN for that of an app that was deleted
     * @throws FAILED_PRECONDITION CLIENT_ID_IS_ID for a client id that is or was an id, or is a name of the service
     */
    async requireNoId(tx: Transaction, instanceId: string, clientId: string): Promise<void> {
      const isOurs = refusalOfId(clientId, "")?.reason === "ID_RESERVED";
      if (await wasClientId(instanceId, clientId)) throw clientIdTaken();
      if (isOurs || (await tx.usedIds(namedTypes, [clientId])).has(clientId)) throw clientIdIsId();
    },
  };
}

export const clientIdIsId = () =>
  failedPrecondition(
    "CLIENT_ID_IS_ID",
    "the client id is or was an id of something in the instance, or is a name of the service: choose another one",
  );
