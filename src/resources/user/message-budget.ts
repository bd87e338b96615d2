import { type Budgets, budgetSpent } from "../../authz/budgets.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { knownBrowserReader } from "./check/known-browsers.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { putRow } from "../../storage/row-change.ts";
import { instant, int, table, text } from "../../storage/table.ts";

/** How many codes and mails went to one recipient, and how many one sender had sent, in the hour that began at `since`. */
export const messageBudgets = table(
  "message_budgets",
  { instanceId: text(), key: text(), count: int(), since: instant(), expiresAt: instant() },
  { key: ["instanceId", "key"], indexes: [{ columns: ["expiresAt"] }] },
);

const hourMs = 3_600_000;
// An hour that has not begun is of a clock that went back since; two replicas need not agree to the second.
const skewMs = 60_000;

export function createMessageBudget(
  { db, secrets }: Pick<Deps, "db" | "secrets">,
  budgets: Budgets,
) {
  const rowOf = rowByKey(db, messageBudgets);
  const knownBrowser = knownBrowserReader(db);

  /** Counts one more; or the seconds after which there is room again. */
  async function count(tx: Transaction, key: string, most: number): Promise<number> {
    const { instanceId } = tx.at;
    const row = await rowOf(instanceId, key);
    const isOver =
      row === undefined ||
      row.expiresAt <= tx.now ||
      row.since.getTime() > tx.now.getTime() + skewMs;
    if (!isOver && row.count >= most) {
      return Math.ceil((row.expiresAt.getTime() - tx.now.getTime()) / 1000);
    }
    const seen = row === undefined ? {} : { count: row.count, since: row.since };
    tx.expectRows(messageBudgets, { instanceId, key, ...seen }, row === undefined ? 0 : 1);
    const since = isOver ? tx.now : row.since;
    const expiresAt = new Date(since.getTime() + hourMs);
    const values = { count: isOver ? 1 : row.count + 1, since, expiresAt };
    tx.write(putRow(messageBudgets, { instanceId, key, ...values }));
    return 0;
  }

  return {
    /**
     * Whether a message may go to the address now; it is counted in the unit. Only what people have sent for their own account
     * is counted, or by the pages of the login, where anybody may ask. What administrators send is theirs to answer for.
     *
     * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many came from the source; or, to people who ask over the API, when too
     * many went to the recipient, or were asked for by them. Pages must not tell, since there the asker may be a stranger:
     * they are answered false
     */
    async take(tx: Transaction, userId: string, address: string): Promise<boolean> {
      const { instanceId, editorId, source, isCounted } = tx.at;
      const isPage = editorId === "system:login";
      if (source === undefined || (!isPage && editorId !== userId)) return true;
      if (!isCounted) budgets.spend("messages", source);
      const { recipientMessages, senderMessages } = budgets.ofPeople;
      // An address is not kept in clear, and is one however it is spelled.
      const digest = await secrets.digest(instanceId, `recipient:${caseFold(address)}`);
      // Strangers take up nothing of a browser that the user has logged in by (L8).
      const known = await knownBrowser(tx.at, userId, tx.now);
      const recipient = known === undefined ? `to:${digest}` : `to:${digest}:${known.browserId}`;
      const waits = [
        recipientMessages === 0 ? 0 : await count(tx, recipient, recipientMessages),
        isPage || senderMessages === 0 ? 0 : await count(tx, `by:${editorId}`, senderMessages),
      ];
      const retryAfterSeconds = Math.max(...waits);
      if (retryAfterSeconds === 0) return true;
      if (isPage) return false;
      throw budgetSpent("messages", "codes were sent", retryAfterSeconds);
    },
  };
}
