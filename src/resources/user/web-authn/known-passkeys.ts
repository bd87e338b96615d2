import type { Deps } from "../../../projection/module.ts";
import { authenticatorReader } from "../authenticator/queries.ts";
import { requirePerson } from "../person.ts";
import { displayNameOf } from "../user-data.ts";
import { user } from "../user.ts";
import { userHandle } from "./web-authn.ts";
import type { UserRef } from "../user-ref.ts";

/** What the browser of a user is told of their passkeys, in the words of WebAuthn Level 3, section 5.1.10. */
export type KnownPasskeys = {
  rpId: string;
  userId: string;
  allAcceptedCredentialIds: readonly string[];
  name: string;
  displayName: string;
};

/**
 * All credentials of a user, and what the user is called now. Those whose registration has not ended are among them, and those of
 * other domains of the instance: what is not listed a browser may take away.
 */
export function knownPasskeys({ db, events }: Pick<Deps, "db" | "events">) {
  const authenticators = authenticatorReader(db);
  return async (of: UserRef, rpId: string): Promise<KnownPasskeys> => {
    const { state } = await events.load(user, of.instanceId, of.userId);
    requirePerson(state);
    const rows = await authenticators.ofKind(of, "web_authn");
    return {
      rpId,
      userId: Buffer.from(userHandle(of)).toString("base64url"),
      allAcceptedCredentialIds: rows.map(({ lookup }) => lookup).filter((id) => id !== ""),
      name: state.username,
      displayName: displayNameOf(state.data) || state.username,
    };
  };
}
