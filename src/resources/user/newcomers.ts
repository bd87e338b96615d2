import type { UserDeps } from "./ports.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import { registration } from "./code-kinds.ts";
import { createCodes } from "./codes.ts";
import { linkHosts } from "./link-hosts.ts";
import type { Newcomer } from "./notice.ts";

/** Somebody who registers: `id` is whom the code is for, an id that no user has. */
type Registering = Newcomer & { id: string; address: string };

/** Proofs of the addresses of people who have no account yet (J13). */
export type Newcomers = {
  /**
   * Has a code sent to the address, in the place of the one before. Where an account has the address, its owner is told so
   * instead; that is found out when the mail is written, so that neither the answer nor its time depends on it.
   * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many codes were asked for by the source
   */
  ask(at: WriteContext, newcomer: Registering): Promise<void>;
  /**
   * Whether the code proves the address; it counts once.
   * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many wrong ones came from the source
   */
  prove(
    at: WriteContext,
    tried: Pick<Registering, "id" | "address"> & { code: string },
  ): Promise<boolean>;
};

export function createNewcomers(deps: UserDeps): Newcomers {
  const { db, events, secrets, newId, budgets } = deps;
  const codes = createCodes({ db, secrets, newId, budgets, isLinkHost: linkHosts(db) });
  return {
    async ask(at, { id, address, organizationId, language }) {
      const user = { instanceId: at.instanceId, userId: id };
      const delivery = { channel: "email", newcomer: { organizationId, language } } as const;
      await events.transact(at, (tx) =>
        codes.issue(tx, user, registration, { subject: address, delivery }),
      );
    },
    prove: (at, { id, address, code }) =>
      events.transact(at, async (tx) => {
        const user = { instanceId: at.instanceId, userId: id };
        const right = await codes.spend(tx, user, registration, { code, subject: address });
        return right !== undefined;
      }),
  };
}
