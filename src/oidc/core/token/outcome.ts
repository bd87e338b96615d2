import { assertionUsed, invalidClient } from "../client-auth/index.ts";
import { invalidGrant } from "../errors.ts";
import type { Outcome, TokenFields } from "../issue.ts";
import type { At, Client, Ports, User } from "../ports.ts";

/**
 * What was issued.
 * @throws OAuthError invalid_client when the assertion of the client was used before; invalid_grant when what it was
 * issued for was used by another, or has ended, meanwhile
 */
export function fieldsOf(outcome: Outcome): TokenFields {
  if (outcome.outcome === "issued") return outcome.fields;
  if (outcome.outcome === "ended") throw invalidGrant("what the tokens were for has ended");
  if (outcome.by === "assertion") throw invalidClient(false, { detail: assertionUsed });
  throw invalidGrant("it was used before");
}

/**
 * The user that tokens are for, while they may use the app.
 * @throws OAuthError invalid_grant
 */
export async function activeUser(
  { users }: Pick<Ports, "users">,
  at: At,
  { projectId }: Pick<Client, "projectId">,
  userId: string,
): Promise<User> {
  const user = await users.byId(at, userId);
  if (user !== undefined && (await users.mayUse(at, user, projectId))) return user;
  const description = "the user is not active, or may not use the app any more";
  const detail =
    user === undefined ? "the user is not active" : "the user may not use the app any more";
  throw invalidGrant(description, detail);
}
