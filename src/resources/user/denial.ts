import type { Budgets } from "../../authz/budgets.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { denial } from "./code-kinds.ts";
import { codeInvalid, createCodes } from "./codes.ts";
import { userEvents } from "./events.ts";
import { user } from "./user.ts";

/** Whom a notice went to: to the address of the account, or to the one that was theirs until then. */
export type Told = "owner" | "former";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "newId"> & {
  budgets?: Budgets | undefined;
};

/** Answers to notices: "it was not me" (L5). */
export type Denials = {
  /** The code of the link in one notice: it counts once, for three days. */
  add(
    tx: Transaction,
    of: { instanceId: string; userId: string },
    notice: { id: string; told: Told },
  ): Promise<string>;
  /**
   * Ends all sessions of the user, all that was issued for them, and the trust in all browsers.
   *
   * @returns whom the notice had gone to
   * @throws INVALID_ARGUMENT CODE_INVALID
   */
  follow(at: WriteContext, link: { userId: string; noticeId: string; code: string }): Promise<Told>;
};

export function createDenials(parts: Parts): Denials {
  const { events } = parts;
  const codes = createCodes(parts);
  return {
    async add(tx, of, { id, told }) {
      const asked = { subject: told, delivery: "returned" } as const;
      const code = await codes.issue(tx, of, denial(id), asked);
      if (code === undefined) throw new Error("a code that is returned is known");
      return code;
    },

    async follow(at, { userId, noticeId, code }) {
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
