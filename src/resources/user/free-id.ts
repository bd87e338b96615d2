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

  /** Which of these are client ids of apps that were deleted, also from before such ids kept their claim; folded. */
  async function formerAmong(instanceId: string, folded: string[]): Promise<Set<string>> {
    const rows = await db.read
      .select({ id: former.clientIdFolded })
      .from(former)
      .where(and(eq(former.instanceId, instanceId), db.isAmong(former.clientIdFolded, folded)));
    return new Set(rows.map(({ id }) => id));
  }

  /** Which of these are client ids of apps or machine users, or were of apps; the others must stay none until the unit commits. */
  async function clientIdsAmong(
    tx: Transaction,
    instanceId: string,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const folded = [...new Set(ids.map(caseFold))];
    const taken = await formerAmong(instanceId, folded);
    const rows = await db.read
      .select({ value: t.value })
      .from(t)
      .where(and(eq(t.scope, instanceId), eq(t.kind, clientIdClaim), db.isAmong(t.value, folded)));
    for (const { value } of rows) taken.add(value);
    const unclaimed = folded.filter((each) => !taken.has(each));
    tx.expectNone(claims, { scope: instanceId, kind: clientIdClaim }, "value", unclaimed);
    return new Set(ids.filter((id) => taken.has(caseFold(id))));
  }

  return {
    /** Reads at once what `requireFree` asks of each of these; gives those that are client ids. */
    async readAll(
      tx: Transaction,
      instanceId: string,
      ids: readonly string[],
    ): Promise<ReadonlySet<string>> {
      const used = await tx.usedIds(namedTypes, ids);
      const unused = ids.filter((id) => !used.has(id));
      return unused.length === 0 ? new Set() : await clientIdsAmong(tx, instanceId, unused);
    },

    /**
     * Before the object is recorded.
     *
     * @param isClientId where that was read already
     */
    async requireFree(
      tx: Transaction,
      instanceId: string,
      id: string,
      taken: () => DomainError = userIdTaken,
      isClientId?: boolean,
    ): Promise<void> {
      if ((await tx.usedIds(namedTypes, [id])).has(id)) throw taken();
      if (isClientId ?? (await clientIdsAmong(tx, instanceId, [id])).has(id)) throw taken();
    },

    /**
     * @throws ALREADY_EXISTS CLIENT_ID_TAKEN for that of an app that was deleted
     * @throws FAILED_PRECONDITION CLIENT_ID_IS_ID for a client id that is or was an id, or is a name of the service
     */
    async requireNoId(tx: Transaction, instanceId: string, clientId: string): Promise<void> {
      const isOurs = refusalOfId(clientId, "")?.reason === "ID_RESERVED";
      if ((await formerAmong(instanceId, [caseFold(clientId)])).size > 0) throw clientIdTaken();
      if (isOurs || (await tx.usedIds(namedTypes, [clientId])).has(clientId)) throw clientIdIsId();
    },
  };
}

export const clientIdIsId = () =>
  failedPrecondition(
    "CLIENT_ID_IS_ID",
    "the client id is or was an id of something in the instance, or is a name of the service: choose another one",
  );
