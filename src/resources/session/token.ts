import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Caller } from "../../authz/context.ts";
import type { TokenVerifier } from "../../authz/ports.ts";
import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import { onlySecretOf, type SecretStore } from "../../eventstore/secret-store.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { activeUserReader } from "../user/index.ts";
import { sessionJudge } from "./policy.ts";
import { authenticationOf } from "./proofs.ts";
import { isLiving, sessionById } from "./queries.ts";

export const sessionTokenKind = "session_token";

type SessionRef = { instanceId: string; sessionId: string };

// A session has one token: a new one takes the place of the one before.
const tokenRef = onlySecretOf("session", sessionTokenKind);

/** A new token of a session, shown once, and the row that recognises it. */
export async function newSessionToken(
  secrets: SecretStore,
  at: SessionRef,
  createdAt: Date,
): Promise<{ token: string; change: RowChange }> {
  const token = randomToken(tokenPrefixes.sessionToken);
  return {
    token,
    change: await secrets.putDigest(tokenRef(at.instanceId, at.sessionId), token, createdAt),
  };
}

/** Everything secret of a session: its token, and its personal key if it has one. */
export const removeSecretsOf = (
  secrets: SecretStore,
  { instanceId, sessionId }: SessionRef,
): RowChange => secrets.removeAllOf({ instanceId, ownerType: "session", ownerId: sessionId });

/** Whether a token is the one of a session, as of now. */
export async function isTokenOf(
  { db, secrets }: { db: Database; secrets: SecretStore },
  { instanceId, sessionId }: SessionRef,
  token: string,
): Promise<boolean> {
  await db.catchUp();
  const found = await secrets.find(instanceId, sessionTokenKind, token);
  return found?.ownerId === sessionId;
}

type Bearing = Pick<Deps, "db" | "organizations" | "memberships" | "now">;

/**
 * As whom a session lets its bearer act: as its user, once something of theirs was checked, for as long as it lasts and they and
 * their organization are active. All of it is read anew after every write that touched it (B7).
 */
export function sessionCaller(
  parts: Bearing,
  tokenKind: string,
): (instanceId: string, sessionId: string) => Awaitable<Caller | undefined> {
  const { db, now } = parts;
  const byId = sessionById(db);
  const activeUser = activeUserReader(parts);
  const judge = sessionJudge(parts);
  return (instanceId, sessionId) =>
    whenKnown(byId(instanceId, sessionId), (session) => {
      if (session === undefined || !isLiving(session, now())) return undefined;
      // To be named is no proof of anything.
      const authentication = session.userId === "" ? undefined : authenticationOf(session);
      if (authentication === undefined) return undefined;
      return whenKnown(activeUser(instanceId, session.userId), (user) => {
        if (user === undefined) return undefined;
        const { id: userId, organizationId } = user;
        return whenKnown(judge(instanceId, session), (unfinished) => ({
          kind: "user" as const,
          userId,
          organizationId,
          tokenKind,
          authentication,
          ...(unfinished && { unfinished }),
        }));
      });
    });
}

/** Recognises session tokens (B5). */
export function sessionTokens(parts: Bearing & { secrets: SecretStore }): TokenVerifier {
  const callerOf = sessionCaller(parts, sessionTokenKind);
  return (token, { instanceId }) => {
    if (!token.startsWith(tokenPrefixes.sessionToken)) return undefined;
    return whenKnown(
      parts.secrets.find(instanceId, sessionTokenKind, token),
      (found) => found && callerOf(instanceId, found.ownerId),
    );
  };
}
