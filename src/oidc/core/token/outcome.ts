import { invalidClient } from "../client-auth/index.ts";
import { invalidGrant } from "../errors.ts";
import type { Outcome, TokenFields } from "../issue.ts";

/**
 * What was issued.
 * @throws OAuthError invalid_client when the assertion of the client was used before; invalid_grant when what it was
 * issued for was used by another, or has ended, meanwhile
 */
export function fieldsOf(outcome: Outcome): TokenFields {
  if (outcome.outcome === "issued") return outcome.fields;
  if (outcome.outcome === "ended") throw invalidGrant("the session has ended");
  throw outcome.by === "assertion" ? invalidClient(false) : invalidGrant("it was used before");
}
