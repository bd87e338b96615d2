import type { UserDeps } from "../ports.ts";
import type { Loaded } from "../../../eventstore/eventstore.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { inUnit, type UserInUnit } from "../change.ts";
import { passkeyRegistration } from "../code-kinds.ts";
import type { Codes, Delivery } from "../codes.ts";
import { createCredentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import type { User } from "../user.ts";

/** What opens the registration of a passkey to whoever has it. */
export type PasskeyInvitation = { userId: string; codeId: string; code: string; expiresAt: Date };

export const invitationLifeMs = passkeyRegistration.lifeMs;

/** Invites a user to make a passkey; the invitation is returned where it is not sent. */
export async function invitePasskey(
  { codes, newId }: { codes: Codes; newId: () => string },
  { tx, ref, record }: UserInUnit,
  delivery: Delivery,
): Promise<PasskeyInvitation | undefined> {
  const codeId = newId();
  const code = await codes.issue(tx, ref, passkeyRegistration, { subject: codeId, delivery });
  record([userEvents["human.passwordless.initialization.code.added"]({})]);
  if (code === undefined) return undefined;
  const expiresAt = new Date(tx.now.getTime() + invitationLifeMs);
  return { userId: ref.userId, codeId, code, expiresAt };
}

/** The same for other slices, which hand the invitation on themselves. */
export function passkeyInviter(deps: UserDeps) {
  const { codes } = createCredentials(deps);
  return async (tx: Transaction, loaded: Loaded<User | undefined>): Promise<PasskeyInvitation> => {
    const invited = inUnit(tx, loaded);
    const invitation = await invitePasskey({ codes, newId: deps.newId }, invited, "returned");
    if (invitation === undefined) throw new Error("a code that is returned is there");
    return invitation;
  };
}
