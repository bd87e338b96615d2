import type { Budgets } from "../../authz/budgets.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { denial } from "./code-kinds.ts";
import { codeInvalid, createCodes, returned } from "./codes.ts";
import { userEvents } from "./events.ts";
import { user } from "./user.ts";
import type { UserRef } from "./user-ref.ts";

/** Whom a notice went to: to the address of the account, or to the one that was theirs until then. */
export type Told = "owner" | "former";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "policies" | "newId"> & {
  budgets?: Budgets | undefined;
};

/** Answers to notices: "it was not me" (L5). */
export type Denials = ReturnType<typeof createDenials>;

export function createDenials(parts: Parts) {
  const { events } = parts;
  const codes = createCodes(parts);
  return {
    /** The code of the link in one notice: it counts once, for three days. */
    async add(tx: Transaction, of: UserRef, { id, told }: { id: string; told: Told }) {
      return returned(
        await codes.issue(tx, of, denial(id), { subject: told, delivery: "returned" }),
      );
    },

    /**
     * Ends all sessions of the user, all that was issued for them, and the trust in all browsers.
     *
     * @returns whom the notice had gone to
     * @throws INVALID_ARGUMENT CODE_INVALID
     */
    async follow(
      at: WriteContext,
      { userId, noticeId, code }: { userId: string; noticeId: string; code: string },
    ): Promise<Told> {
      const of = { instanceId: at.instanceId, userId };
      const kind = denial(noticeId);
      const found = await events.transact(at, async (tx) => {
        const loaded = await tx.load(user, userId);
        const subject = (await codes.subjectOf(of, kind)) ?? "";
        const isRight = (await codes.spend(tx, of, kind, { code, subject })) !== undefined;
        if (!isRight || loaded.state === undefined) return undefined;
        tx.record(user, loaded, [userEvents["sessions.ended"]({})]);
        return subject === "former" ? "former" : "owner";
      });
      if (found === undefined) throw codeInvalid("code");
      return found;
    },
  };
}
