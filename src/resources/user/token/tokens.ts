import { whenKnown } from "../../../awaitable.ts";
import type { NoteUse, OrganizationReader, TokenVerifier } from "../../../authz/ports.ts";
import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { Database } from "../../../storage/database.ts";
import { activeUserReader } from "../active-user.ts";
import { personalAccessTokenKind } from "./stored.ts";

/**
 * Recognises personal access tokens (B5): until they are removed or expire, and only while the user and their
 * organization are active.
 */
export function personalAccessTokens(parts: {
  db: Database;
  secrets: SecretStore;
  organizations: OrganizationReader;
  now: () => Date;
  noteUse: NoteUse;
}): TokenVerifier {
  const { secrets, now, noteUse } = parts;
  const activeUser = activeUserReader(parts);
  return (token, { instanceId }) =>
    whenKnown(secrets.find(instanceId, personalAccessTokenKind, token), (found) => {
      if (found === undefined) return undefined;
      if (found.expiresAt !== null && found.expiresAt <= now()) return undefined;
      return whenKnown(activeUser(instanceId, found.ownerId), (user) => {
        if (user === undefined) return undefined;
        const { id: userId, organizationId } = user;
        noteUse({ instanceId, ownerId: userId, kind: "pat", id: found.id });
        return { kind: "user", userId, organizationId, tokenKind: personalAccessTokenKind };
      });
    });
}
