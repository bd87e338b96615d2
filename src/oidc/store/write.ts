import { presenceAs } from "../../authz/presence.ts";
import { isServiceEditor } from "../../authz/context.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Presence } from "../../eventstore/presence.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import type { Actor, At, User } from "../core/ports.ts";

/** For what the provider writes: the OIDC session, and the session of the login that it came of. */
export type Lineage = { id?: string | undefined; sessionId?: string; actor?: Actor | undefined };

/** On whose behalf the provider writes: of the user, through a client. */
export const writtenBy = (
  at: At,
  editorId: string,
  clientId: string,
  of: Lineage = {},
): WriteContext => {
  const { instanceId, requestId } = at;
  const presence = presenceIn(at, editorId, of);
  return {
    instanceId,
    editorId,
    service: "oidc",
    clientId,
    requestId,
    ...(presence && { presence }),
  };
};

function presenceIn({ where }: At, editorId: string, of: Lineage): Presence | undefined {
  if (where === undefined) return undefined;
  const isPerson = editorId !== "" && !isServiceEditor(editorId);
  return presenceAs(where, {
    personId: isPerson ? editorId : undefined,
    sessionId: of.sessionId || undefined,
    familyId: of.id,
    actorIds: actorsOf(of.actor),
  });
}

/** Who acts, the last one first. */
export const actorsOf = (actor: Actor | undefined): string[] =>
  actor === undefined ? [] : [actor.sub, ...actorsOf(actor.act)];

export const ownedBy = ({ organizationId }: Pick<User, "organizationId">): OwnerRef => ({
  type: "org",
  id: organizationId,
});
