import { invalidRequest } from "../../errors.ts";
import type { Actor, At, Client, User } from "../../ports.ts";
import type { TokenParts } from "../grant.ts";

/**
 * Whether somebody may act for another by a client: the instance allows it at all, the organizations of both the other and the client
 * do not forbid it, and the actor holds the permission where the other is.
 * @throws OAuthError invalid_request: unacceptable by policy (RFC 8693 section 2.2.2)
 */
export async function requireMayActFor(
  { settings, users }: Pick<TokenParts, "settings" | "users">,
  at: At,
  { organizationId }: Pick<Client, "organizationId">,
  { actor, subject }: { actor: User; subject: User },
): Promise<void> {
  const may =
    (await settings.isImpersonationOn(at, [subject.organizationId, organizationId])) &&
    (await users.mayActFor(at, actor, subject));
  if (!may) throw invalidRequest("the actor may not act for the subject");
}

/** The chain of those who acted, the last one outside (RFC 8693 section 4.1). */
export function chain(
  issuer: string,
  actor: { user: User; actor: Actor | undefined },
  before: Actor | undefined,
): Actor {
  const behind = append(actor.actor, before);
  return { iss: issuer, sub: actor.user.id, ...(behind === undefined ? {} : { act: behind }) };
}

function append(first: Actor | undefined, last: Actor | undefined): Actor | undefined {
  if (first === undefined) return last;
  const behind = append(first.act, last);
  return { iss: first.iss, sub: first.sub, ...(behind === undefined ? {} : { act: behind }) };
}
