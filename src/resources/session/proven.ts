import type { WriteContext } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { organization } from "../org/index.ts";
import { user } from "../user/index.ts";
import { intentChecked, type SessionEvent, sessionEvents } from "./events.ts";
import { addSession, nameUser, requireSession, session, setLifetime } from "./session.ts";
import { recordVisit } from "./visits.ts";

/**
 * What a user has just proven outside of a session: by a passkey that said who they are, at an identity provider, or by what
 * they registered.
 */
export type Proof =
  | { kind: "totp" }
  | { kind: "email" }
  | { kind: "intent"; idpId: string; isSecondFactor: boolean }
  | { kind: "webauthn"; webAuthNId: string; isUserVerified: boolean };

const eventOf = (proof: Proof): SessionEvent => {
  if (proof.kind === "totp") return sessionEvents["totp.checked"]({});
  if (proof.kind === "email") return sessionEvents["email.checked"]({});
  if (proof.kind === "intent") return intentChecked(proof);
  const { webAuthNId, isUserVerified } = proof;
  return sessionEvents["webauthn.checked"]({ webAuthNId, isUserVerified });
};

/** Opens a session of a user who has authenticated already; its id. Undefined where they are not active by now. */
export function openProvenSession(
  { events, newId }: Pick<Deps, "events" | "newId">,
  at: WriteContext,
  opened: { userId: string; proof: Proof; lifetimeMs: number },
): Promise<string | undefined> {
  const { userId, proof, lifetimeMs } = opened;
  return events.transact(at, async (tx) => {
    const { state } = await tx.load(user, userId);
    if (state?.state !== "active") return undefined;
    const { organizationId } = state;
    if ((await tx.load(organization, organizationId)).state?.state !== "active") return undefined;
    const loaded = tx.begin(session, newId());
    tx.recognise({ personId: userId, sessionId: loaded.id });
    tx.record(session, loaded, addSession(), { type: "instance", id: at.instanceId });
    tx.record(session, loaded, nameUser(loaded.state, { id: userId, organizationId }));
    tx.record(session, loaded, [eventOf(proof), ...setLifetime(tx.now, lifetimeMs)]);
    await recordVisit({ events }, tx, { id: loaded.id, userId });
    return loaded.id;
  });
}

/** Records in a session what its user has just proven. @throws NOT_FOUND SESSION_NOT_FOUND */
export function recordProof(
  { events }: Pick<Deps, "events">,
  at: WriteContext,
  proven: { sessionId: string; proof: Proof },
): Promise<void> {
  return events.transact(at, async (tx) => {
    const loaded = await tx.load(session, proven.sessionId);
    const { user: of } = requireSession(loaded.state);
    // What ends all sessions of a user stands in their stream.
    if (of !== undefined) {
      await tx.load(user, of.id);
      tx.recognise({ personId: of.id, sessionId: proven.sessionId });
    }
    tx.record(session, loaded, [eventOf(proven.proof)]);
  });
}
