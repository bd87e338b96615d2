import type { OwnerRef } from "../../eventstore/event.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import type { At, User } from "../core/ports.ts";

/** On whose behalf the provider writes: of the user, through a client. */
export const writtenBy = (
  { instanceId, requestId }: At,
  editorId: string,
  clientId: string,
): WriteContext => ({ instanceId, editorId, service: "oidc", clientId, requestId });

export const ownedBy = ({ organizationId }: Pick<User, "organizationId">): OwnerRef => ({
  type: "org",
  id: organizationId,
});
