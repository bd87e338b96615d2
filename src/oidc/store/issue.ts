import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { At, Issue, Ports, Tokens } from "../core/ports.ts";
import { accessToken, oidcSession } from "./events.ts";
import { sessionIdOf, storeIssued } from "./issue-rows.ts";
import { Ended, issueSession } from "./issue-session.ts";
import { AlreadySpent, hasRow, spendIn } from "./spend.ts";
import { idTokens } from "./tables.ts";
import { type Lineage, writtenBy } from "./write.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "policies" | "newId"> & {
  clients: Pick<Ports["clients"], "byId">;
};

/** Stores what is issued, in one unit with what is used up for it. Nothing is read that was not in the way before. */
export function issueIn(parts: Parts): Pick<Tokens, "issue" | "spend"> {
  const { db, events, policies } = parts;
  const stand = issueSession(db, parts.clients, policies.allowsImpersonation);

  return {
    async issue(at, wanted) {
      let isAgain = false;
      try {
        const editor = wanted.impersonation?.actor.sub ?? wanted.user.id;
        const by = writtenBy(at, editor, wanted.clientId, lineageOf(wanted));
        await events.transact(by, async (tx) => {
          if (isAgain && (await hasUsedId(db, tx, at, wanted))) throw new IdTaken();
          const unit = { sessionId: sessionIdOf(wanted), isAgain };
          for (const each of wanted.spend) await spendIn(db, tx, at, each, unit);
          // What stands for itself is checked whenever it is used.
          const { user, clientId, session } = wanted;
          if (session !== undefined) await stand(tx, at, { user, clientId, session }, isAgain);
          await storeIssued(parts, tx, at, wanted);
          isAgain = true;
        });
        return { outcome: "issued" };
      } catch (error) {
        if (error instanceof AlreadySpent) return { outcome: "spent", by: error.by };
        if (error instanceof Ended) return { outcome: "ended" };
        if (error instanceof IdTaken) return { outcome: "taken" };
        throw error;
      }
    },

    async spend(at, assertion) {
      let isAgain = false;
      try {
        await events.transact(writtenBy(at, "", ""), async (tx) => {
          await spendIn(db, tx, at, assertion, { sessionId: "", isAgain });
          isAgain = true;
        });
        return true;
      } catch (error) {
        if (error instanceof AlreadySpent) return false;
        throw error;
      }
    },
  };
}

/** Thrown out of a decision when an id that was drawn before is another's: to decide again with it would be in vain. */
class IdTaken extends Error {}

/** Whether another object has an id that what is issued brings along. */
async function hasUsedId(
  db: Deps["db"],
  tx: Transaction,
  { instanceId }: At,
  { accessToken: access, session, idToken }: Issue,
): Promise<boolean> {
  const ids = access === undefined ? [] : [access.token.id];
  if (session !== undefined && "open" in session) ids.push(session.open.id);
  if ((await tx.usedIds([accessToken.type, oidcSession.type], ids)).size > 0) return true;
  return idToken !== undefined && hasRow(db, idTokens, { instanceId, id: idToken.id });
}

const lineageOf = ({ session }: Issue): Lineage =>
  session === undefined || !("open" in session) ? { ...session } : session.open;
