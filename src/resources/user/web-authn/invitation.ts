import type { UserDeps } from "../ports.ts";
import type { Loaded } from "../../../eventstore/eventstore.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { passkeyRegistration } from "../code-kinds.ts";
import type { Codes, Delivery } from "../codes.ts";
import { createCredentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { type User, user } from "../user.ts";

/** What opens the registration of a passkey to whoever has it. */
export type PasskeyInvitation = { userId: string; codeId: string; code: string; expiresAt: Date };

export const invitationLifeMs = passkeyRegistration.lifeMs;

/** Invites a user to make a passkey; the invitation is returned where it is not sent. */
export async function invitePasskey(
  { codes, newId }: { codes: Codes; newId: () => string },
  tx: Transaction,
  loaded: Loaded<User | undefined>,
  { instanceId, delivery }: { instanceId: string; delivery: Delivery },
): Promise<PasskeyInvitation | undefined> {
  const [userId, codeId] = [loaded.id, newId()];
  const code = await codes.issue(tx, { instanceId, userId }, passkeyRegistration, {
    subject: codeId,
    delivery,
  });
  tx.record(user, loaded, [userEvents["human.passwordless.initialization.code.added"]({})]);
  if (code === undefined) return undefined;
  return { userId, codeId, code, expiresAt: new Date(tx.now.getTime() + invitationLifeMs) };
}

/** The same for other slices, which hand the invitation on themselves. */
export function passkeyInviter(deps: UserDeps) {
  const { codes } = createCredentials(deps);
  return async (
    tx: Transaction,
    loaded: Loaded<User | undefined>,
    instanceId: string,
  ): Promise<PasskeyInvitation> => {
    const asked = { instanceId, delivery: "returned" } as const;
    const invitation = await invitePasskey({ codes, newId: deps.newId }, tx, loaded, asked);
    if (invitation === undefined) throw new Error("a code that is returned is there");
    return invitation;
  };
}
