import type { JsonObject } from "@bufbuild/protobuf";
import type { UserDeps } from "./ports.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import { registration } from "./code-kinds.ts";
import { createCodes } from "./codes.ts";
import type { Newcomer } from "./notice.ts";
import { creationOptions } from "./web-authn/ceremony.ts";
import { createChallenges } from "./web-authn/challenges.ts";
import { userHandle } from "./web-authn/web-authn.ts";

/** Somebody who registers: `id` is whom the code is for, an id that no user has; it may become theirs. */
type Registering = Newcomer & { id: string; address: string };

/** Proofs of the addresses of people who have no account yet (J13). */
export function createNewcomers(deps: UserDeps) {
  const { db, events, newId } = deps;
  const codes = createCodes(deps);
  const challenges = createChallenges(db);
  return {
    /**
     * Has a code sent to the address, in the place of the one before. Where an account has the address, its owner is told so
     * instead; that is found out when the mail is written, so that neither the answer nor its time depends on it.
     * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many codes were asked for by the source
     */
    async ask(
      at: WriteContext,
      { id, address, organizationId, language }: Registering,
    ): Promise<void> {
      const user = { instanceId: at.instanceId, userId: id };
      const delivery = { channel: "email", newcomer: { organizationId, language } } as const;
      await events.transact(at, (tx) =>
        codes.issue(tx, user, registration, { subject: address, delivery }),
      );
    },
    /**
     * Whether the code proves the address; it counts once.
     * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many wrong ones came from the source
     */
    prove: (
      at: WriteContext,
      { id, address, code }: Pick<Registering, "id" | "address"> & { code: string },
    ): Promise<boolean> =>
      events.transact(at, async (tx) => {
        const user = { instanceId: at.instanceId, userId: id };
        const right = await codes.spend(tx, user, registration, { code, subject: address });
        return right !== undefined;
      }),
    /**
     * What a browser is asked for a passkey by, for the account that the newcomer is about to get under their id. Only one that says
     * whose it is and has verified its user counts; it is added in the unit that makes the account (`Scope.newcomer`).
     */
    passkey: (
      at: WriteContext,
      asked: { id: string; domain: string; name: string; displayName: string },
    ): Promise<{ webAuthNId: string; options: JsonObject }> =>
      events.transact(at, async (tx) => {
        const { id: userId, domain, ...called } = asked;
        const of = { instanceId: at.instanceId, userId };
        const webAuthNId = newId();
        const challenge = await challenges.open(tx, of, {
          id: webAuthNId,
          purpose: "registration",
          domain,
          userVerification: "required",
        });
        const wanted = { ...called, userHandle: userHandle(of), exclude: [], isOnlyWay: true };
        const options = await creationOptions({ challenge, domain }, wanted);
        return { webAuthNId, options };
      }),
  };
}
