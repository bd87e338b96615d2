import type { UserDeps } from "./ports.ts";
import type { WriteContext, Transaction } from "../../eventstore/transaction.ts";
import { endAuthenticators } from "./authenticator/removal.ts";
import { inUnit } from "./change.ts";
import { recoveryLink } from "./code-kinds.ts";
import { codeInvalid, createCodes, returned } from "./codes.ts";
import { createCredentials } from "./credentials.ts";
import { userEvents } from "./events.ts";
import { settingOf, within } from "./password/set.ts";
import { requirePerson } from "./person.ts";
import { unlockUser, user, userInactive } from "./user.ts";
import type { UserRef } from "./user-ref.ts";

const subject = "recovery";

/**
 * Makes the code of a link back into an account (J21), in the place of the one before. It counts once.
 *
 * @throws NOT_FOUND USER_NOT_FOUND, FAILED_PRECONDITION USER_IS_MACHINE, USER_INACTIVE
 */
export async function addRecoveryLink(
  parts: Pick<UserDeps, "db" | "secrets" | "policies" | "newId">,
  tx: Transaction,
  at: UserRef,
): Promise<{ code: string; expiresAt: Date }> {
  const loaded = await tx.load(user, at.userId);
  requirePerson(loaded.state);
  if (loaded.state.state === "inactive") {
    throw userInactive("the user is deactivated, and cannot log in");
  }
  const asked = { subject, delivery: "returned" } as const;
  const code = returned(await createCodes(parts).issue(tx, at, recoveryLink, asked));
  tx.record(user, loaded, [userEvents["recovery.link.added"]({})]);
  return { code, expiresAt: new Date(tx.now.getTime() + recoveryLink.lifeMs) };
}

export function recoveryLinks(deps: UserDeps) {
  const credentials = createCredentials(deps);
  const { codes, challenges } = credentials;
  const { events } = deps;
  return {
    /**
     * Follows a link: its user gets a new password, is unlocked, and every other way into the account ends, with all
     * sessions and codes: whoever comes by such a link has lost what there was, or somebody else has it (J20,
     * first proof).
     *
     * @throws INVALID_ARGUMENT CODE_INVALID, PASSWORD_POLICY
     */
    async follow(
      at: WriteContext,
      { userId, code, password }: { userId: string; code: string; password: string },
    ): Promise<void> {
      const { instanceId } = at;
      const of = { instanceId, userId };
      const type = { case: "password", value: password } as const;
      const wanted = { type, changeRequired: false };
      const setting = settingOf(credentials, instanceId, wanted, within("new_password"));
      const isProven = await events.transact(at, async (tx) => {
        const loaded = await tx.load(user, userId);
        const { state } = loaded;
        if (state === undefined || state.state === "inactive") return false;
        if (!(await codes.spend(tx, of, recoveryLink, { code, subject }))) return false;
        // Only who has the code is told of the policy. What is refused here writes nothing, and the code still counts.
        await setting.check(state);
        const one = inUnit(tx, loaded);
        one.record([userEvents["recovery.link.used"]({})]);
        if (state.state === "locked") one.record(unlockUser(state));
        // The password is replaced: what is kept of it is written anew.
        const ending = state.authenticators.filter(({ kind }) => kind !== "password");
        endAuthenticators(credentials, one, ending);
        await setting.set(one);
        one.record([userEvents["sessions.ended"]({})]);
        tx.write(codes.removeAll(of), challenges.removeAll(of));
        return true;
      });
      if (!isProven) throw codeInvalid("code");
    },
  };
}
